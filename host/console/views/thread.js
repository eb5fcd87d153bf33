// A thread: whether it takes work, its requests, and what was said in it.

import { ofThread } from "../lib/actions.js";
import { h } from "../lib/dom.js";
import * as load from "../lib/load.js";
import { kindOf, short } from "../lib/reference.js";
import { cut } from "../lib/text.js";
import { chip, empty, facts, link, pageHead, section, value, when } from "../parts/bits.js";
import { explained } from "../parts/explained.js";
import { SHOWN, more, newestFirst, objectPage, requestRows } from "../parts/page.js";

export const threadView = objectPage(
  async (door, at, signal) => {
    const [it, why, requests, items, holders] = await door.run(
      [
        `get {reference: ${at}, data: ${at}.data, agent: ${at}.agent, agentName: ${at}.agent.data.name, directory: ${at}.directory, active: ${at}.active, contexts: ${at}.contexts}`,
        `explain ${at}`,
        `get ${at}.requests`,
        `get ${at}.items`,
        `show ${at}`,
      ].join("\n"),
      { signal },
    );
    const [all, written] = [newestFirst(requests), newestFirst(items)];
    return {
      it,
      why,
      total: all.length,
      items: (await load.rows(door, written.slice(0, SHOWN), signal)).reverse(),
      written: written.length,
      requests: await load.rows(door, all.slice(0, SHOWN), signal),
      session: holders.holders.targets.find((one) => kindOf(one.object) === "session")?.object ?? null,
      about: all.slice(0, SHOWN),
    };
  },
  ({ it, why, requests, total, items, written, session }, ctx) => {
    const reference = short(it.reference);
    const actions = ofThread({ reference, data: it.data }, ctx.door.operator);
    ctx.actions(actions);
    return [
      pageHead(
        {
          kind: `Thread, ${it.data.kind}`,
          title: it.data.title || "No title",
          reference,
          actions,
          chips: [chip(it.data.archived ? "archived" : it.active ? "running" : "idle")],
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
            "Requests",
            { count: total },
            requests.length ? requestRows(requests) : empty("Nothing was asked in it."),
            total > SHOWN ? h("p", { class: "sub" }, `the newest ${SHOWN}`) : null,
          ),
          section(
            "Said and written",
            { count: written },
            items.length
              ? h(
                  "ol",
                  { class: "items" },
                  items.map(({ reference: item, data }) =>
                    h(
                      "li",
                      { class: "item", "data-key": item },
                      h(
                        "p",
                        { class: "item-head" },
                        h("span", { class: "kind" }, data.kind),
                        chip(data.phase),
                        link(item, data.key),
                        when(data.updatedAt),
                      ),
                      data.text ? h("p", { class: "item-text" }, cut(data.text, 2000)) : null,
                    ),
                  ),
                )
              : empty("Nothing was written."),
            written > SHOWN ? h("p", { class: "sub" }, `the newest ${SHOWN}`) : null,
          ),
        ),
        h(
          "aside",
          {},
          section(
            "Facts",
            {},
            facts(
              [
                ["Agent", link(it.agent, it.agentName)],
                ["Directory", link(it.directory)],
                session ? ["Session", link(session)] : null,
                it.active ? ["Active", link(it.active)] : null,
                ["Pending", h("span", { class: "num" }, it.data.pending)],
                ["Moved", when(it.data.updatedAt)],
                load.list(it.contexts).length ? ["About", value(load.list(it.contexts))] : null,
              ].filter(Boolean),
            ),
          ),
          explained(why, ctx, "Admission"),
          more(reference),
        ),
      ),
    ];
  },
  "Loading the thread",
);
