// Values as the shell's language writes them, so that no text from the store is ever read as a part
// of a command.

/** Writes a string: as JSON does, on one line. */
export function string(text) {
  return JSON.stringify(String(text));
}

/** A value that is written as it is: a reference, or `$now`. */
export class Raw {
  constructor(text) {
    this.text = text;
  }
}

/** Writes a JSON value; a `Raw` anywhere in it is written as it is. */
export function value(it) {
  if (it instanceof Raw) return it.text;
  if (Array.isArray(it)) return `[${it.map(value).join(", ")}]`;
  if (it && typeof it === "object") {
    const fields = Object.entries(it).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `${bare(name)}: ${value(field)}`).join(", ")}}`;
  }
  return typeof it === "string" ? string(it) : JSON.stringify(it ?? null);
}

function bare(name) {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : string(name);
}

/** The time of the host, when the command runs. */
export const NOW = new Raw("$now");

/** Writes a call of a member. */
export function call(reference, member, input) {
  const given = input === undefined ? "" : ` ${value(input)}`;
  return `call ${reference}.${member}${given}`;
}

/** Writes the options of a command; those that are empty are left out. */
export function options(given) {
  return Object.entries(given)
    .filter(([, it]) => it !== undefined && it !== null && it !== "")
    .map(([name, it]) => ` ${name} ${it instanceof Raw || typeof it === "number" ? value(it) : string(it)}`)
    .join("");
}
