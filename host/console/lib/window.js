// Which rows of a long list are drawn: those that are seen, and some around them.

const AROUND = 8;

/** The rows from `first` to before `last` for a list that is scrolled. */
export function shown({ scroll, height, row, count }) {
  const first = Math.max(0, Math.floor(scroll / row) - AROUND);
  const last = Math.min(count, Math.ceil((scroll + height) / row) + AROUND);
  return { first: Math.min(first, last), last };
}

/** Where to scroll so that a row is seen whole, from where it is scrolled now. */
export function reveal({ index, scroll, height, row }) {
  const top = index * row;
  if (top < scroll) return top;
  if (top + row > scroll + height) return top + row - height;
  return scroll;
}

/** Where a key leads in a list: the index, or `null` if it leads nowhere. */
export function step(key, { index, count, page }) {
  const to = {
    ArrowDown: index + 1,
    j: index + 1,
    ArrowUp: index - 1,
    k: index - 1,
    PageDown: index + page,
    PageUp: index - page,
    Home: 0,
    End: count - 1,
  }[key];
  return to === undefined || count === 0 ? null : Math.max(0, Math.min(count - 1, to));
}

/**
 * Puts what a fresh look at the newest rows showed before the rows that are known. `joined` says
 * whether the two meet; if not, there are more between them.
 */
export function merge(known, fresh, key) {
  const at = new Set(known.map(key));
  const added = [];
  for (const row of fresh) {
    if (at.has(key(row))) return { rows: [...added, ...known], added: added.length, joined: true };
    added.push(row);
  }
  return { rows: [...added, ...known], added: added.length, joined: known.length === 0 };
}
