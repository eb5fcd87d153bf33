// Icons: strokes on a grid of 16, in the colour of the text beside them.

import { h } from "../lib/dom.js";

const STROKES = {
  overview: "M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5H9z",
  requests: "M2.5 4h11M2.5 8h11M2.5 12h7",
  sessions: "M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z",
  threads: "M4 3v10M4 5.5h6a2 2 0 0 1 2 2V9M12 11.5a1.2 1.2 0 1 0 0-2.4 1.2 1.2 0 0 0 0 2.4z",
  agents: "M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c.5-2.5 2.5-3.8 5-3.8s4.5 1.3 5 3.8",
  directories: "M2.5 4.5v8h11v-6.5h-5.5l-1.5-1.5z",
  history: "M8 4.5V8l2.5 1.5M8 13.5a5.5 5.5 0 1 0-5.2-3.7M2.5 13.2V9.7H6",
  shell: "M3 4.5 6.5 8 3 11.5M8.5 12H13",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5 14 14",
  copy: "M5.5 5.5V3h7.5v7.5h-2.5M3 5.5h7.5V13H3z",
  sun: "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  auto: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 2.5v11M8 5h4.5M8 8h5.5M8 11h4.5",
  close: "M4 4l8 8M12 4l-8 8",
  help: "M6 6a2 2 0 1 1 2.8 1.8c-.6.3-.8.7-.8 1.4M8 11.5v.2M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  out: "M6.5 3H3v10h3.5M10.5 5 13.5 8l-3 3M13 8H6",
  chevron: "M6 4l4 4-4 4",
  down: "M8 3v10M4 9l4 4 4-4",
};

/** An icon, for the eye alone. */
export function icon(name) {
  return h(
    "svg",
    { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    h("path", { d: STROKES[name] }),
  );
}
