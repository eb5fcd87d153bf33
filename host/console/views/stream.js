// A stream on its own page.

import { h } from "../lib/dom.js";
import { events } from "../parts/stream.js";

export function streamView(ctx, { name, query }) {
  ctx.title(`Stream ${name}`);
  const part = events(ctx, { stream: name, from: query.at ?? null });
  ctx.list = part.list;
  const [object] = name.split(/\.(?=[A-Za-z]+$)/);
  return h(
    "div",
    { class: "page list-page" },
    h(
      "header",
      { class: "list-head" },
      h("h1", { tabindex: "-1" }, "Stream"),
      h(
        "p",
        { class: "sub id" },
        h("a", { href: `#/${object.split("/")[0] === "session" ? "session" : "object"}/${object}` }, name),
      ),
    ),
    part.place,
  );
}
