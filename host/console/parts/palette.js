// Search: pages, things by their names, anything by its id.

import { fill, h } from "../lib/dom.js";
import { byId, candidates } from "../lib/find.js";
import { ofObject } from "../lib/route.js";
import { kindWord } from "./bits.js";
import { GO } from "./keys.js";

const PLACES = Object.entries(GO).map(([key, [page, name]]) => ({
  label: name,
  note: `g ${key}`,
  href: `#/${page}`,
}));

/** Opens the search. `names` loads what is known by name. */
export function palette({ door, names }) {
  if (document.querySelector("dialog.palette")) return;
  let known = [];
  let found = [];
  let at = 0;
  let looking = null;
  const over = new AbortController();

  const box = h("input", {
    type: "text",
    class: "palette-box",
    placeholder: "Search, or paste an id",
    "aria-label": "Search, or paste an id",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => search(),
    onkeydown: (event) => keys(event),
  });
  const list = h("ul", { id: "palette-list", role: "listbox", "aria-label": "Found" });
  const note = h("p", { class: "hint", role: "status" });
  const dialog = h("dialog", { class: "dialog palette", "aria-label": "Search" }, box, list, note);

  const draw = () => {
    at = Math.max(0, Math.min(at, found.length - 1));
    fill(
      list,
      found.map((it, index) =>
        h(
          "li",
          {
            id: `found-${index}`,
            role: "option",
            "aria-selected": String(index === at),
            onclick: () => choose(it),
          },
          h("span", {}, it.label),
          h("span", { class: "sub" }, it.note),
        ),
      ),
    );
    box.setAttribute("aria-activedescendant", found.length ? `found-${at}` : "");
    list.children[at]?.scrollIntoView({ block: "nearest" });
    fill(note, found.length ? "" : looking ? "Looking …" : "Nothing is called so.");
  };

  async function search() {
    found = candidates(box.value, { known, places: PLACES });
    at = 0;
    const id = box.value.trim();
    looking = byId(id, door, over.signal);
    const mine = looking;
    draw();
    const reference = await mine;
    if (mine !== looking) return;
    looking = null;
    if (reference)
      found = [{ label: id.toUpperCase(), note: kindWord(reference), href: ofObject(reference) }, ...found];
    draw();
  }

  const keys = (event) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move) {
      event.preventDefault();
      at += move;
      draw();
    } else if (event.key === "Enter" && found[at]) {
      event.preventDefault();
      choose(found[at]);
    }
  };

  const choose = (it) => {
    dialog.close();
    location.hash = it.href;
  };

  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => (over.abort(), dialog.remove()));
  document.body.append(dialog);
  dialog.showModal();
  search();
  names(over.signal).then(
    (it) => ((known = it), search()),
    () => {},
  );
}
