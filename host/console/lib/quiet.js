// What engines do all the time to say that they live: true, kept, and of no interest to most.

const QUIET = new Set(["registry_lease", "session_take", "session_wake", "session_progress"]);

/** Whether an entry of the history is no more than a sign of life. */
export function isQuiet(entry) {
  return QUIET.has(entry.operation);
}

/**
 * The newest `most` entries that say something, the newest first. `page(before, limit)` reads
 * entries, the newest last; `known` are those that were found before.
 */
export async function latest(page, known, most) {
  const top = known[0]?.commit ?? 0;
  const found = [];
  let before = null;
  for (const limit of [40, 200, 200, 200]) {
    const entries = (await page(before, limit)).reverse();
    const fresh = entries.filter((it) => it.commit > top);
    found.push(...fresh.filter((it) => !isQuiet(it)));
    if (fresh.length < limit || found.length >= most) break;
    before = entries.at(-1).commit;
  }
  return [...found, ...known].slice(0, most);
}
