// References to objects: `atom:org.quixos.agent:request/01ARZ3NDEKTSV4RRFFQ69G5FAV`.

const REFERENCE = /^(?:atom:[A-Za-z0-9_.:-]+|[a-z][a-z-]*)\/[0-9A-HJKMNP-TV-Z]{26}$/;
const WITHIN = /atom:[A-Za-z0-9_.:-]+\/[0-9A-HJKMNP-TV-Z]{26}/g;
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Says whether a value is a reference and nothing else. */
export function isReference(value) {
  return typeof value === "string" && REFERENCE.test(value);
}

/** Says whether a text is an id without its type. */
export function isId(text) {
  return ULID.test(text);
}

/** The last word of the atom's id: `request`. */
export function kindOf(reference) {
  return reference.slice(0, reference.lastIndexOf("/")).split(/[:.]/).pop();
}

/** The id of the object. */
export function idOf(reference) {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** How a reference is typed: `request/01ARZ…`. */
export function short(reference) {
  return `${kindOf(reference)}/${idOf(reference)}`;
}

/** How a reference is shown where space is short: the last letters tell objects apart. */
export function brief(reference) {
  return `${kindOf(reference)} ${idOf(reference).slice(-6)}`;
}

/** Says whether two texts name the same object, whether in full or in short. */
export function same(one, other) {
  return Boolean(one && other) && short(one) === short(other);
}

/** When the object was made, as its id says: milliseconds since 1970. */
export function madeAt(reference) {
  return [...idOf(reference).slice(0, 10).toUpperCase()].reduce(
    (sum, it) => sum * 32 + ALPHABET.indexOf(it),
    0,
  );
}

/** Splits a text at the references in it: `[{text}, {reference}, …]`. */
export function split(text) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(WITHIN)) {
    if (match.index > from) parts.push({ text: text.slice(from, match.index) });
    parts.push({ reference: match[0] });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return parts;
}
