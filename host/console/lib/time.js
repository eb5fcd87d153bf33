// Instants and spans, for people. What is `now` comes in.

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
];

/** What is further off than this is as good as never. */
const FOREVER = 100 * 365 * 86_400_000;

/** Milliseconds of an RFC 3339 text, or `null` if it is none. */
export function instant(text) {
  const at = typeof text === "string" ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : at;
}

/** A span of milliseconds in few letters: `1h 4m`, `3.2s`, `80ms`. */
export function span(milliseconds) {
  const length = Math.max(0, milliseconds);
  if (length < 1000) return `${Math.round(length)}ms`;
  if (length < 9_950) return `${(length / 1000).toFixed(1)}s`;
  const at = UNITS.findIndex(([, size]) => length >= size);
  const [unit, size] = UNITS[at];
  const rest = UNITS[at + 1];
  const whole = Math.floor(length / size);
  const left = rest ? Math.floor((length - whole * size) / rest[1]) : 0;
  return left > 0 && whole < 10 ? `${whole}${unit} ${left}${rest[0]}` : `${whole}${unit}`;
}

/** How long ago, or how soon: `4m ago`, `in 20s`, `now`. */
export function ago(text, now) {
  const at = instant(text);
  if (at === null) return text ?? "";
  const far = now - at;
  if (Math.abs(far) < 1500) return "now";
  if (-far > FOREVER) return "never";
  const [unit, size] = UNITS.find(([, it]) => Math.abs(far) >= it) ?? UNITS[3];
  const count = Math.floor(Math.abs(far) / size);
  return far > 0 ? `${count}${unit} ago` : `in ${count}${unit}`;
}

/** A clock time where the day is today, else the day too; in the reader's zone. */
export function clock(text, now) {
  const at = instant(text);
  if (at === null) return text ?? "";
  const date = new Date(at);
  const two = (it) => String(it).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return date.toDateString() === new Date(now).toDateString() ? time : `${day} ${time}`;
}
