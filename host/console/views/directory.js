// A directory: whether its host is there, what is open, and its agents.

import { h } from "../lib/dom.js";
import * as load from "../lib/load.js";
import { idOf, short } from "../lib/reference.js";
import { ofObject } from "../lib/route.js";
import { line } from "../lib/text.js";
import { chip, empty, facts, link, pageHead, section, value } from "../parts/bits.js";
import { explained } from "../parts/explained.js";
import { SHOWN, more, newestFirst, objectPage, requestRows } from "../parts/page.js";

export const directoryView = objectPage(
  async (door, at, signal) => {
    const [it, why, agents, pending] = await door.run(
      [
        `get {reference: ${at}, data: ${at}.data, agent: ${at}.defaultAgent, thread: ${at}.initialThread}`,
        `explain ${at}`,
        `get ${at}.agents`,
        `get ${at}.pending`,
      ].join("\n"),
      { signal },
    );
    const open = newestFirst(pending);
    return {
      it,
      why,
      total: open.length,
      agents: await load.rows(door, load.list(agents).slice(0, 200), signal),
      requests: await load.rows(door, open.slice(0, SHOWN), signal),
      about: open.slice(0, SHOWN),
    };
  },
  ({ it, why, agents, requests, total }, ctx) => {
    const reference = short(it.reference);
    ctx.actions([]);
    return [
      pageHead(
        {
          kind: "Directory",
          title: `Directory ${idOf(it.reference).slice(-6)}`,
          reference,
          chips: [chip(it.data.availability)],
          sub: why.headline,
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
            "Open requests",
            { count: total },
            requests.length ? requestRows(requests) : empty("Nothing is pending."),
          ),
          section(
            "Agents",
            { count: agents.length },
            agents.length
              ? h(
                  "ul",
                  { class: "rows" },
                  agents.map((row) =>
                    h(
                      "li",
                      { "data-key": row.reference },
                      h(
                        "a",
                        { class: "row", href: ofObject(row.reference) },
                        chip(row.enabled ? "enabled" : "disabled"),
                        h("span", { class: "row-main" }, row.name || "no name"),
                        h("span", { class: "sub" }, line(row.description, 80)),
                      ),
                    ),
                  ),
                )
              : empty("There are no agents."),
          ),
        ),
        h(
          "aside",
          {},
          section(
            "Facts",
            {},
            facts([
              ["Pending", h("span", { class: "num" }, it.data.pending)],
              ["Not interactive", h("span", { class: "num" }, it.data.ordinaryPending)],
              ["Ends to tell", h("span", { class: "num" }, it.data.notificationPending)],
              ["Profiles", value(it.data.profiles)],
              ["Default agent", link(it.agent)],
              ["Initial thread", link(it.thread)],
              ["Sequence", h("span", { class: "num" }, it.data.sequence)],
            ]),
          ),
          explained(why, ctx, "Admission"),
          more(reference),
        ),
      ),
    ];
  },
  "Loading the directory",
);
