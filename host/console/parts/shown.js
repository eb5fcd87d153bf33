// What is loaded and then kept up to date: it says when it loads, when it failed, and when what it
// shows is old.

import { fill, h } from "../lib/dom.js";
import { isOver } from "../lib/door.js";
import { button } from "./bits.js";

/** A change is looked at after this, so that many at once are looked at once. */
const SETTLE = 120;
/** Between two looks at the least, where nobody says. */
const REST = 400;
/** Loading shows only where it takes longer than this. */
const GRACE = 180;

/**
 * Makes a place that shows what `load` answers, as `draw` draws it, and looks again when `about`
 * says that a change is about it, but not before it `rest`ed.
 */
export function shown(ctx, { load, draw, about = () => false, label, rest = REST }) {
  const place = h("div", { class: "shown", "aria-busy": "true" });
  let data = null;
  let failure = null;
  let timer = null;
  let running = false;
  let again = false;
  let looked = 0;

  const redraw = () => {
    if (ctx.signal.aborted) return;
    place.setAttribute("aria-busy", String(running && data === null));
    const notice = failure ? problem(failure, refresh, data !== null) : null;
    if (data === null) return fill(place, notice ?? loading(label));
    fill(place, notice, draw(data));
  };

  async function refresh() {
    clearTimeout(timer);
    timer = null;
    if (running) {
      again = true;
      return;
    }
    running = true;
    const slow = setTimeout(() => data === null && redraw(), GRACE);
    try {
      data = await load(ctx.signal, data);
      failure = null;
    } catch (error) {
      if (ctx.signal.aborted || isOver(error)) return;
      failure = error;
    } finally {
      clearTimeout(slow);
      running = false;
      looked = Date.now();
    }
    redraw();
    if (again || failure?.passing) soon(failure ? 3000 : rest);
    again = false;
  }

  const soon = (wait) => {
    timer ??= setTimeout(refresh, Math.max(wait, looked + rest - Date.now()));
  };

  ctx.own(
    ctx.live.watch((change) => {
      if (change === null || about(change, data)) running ? (again = true) : soon(SETTLE);
    }),
  );
  ctx.own(() => clearTimeout(timer));
  refresh();
  return {
    place,
    refresh,
    redraw,
    get data() {
      return data;
    },
  };
}

/** What stands where something is being loaded. */
export function loading(label = "Loading") {
  return h(
    "div",
    { class: "loading", role: "status" },
    h("span", { class: "visually-hidden" }, `${label} …`),
    [88, 64, 76].map((width) =>
      h("span", { class: "bone", style: { width: `${width}%` }, "aria-hidden": "true" }),
    ),
  );
}

/** What stands where something failed; `old` if what was there before is still shown. */
export function problem(error, retry, old = false) {
  const text = error.passing ? "The host is not reached; it is tried again." : error.message;
  return h(
    "div",
    { class: "problem", role: "alert", "data-key": "problem" },
    h(
      "p",
      {},
      h("strong", {}, old ? "This is not up to date. " : ""),
      text,
      error.code && !error.passing ? h("code", {}, error.code) : null,
    ),
    error.help ? h("p", { class: "hint" }, error.help) : null,
    button("Try again", retry),
  );
}
