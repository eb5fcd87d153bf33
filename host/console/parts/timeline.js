// A timeline: bars along time for what took time, and below them what happened, one by one.

import { h } from "../lib/dom.js";
import { to } from "../lib/route.js";
import { short } from "../lib/reference.js";
import { span } from "../lib/time.js";
import { ticks } from "../lib/timeline.js";
import { at, dot, empty, link } from "./bits.js";

/** Bars narrower than this, in percent, cannot be seen. */
const NARROW = 0.6;

/** Draws the lanes. */
export function chart({ start, end, lanes }) {
  if (lanes.length === 0) return empty("Nothing has begun yet.");
  const length = Math.max(1, end - start);
  const percent = (it) => (100 * (it - start)) / length;
  const marks = ticks(length).map(({ at, label }) =>
    h("span", { class: "tick", style: { left: `${(100 * at) / length}%` } }, label),
  );
  return h(
    "div",
    { class: "chart", role: "group", "aria-label": `What took time, ${span(length)} in all` },
    h("div", { class: "axis", "aria-hidden": "true" }, h("span", {}), h("div", { class: "ticks" }, marks)),
    h(
      "ul",
      { class: "lanes" },
      lanes.map((lane) =>
        h(
          "li",
          { class: "lane", "data-key": lane.key },
          h("span", { class: "lane-label", title: lane.label }, lane.label),
          h(
            "div",
            { class: "bars" },
            lane.bars.map((bar) => {
              const width = Math.max(NARROW, percent(bar.to) - percent(bar.from));
              const took = `${span(bar.to - bar.from)}${bar.open ? " so far" : ""}`;
              return h(
                "span",
                {
                  class: `bar tone-${bar.tone}${bar.open ? " open" : ""}`,
                  style: { left: `${Math.min(100 - NARROW, percent(bar.from))}%`, width: `${width}%` },
                  title: `${bar.label}: ${took}, from ${span(bar.from - start)} on`,
                  role: "img",
                  "aria-label": `${bar.label}: ${took}`,
                },
                width > 9 ? h("span", { class: "bar-label" }, bar.label) : null,
              );
            }),
          ),
          h(
            "span",
            { class: "lane-time num" },
            span(lane.bars.reduce((sum, it) => sum + (it.to - it.from), 0)),
          ),
        ),
      ),
    ),
  );
}

/** Says what happened, in order. */
export function moments({ start, moments: list }, { session } = {}) {
  if (list.length === 0) return empty("Nothing has happened yet.");
  return h(
    "ol",
    { class: "moments" },
    list.map((it, index) =>
      h(
        "li",
        { class: `moment tone-${it.tone}`, "data-key": `${it.at}-${it.title}-${index}` },
        h(
          "span",
          { class: "moment-at num", title: new Date(it.at).toISOString() },
          it.at === start ? at(new Date(it.at).toISOString()) : `+${span(it.at - start)}`,
        ),
        dot(it.tone),
        h(
          "span",
          { class: "moment-text" },
          h("strong", {}, it.title),
          it.detail ? [" ", h("span", { class: "moment-detail" }, it.detail)] : null,
        ),
        h(
          "span",
          { class: "moment-where sub" },
          it.who ? h("span", {}, it.who) : null,
          it.reference ? link(it.reference) : null,
          it.commit
            ? h("a", { href: to("history", "", { before: it.commit + 1 }) }, `commit ${it.commit}`)
            : null,
          it.offset !== undefined && session
            ? h(
                "a",
                { href: to("stream", `${short(session)}.events`, { at: it.offset }) },
                `event ${it.offset}`,
              )
            : null,
        ),
      ),
    ),
  );
}
