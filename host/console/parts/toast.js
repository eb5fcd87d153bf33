// Short notes at the edge of the page, which are read out, too.

import { h } from "../lib/dom.js";

const STAYS = 6000;

/** Makes the place of the notes, and what says one. */
export function toasts() {
  const place = h("div", { class: "toasts", role: "status", "aria-live": "polite" });
  const say = (text, tone = "plain") => {
    const note = h("p", { class: `toast tone-${tone}` }, text);
    place.append(note);
    setTimeout(() => note.remove(), STAYS);
    while (place.children.length > 3) place.firstChild.remove();
  };
  return { place, say };
}
