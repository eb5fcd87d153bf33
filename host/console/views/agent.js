// An agent: whether it takes work, its threads, its instructions and settings.

import { ofAgent } from "../lib/actions.js";
import { h } from "../lib/dom.js";
import * as load from "../lib/load.js";
import { short } from "../lib/reference.js";
import { ofObject, to } from "../lib/route.js";
import { line, pretty } from "../lib/text.js";
import { chip, empty, facts, link, pageHead, section, when } from "../parts/bits.js";
import { explained } from "../parts/explained.js";
import { SHOWN, more, newestFirst, objectPage } from "../parts/page.js";

export const agentView = objectPage(
  async (door, at, signal) => {
    const [it, why, threads] = await door.run(
      [
        `get {reference: ${at}, data: ${at}.data, instructions: ${at}.instructions, directory: ${at}.directory, completions: ${at}.completions}`,
        `explain ${at}`,
        `get ${at}.threads`,
      ].join("\n"),
      { signal },
    );
    const all = newestFirst(threads);
    return {
      it,
      why,
      total: all.length,
      threads: await load.rows(door, all.slice(0, SHOWN), signal),
      about: all.slice(0, SHOWN),
    };
  },
  ({ it, why, threads, total }, ctx) => {
    const reference = short(it.reference);
    const actions = ofAgent({ reference, data: it.data });
    ctx.actions(actions);
    return [
      pageHead(
        {
          kind: "Agent",
          title: it.data.name || "No name",
          reference,
          actions,
          chips: [chip(it.data.enabled ? "enabled" : "disabled")],
          sub: it.data.description || why.headline,
        },
        ctx,
      ),
      h(
        "div",
        { class: "columns wide-left", "data-key": "columns" },
        h(
          "div",
          {},
          section(
            "Threads",
            { count: total },
            threads.length
              ? h(
                  "ul",
                  { class: "rows" },
                  threads.map((row) =>
                    h(
                      "li",
                      { "data-key": row.reference },
                      h(
                        "a",
                        { class: "row", href: ofObject(row.reference) },
                        chip(row.archived ? "archived" : row.active ? "running" : "idle"),
                        h("span", { class: "row-main" }, line(row.title) || "no title"),
                        h("span", { class: "sub" }, row.kind),
                        when(row.updatedAt),
                      ),
                    ),
                  ),
                )
              : empty("It has no threads."),
            total > SHOWN
              ? h(
                  "p",
                  { class: "sub" },
                  `the newest ${SHOWN}; `,
                  h("a", { href: to("threads") }, "all threads"),
                )
              : null,
          ),
          section("Instructions", {}, it.instructions ? h("pre", {}, it.instructions) : empty("None.")),
          section("Settings", {}, h("pre", {}, pretty(it.data.settings))),
        ),
        h(
          "aside",
          {},
          section(
            "Facts",
            {},
            facts([
              ["Directory", link(it.directory)],
              [
                "Completions",
                h("a", { href: to("stream", `${short(it.completions)}.events`) }, "the stream"),
              ],
            ]),
          ),
          explained(why, ctx, "Admission"),
          more(reference),
        ),
      ),
    ];
  },
  "Loading the agent",
);
