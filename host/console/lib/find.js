// Where a text that was searched for leads.

import { idOf, isId, isReference, kindOf, short } from "./reference.js";
import { ofObject, to } from "./route.js";

/** Kinds that an id without its type may be of, the likely ones first. */
const KINDS = [
  "request",
  "session",
  "thread",
  "agent",
  "question",
  "item",
  "directory",
  "message",
  "call",
  "decision",
];

/**
 * Puts together what a text may mean: `[{label, note, href}]`. `known` are objects by name:
 * `{reference, name}`; `places` are pages of the console.
 */
export function candidates(text, { known = [], places = [] }) {
  const given = text.trim();
  const low = given.toLowerCase();
  const found = [];
  if (isReference(given))
    found.push({ label: short(given), note: "open this object", href: ofObject(given) });
  const fits = (it) => it.toLowerCase().includes(low);
  for (const it of places) if (!low || fits(it.label)) found.push(it);
  for (const it of known) {
    if (low && (fits(it.name) || idOf(it.reference).toLowerCase().endsWith(low))) {
      found.push({
        label: it.name || short(it.reference),
        note: kindOf(it.reference),
        href: ofObject(it.reference),
      });
    }
  }
  const commit = /^#?(\d{1,16})$/.exec(given);
  if (commit)
    found.push({
      label: `Commit ${commit[1]}`,
      note: "in the history",
      href: to("history", "", { before: String(Number(commit[1]) + 1) }),
    });
  return found.slice(0, 40);
}

/** Finds the object that an id without its type is of, if there is one. */
export async function byId(id, door, signal) {
  if (!isId(id)) return null;
  const looks = KINDS.map(async (kind) => {
    const reference = `${kind}/${id.toUpperCase()}`;
    return (await door.ask(`get ${reference}`, { signal })) ?? reference;
  });
  return Promise.any(looks).catch(() => null);
}
