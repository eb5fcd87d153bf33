// The small parts that every view is made of.

import { h } from "../lib/dom.js";
import { brief, isReference, kindOf, short, split } from "../lib/reference.js";
import { ofObject } from "../lib/route.js";
import { pretty } from "../lib/text.js";
import { ago, clock } from "../lib/time.js";
import { icon } from "./icons.js";

/** Statuses by how they are to be seen; each has a shape of its own, too, for who sees no colours. */
const TONES = {
  running: "run",
  pending: "run",
  started: "run",
  live: "run",
  waiting: "wait",
  open: "wait",
  interrupted: "wait",
  retry_scheduled: "wait",
  degraded: "wait",
  reconnecting: "wait",
  queued: "queue",
  idle: "queue",
  draft: "queue",
  streaming: "run",
  completed: "ok",
  answered: "ok",
  done: "ok",
  online: "ok",
  enabled: "ok",
  final: "ok",
  failed: "bad",
  offline: "bad",
  errored: "bad",
  cancelled: "mute",
  archived: "mute",
  disabled: "mute",
  voided: "mute",
  expired: "mute",
  dropped: "mute",
};

/** A status: a mark and its word. */
export function chip(status, word = status) {
  return h(
    "span",
    { class: `chip tone-${TONES[status] ?? "queue"}` },
    h("i", { "aria-hidden": "true" }),
    String(word).replaceAll("_", " "),
  );
}

/** A mark in the colour of a tone. */
export function dot(tone) {
  return h("i", { class: `dot tone-${tone}`, "aria-hidden": "true" });
}

/** A link to an object, by its name if it has one. */
export function link(reference, name, props = {}) {
  if (!reference) return h("span", { class: "none" }, "none");
  return h(
    "a",
    { href: ofObject(reference), title: short(reference), ...props },
    name ?? h("span", { class: "id" }, brief(reference)),
  );
}

/** A text in which references are links. */
export function linked(text) {
  return split(String(text)).map((part) => (part.reference ? link(part.reference) : part.text));
}

/** A time as how long ago it is, which goes on by itself. */
export function when(text, now = Date.now()) {
  if (!text) return h("span", { class: "none" }, "–");
  return h("time", { datetime: text, title: `${clock(text, 0)} (${text})`, "data-ago": "" }, ago(text, now));
}

/** A time of day. */
export function at(text, now = Date.now()) {
  return h("time", { datetime: text, title: text }, clock(text, now));
}

/** Lets the times on the page go on. */
export function tick(now = Date.now()) {
  for (const it of document.querySelectorAll("time[data-ago]")) {
    const text = ago(it.dateTime, now);
    if (it.textContent !== text) it.textContent = text;
  }
}

/** Names and what they are. */
export function facts(rows) {
  const shown = rows.filter(([, value]) => value !== undefined && value !== null && value !== false);
  return h(
    "dl",
    { class: "facts" },
    shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

/** A part of a page under a heading. */
export function section(title, props, ...children) {
  const { count, actions = [], key = title, ...rest } = props ?? {};
  const id = `part-${key.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
  const head = h(
    "div",
    { class: "section-head" },
    h(
      "h2",
      { id },
      title,
      count === undefined || count === null ? null : h("span", { class: "count" }, count),
    ),
    actions,
  );
  return h("section", { "aria-labelledby": id, "data-key": id, ...rest }, head, children);
}

/** What stands where there is nothing. */
export function empty(text, more) {
  return h("p", { class: "empty" }, text, more ? [" ", more] : null);
}

/** A value of any kind: a reference as a link, a record as its fields, the rest as text. */
export function value(it) {
  if (it === null || it === undefined) return h("span", { class: "none" }, "none");
  if (isReference(it)) return link(it);
  if (typeof it === "boolean") return h("span", { class: "word" }, it ? "yes" : "no");
  if (typeof it === "number") return h("span", { class: "num" }, it.toLocaleString("en"));
  if (typeof it === "string") {
    if (it === "") return h("span", { class: "none" }, "empty");
    const open = pretty(it);
    return open.includes("\n") ? h("pre", {}, linked(open)) : h("span", { class: "text" }, linked(open));
  }
  if (Array.isArray(it) && it.length === 0) return h("span", { class: "none" }, "none");
  if (Array.isArray(it) && it.every((one) => isReference(one)))
    return h(
      "span",
      { class: "links" },
      it.map((one) => link(one)),
    );
  return h("pre", {}, linked(pretty(it)));
}

/** A button. */
export function button(label, onclick, { key, kind = "", ...props } = {}) {
  return h(
    "button",
    { type: "button", class: `button ${kind}`, onclick, ...props },
    label,
    key ? h("kbd", { "aria-hidden": "true" }, key) : null,
  );
}

/** A button that copies a text. */
export function copy(text, ctx) {
  const done = () =>
    navigator.clipboard?.writeText(text).then(
      () => ctx.say("Copied"),
      () => ctx.say("The browser does not let one copy here"),
    );
  return h(
    "button",
    { type: "button", class: "button icon-only", title: "Copy", "aria-label": `Copy ${text}`, onclick: done },
    icon("copy"),
  );
}

/** Buttons for what can be done; each begins the action. */
export function actionBar(actions, ctx) {
  return actions.map((action) =>
    button(action.label, () => ctx.act(action), {
      key: action.key,
      kind: action.danger ? "danger" : action.primary ? "primary" : "",
      title: action.title,
      "data-action": action.key ?? false,
    }),
  );
}

/** The head of an object's page. */
export function pageHead({ kind, title, chips = [], reference, actions = [], sub }, ctx) {
  ctx.title(title);
  return h(
    "header",
    { class: "page-head" },
    h(
      "div",
      { class: "page-title" },
      h(
        "p",
        { class: "kind" },
        kind,
        reference ? [h("span", { class: "id" }, short(reference)), copy(reference, ctx)] : null,
      ),
      h("h1", { tabindex: "-1" }, title),
      h("div", { class: "chips" }, chips, sub ? h("span", { class: "sub" }, sub) : null),
    ),
    h("div", { class: "actions" }, actionBar(actions, ctx)),
  );
}

/** The word for a reference's kind, for headings. */
export function kindWord(reference) {
  const word = kindOf(reference).replaceAll("-", " ");
  return word.charAt(0).toUpperCase() + word.slice(1);
}
