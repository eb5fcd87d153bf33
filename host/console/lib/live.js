// What is committed while one looks: a feed that comes back by itself where it was cut off.
//
// Nothing is lost: who comes back goes on behind the last commit that was seen. Where that cannot
// be, as the store is another one, everybody looks again at everything.

/** Milliseconds between attempts, the n-th of them; the last stays. */
const WAITS = [250, 500, 1000, 2000, 4000, 8000];

export class Live {
  #door;
  #wait;
  #watchers = new Set();
  #stop = new AbortController();
  #last = null;

  /** `state` is told of `live`, `reconnecting` and `refused`. `wait` comes in, for tests. */
  constructor({ door, state = () => {}, wait = sleep }) {
    this.#door = door;
    this.state = state;
    this.#wait = wait;
  }

  /** Tells `told` of each change `{at, actor, operation, receiver, objects}`, or `null`: look at all again. */
  watch(told) {
    this.#watchers.add(told);
    return () => this.#watchers.delete(told);
  }

  stop() {
    this.#stop.abort();
  }

  /** Follows until it is stopped, or the token is not good. */
  async run() {
    const { signal } = this.#stop;
    let failed = 0;
    while (!signal.aborted) {
      try {
        const resumed = this.#last !== null;
        for await (const event of this.#door.changes(this.#last, signal)) {
          if (event.opened) {
            this.state("live");
            // What is shown was asked for before anything was heard.
            if (!resumed) this.#tell(null);
            failed = 0;
            continue;
          }
          this.#last = event.id || this.#last;
          this.#tell(event.change);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error.status === 401) return this.state("refused");
        if (error.status >= 400 && error.status < 500 && this.#last !== null) {
          this.#last = null;
          this.#tell(null);
        }
      }
      if (signal.aborted) return;
      this.state("reconnecting");
      await this.#wait(WAITS[Math.min(failed, WAITS.length - 1)], signal);
      failed += 1;
    }
  }

  #tell(change) {
    for (const told of this.#watchers) told(change);
  }
}

function sleep(milliseconds, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });
}

/** Says whether a change is about one of these objects, or about an object of one of these kinds. */
export function touches(change, { objects = [], kinds = [] }) {
  if (change === null) return true;
  const all = [change.receiver, ...change.objects];
  return (
    all.some((it) => objects.includes(it)) ||
    all.some((it) => kinds.some((kind) => it.startsWith(`${kind}/`)))
  );
}
