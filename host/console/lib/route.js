// Where in the console one is: `#/request/request/01ARZ…?tab=log`, to be kept, sent, and gone back to.

import { isReference, kindOf, short } from "./reference.js";

/** Kinds of objects that have a page of their own; all others have the page of an object. */
const PAGES = new Set(["request", "thread", "agent", "directory", "session", "question", "item"]);

/** Reads the fragment of a URL: `{page, name, query}`. */
export function parse(fragment) {
  const text = fragment.replace(/^#\/?/, "");
  const [path, search = ""] = splitOnce(text, "?");
  const [page, name = ""] = splitOnce(path, "/");
  return {
    page: decode(page) || "overview",
    name: decode(name),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** Writes a fragment. */
export function to(page, name = "", query = {}) {
  const search = new URLSearchParams(
    Object.entries(query).filter(([, it]) => it !== "" && it !== null && it !== undefined),
  );
  const path = name
    ? `#/${encodeURIComponent(page)}/${encodeURIComponent(name).replaceAll("%2F", "/").replaceAll("%3A", ":")}`
    : `#/${encodeURIComponent(page)}`;
  return search.size ? `${path}?${search}` : path;
}

/** The page of an object. */
export function ofObject(reference) {
  const kind = kindOf(reference);
  return PAGES.has(kind) ? to(kind, short(reference)) : to("object", short(reference));
}

/**
 * Takes what a link hands over once, `#token=…&operator=…`, and is to vanish from the URL;
 * `null` if the fragment is a place.
 */
export function credentials(fragment) {
  if (!fragment.startsWith("#") || fragment.startsWith("#/")) return null;
  const given = new URLSearchParams(fragment.slice(1));
  const token = given.get("token");
  return token ? { token, operator: given.get("operator") ?? "" } : null;
}

/** What a search for a text leads to at once, if to anything: a reference that was typed. */
export function typed(text) {
  const given = text.trim();
  return isReference(given) ? ofObject(given) : null;
}

function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
