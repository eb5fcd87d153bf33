// What the pages of threads, agents, directories and questions have in common.

import { h } from "../lib/dom.js";
import { touches } from "../lib/live.js";
import * as load from "../lib/load.js";
import { idOf, same, short } from "../lib/reference.js";
import { ofObject, to } from "../lib/route.js";
import { line } from "../lib/text.js";
import { chip, section, when } from "./bits.js";
import { shown } from "./shown.js";

/** Rows of a part that are shown; the rest is in the list. */
export const SHOWN = 40;

/** Makes the view of an object: `look` loads what `draw` shows; `about` of it says what it hangs on. */
export const objectPage =
  (look, draw, label) =>
  (ctx, { name }) => {
    const part = shown(ctx, {
      load: (signal) => look(ctx.door, short(name), signal),
      draw: (data) => draw(data, ctx),
      label,
      about: (change, data) =>
        !data ||
        touches(change, { objects: data.about }) ||
        [change.receiver, ...change.objects].some((it) => same(it, name)),
    });
    return h("div", { class: "page" }, part.place);
  };

/** Requests as rows. */
export const requestRows = (requests) =>
  h(
    "ul",
    { class: "rows" },
    requests.map((it) =>
      h(
        "li",
        { "data-key": it.reference },
        h(
          "a",
          { class: "row", href: ofObject(it.reference) },
          chip(it.status),
          h("span", { class: "row-main" }, line(it.text) || "no text"),
          h("span", { class: "sub id" }, idOf(it.reference).slice(-6)),
          when(it.createdAt),
        ),
      ),
    ),
  );

/** The targets of an edge, the newest first. */
export const newestFirst = (edge) => load.list(edge).sort((one, other) => (idOf(one) < idOf(other) ? 1 : -1));

/** Where else to look at an object. */
export const more = (reference) =>
  section(
    "More",
    {},
    h(
      "p",
      { class: "sub" },
      h("a", { href: to("history", "", { touching: reference }) }, "Its history"),
      " · ",
      h("a", { href: to("object", reference) }, "As an object"),
    ),
  );
