// Light, dark, or as the system has it.

import { fill, h } from "../lib/dom.js";
import { icon } from "./icons.js";

const KEPT = "quixos.theme";
const ALL = ["auto", "light", "dark"];
const ICONS = { auto: "auto", light: "sun", dark: "moon" };

function chosen() {
  const kept = localStorage.getItem(KEPT);
  return ALL.includes(kept) ? kept : "auto";
}

/** Sets what was chosen before. */
export function begin() {
  document.documentElement.dataset.theme = chosen();
}

/** Goes on to the next of them. */
export function next() {
  const theme = ALL[(ALL.indexOf(chosen()) + 1) % ALL.length];
  localStorage.setItem(KEPT, theme);
  document.documentElement.dataset.theme = theme;
  for (const it of document.querySelectorAll(".theme")) label(it);
}

/** A button for it. */
export function toggle() {
  const it = h("button", { type: "button", class: "button quiet icon-only theme", onclick: next });
  label(it);
  return it;
}

function label(it) {
  const text = { auto: "Colours as the system has them", light: "Light colours", dark: "Dark colours" }[
    chosen()
  ];
  it.title = `${text} (Shift T)`;
  it.setAttribute("aria-label", text);
  fill(it, icon(ICONS[chosen()]));
}
