// The keyboard: what each key does, and the page that says so.

import { h } from "../lib/dom.js";
import { button } from "./bits.js";

/** Where the second key after `g` leads. */
export const GO = {
  o: ["overview", "Overview"],
  r: ["requests", "Requests"],
  s: ["sessions", "Sessions"],
  t: ["threads", "Threads"],
  a: ["agents", "Agents"],
  d: ["directories", "Directories"],
  h: ["history", "History"],
  c: ["shell", "Command line"],
};

/** How long after `g` the second key counts. */
const PAUSE = 1200;

/** Listens to the keys. `does` are what they lead to: `go`, `jump`, `shell`, `help`, `theme`, `action`, `back`. */
export function listen(does) {
  let chord = 0;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    const { key } = event;
    if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "k") {
      event.preventDefault();
      return does.jump();
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
    if (typing) return;
    if (chord && Date.now() - chord < PAUSE) {
      chord = 0;
      if (GO[key]) {
        event.preventDefault();
        does.go(GO[key][0]);
      }
      return;
    }
    const run = {
      g: () => (chord = Date.now()),
      "/": does.jump,
      ":": does.shell,
      "`": does.shell,
      "?": does.help,
      T: does.theme,
      j: does.down,
      k: does.up,
      ArrowDown: event.target === document.body ? does.down : null,
      u: does.back,
    }[key];
    if (run) {
      if (run() !== false) event.preventDefault();
    } else if (/^[a-z]$/.test(key) && does.action(key)) {
      event.preventDefault();
    }
  });
}

const PAGES = [
  [
    "Everywhere",
    [
      [["/"], "Search, or jump to an id"],
      [["Ctrl", "K"], "The same"],
      [[":"], "Open the command line"],
      [["?"], "This page"],
      [["u"], "Back"],
      [["Shift", "T"], "Light, dark, or as the system"],
      [["Esc"], "Close what is open"],
    ],
  ],
  ["Go to", Object.entries(GO).map(([key, [, name]]) => [["g", key], name])],
  [
    "In a list",
    [
      [["j"], "Next row; into the list"],
      [["k"], "Row before"],
      [["↓", "↑"], "The same"],
      [["PgDn", "PgUp"], "A page"],
      [["Home", "End"], "First and last row that is loaded"],
      [["Enter"], "Open the row"],
    ],
  ],
  [
    "On a page",
    [
      [["a"], "Answer a question"],
      [["c"], "Cancel"],
      [["r"], "Retry"],
      [["e"], "Rename"],
      [["x"], "Archive, disable; and back"],
      [["m"], "Send a message"],
      [["p"], "Pause a session"],
    ],
  ],
  [
    "In a tree",
    [
      [["↓", "↑"], "Next message, message before"],
      [["→", "←"], "Unfold a branch, fold it"],
      [["Enter"], "Show all of a message"],
    ],
  ],
  [
    "In the command line",
    [
      [["Enter"], "Run"],
      [["Shift", "Enter"], "New line"],
      [["↑", "↓"], "What was typed before"],
      [["Tab"], "Complete"],
      [["Esc"], "Close"],
    ],
  ],
];

/** Shows what the keys do. */
export function help() {
  const dialog = h(
    "dialog",
    { class: "dialog wide", "aria-labelledby": "help-title" },
    h(
      "header",
      {},
      h("h2", { id: "help-title" }, "Keys"),
      button("Close", () => dialog.close()),
    ),
    h(
      "div",
      { class: "keys" },
      PAGES.map(([title, rows]) =>
        h(
          "section",
          {},
          h("h3", {}, title),
          h(
            "dl",
            {},
            rows.map(([keys, text]) =>
              h(
                "div",
                {},
                h(
                  "dt",
                  {},
                  keys.map((it) => h("kbd", {}, it)),
                ),
                h("dd", {}, text),
              ),
            ),
          ),
        ),
      ),
    ),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
