// Why something is as it is, and what would change that: the answer of `explain`.

import { h } from "../lib/dom.js";
import { instant } from "../lib/time.js";
import { button, linked, section, when } from "./bits.js";

const TIME = /\d{4}-\d\d-\d\dT[0-9:.]+Z(?: \([^)]*\))?/g;

/** Shows an explanation under a title; its commands can be taken to the command line. */
export function explained(it, ctx, title = "Why") {
  const points = (title, list, props) =>
    list.length === 0
      ? null
      : h(
          "div",
          { class: "points", ...props },
          h("h3", {}, title),
          h(
            "ul",
            {},
            list.map((point) =>
              h(
                "li",
                {},
                h("p", {}, timed(point.text)),
                point.command
                  ? h(
                      "p",
                      { class: "point-command" },
                      h("code", {}, shortened(point.command)),
                      button("Use", () => ctx.command(point.command), {
                        kind: "small",
                        title: "Take it to the command line",
                      }),
                    )
                  : null,
              ),
            ),
          ),
        );
  return section(
    title,
    { key: "why" },
    h("p", { class: "headline" }, it.headline),
    points("What holds it up", it.reasons),
    points("What would release it", it.releases),
    it.refusals.length || it.notes.length
      ? h(
          "details",
          { "data-key": "refusals" },
          h("summary", {}, "What is refused meanwhile"),
          points("Refused", it.refusals),
          points("What does not hold it up", it.notes),
        )
      : null,
  );
}

/** A text with its times as times, and its references as links. */
export function timed(text) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(TIME)) {
    parts.push(linked(text.slice(from, match.index)));
    const at = match[0].split(" ")[0];
    parts.push(instant(at) === null ? match[0] : when(at));
    from = match.index + match[0].length;
  }
  return [...parts, linked(text.slice(from))];
}

/** A command with its references in few letters, to be read; the whole one is what is used. */
function shortened(command) {
  return command.replace(
    /atom:[A-Za-z0-9_.:-]*?([a-z-]+)\/[0-9A-HJKMNP-TV-Z]{20}([0-9A-HJKMNP-TV-Z]{6})/g,
    "$1/…$2",
  );
}
