// Texts and values in few letters.

/** A text on one line, cut at `most` letters. */
export function line(text, most = 200) {
  const flat = String(text ?? "")
    .replace(/\s+/g, " ")
    .trim();
  return cut(flat, most);
}

/** A text cut at `most` letters, which says so. */
export function cut(text, most) {
  const letters = text.length > most ? [...text.slice(0, most * 2 + 2)] : null;
  return letters && letters.length > most ? `${letters.slice(0, most).join("")}…` : text;
}

/** A value on one line: a string as it is, the rest as JSON. */
export function brief(value, most = 160) {
  if (value === null || value === undefined) return "none";
  return line(typeof value === "string" ? value : JSON.stringify(value), most) || "“”";
}

/** Reads JSON that is kept as text; what is none stays text. */
export function unpacked(text) {
  if (typeof text !== "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A value on several lines, with JSON in strings opened up where a string is nothing but that. */
export function pretty(value) {
  const open = (it) => {
    if (typeof it === "string" && /^\s*[[{]/.test(it)) return unpacked(it);
    return it;
  };
  return typeof value === "string" && open(value) === value
    ? value
    : JSON.stringify(open(value), (_, it) => open(it), 2);
}

/** A number of things: `1 request`, `2 requests`. */
export function counted(count, word, more = false) {
  return `${count.toLocaleString("en")}${more ? "+" : ""} ${word}${count === 1 && !more ? "" : "s"}`;
}

/** What a message says: its text, whatever blocks it is of. */
export function said(message) {
  const content = message?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((it) => (typeof it === "string" ? it : (it.text ?? `[${it.type ?? "block"}]`)))
    .join("\n");
}
