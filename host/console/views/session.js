// A session: its tree of messages with its branches, what it waits for, and its log as it is written.

import { ofClientCall, ofSession } from "../lib/actions.js";
import { fill, h } from "../lib/dom.js";
import { touches } from "../lib/live.js";
import * as load from "../lib/load.js";
import { same, short } from "../lib/reference.js";
import { sessionStatus, waitsFor } from "../lib/session.js";
import { to } from "../lib/route.js";
import { brief, counted } from "../lib/text.js";
import { actionBar, chip, dot, empty, facts, link, pageHead, section, value, when } from "../parts/bits.js";
import { explained } from "../parts/explained.js";
import { shown } from "../parts/shown.js";
import { events } from "../parts/stream.js";
import { messageTree } from "../parts/tree.js";

export function sessionView(ctx, { name }) {
  const tree = messageTree();
  const log = h("div", {});
  const part = shown(ctx, {
    load: (signal) => load.session(ctx.door, name, signal),
    draw: (data) => draw(data, ctx, tree, log),
    about: (change, data) =>
      !data ||
      touches(change, { objects: [data.request].filter(Boolean) }) ||
      [change.receiver, ...change.objects].some((it) => same(it, name)),
    label: "Loading the session",
  });
  fill(log, events(ctx, { stream: `${short(name)}.events`, height: "24rem" }).place);
  return h("div", { class: "page" }, part.place);
}

function draw(data, ctx, tree, log) {
  const { binding, live, view } = data;
  const reference = short(data.reference);
  const status = sessionStatus({ ...data.data, live });
  const shape = { reference, data: data.data, live, request: data.request };
  const actions = ofSession(shape);
  ctx.actions(actions);
  const waits = waitsFor({ live, data: data.data, view });
  tree.set(view.message_tree.nodes, view.message_tree.head_id ?? null);
  return [
    pageHead(
      {
        kind: "Session",
        title: binding.sessionId,
        reference,
        actions,
        chips: [chip(status)],
        sub: `with ${binding.agentId}, for ${binding.ownerId}`,
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
          "Messages",
          { count: counted(view.message_tree.nodes.length, "message") },
          view.message_tree.nodes.length ? tree.place : empty("Nothing was said yet."),
        ),
        section(
          "Log",
          {
            count: counted(data.events, "event"),
            actions: h("a", { href: to("stream", `${reference}.events`) }, "On its own"),
          },
          log,
        ),
      ),
      h(
        "aside",
        {},
        section(
          "What it waits for",
          { key: "waits" },
          waits.length
            ? h(
                "ul",
                { class: "waits" },
                waits.map((it) =>
                  h(
                    "li",
                    { "data-key": `${it.kind}-${it.id}` },
                    dot(it.tone),
                    h(
                      "div",
                      {},
                      h("p", {}, it.text),
                      it.until ? h("p", { class: "sub" }, "until ", when(it.until)) : null,
                      it.handler === "client" && it.status === "pending"
                        ? [
                            it.call?.arguments
                              ? h("p", { class: "sub mono" }, brief(it.call.arguments, 200))
                              : null,
                            h(
                              "div",
                              { class: "actions" },
                              actionBar(ofClientCall(shape, { ...it.call, id: it.id }), ctx),
                            ),
                          ]
                        : null,
                    ),
                  ),
                ),
              )
            : empty(
                data.data.cancelled
                  ? "It is cancelled, for good."
                  : "For nothing: the next message begins a turn.",
              ),
        ),
        explained(data.explained, ctx),
        section(
          "Facts",
          {},
          facts(
            [
              ["Agent", link(data.agent, binding.agentId)],
              ["Thread", link(data.thread, data.title || undefined)],
              ["Owner", binding.ownerId],
              ["Tenant", binding.tenant],
              data.request ? ["Request", link(data.request)] : null,
              data.data.turn ? ["Turn", h("span", { class: "id" }, data.data.turn.id)] : null,
              ["Turns", h("a", { href: to("thread", short(data.thread)) }, "of its thread")],
              data.parent ? ["Parent", link(data.parent)] : null,
              data.children.length
                ? [
                    "Sub-agents",
                    h(
                      "span",
                      { class: "links" },
                      data.children.map((it) => link(it)),
                    ),
                  ]
                : null,
              data.waiting.length
                ? [
                    "Waiting",
                    h(
                      "span",
                      { class: "links" },
                      data.waiting.map((it) => link(it)),
                    ),
                  ]
                : null,
              [
                "Driven by",
                data.data.claim.engine
                  ? `${data.data.claim.engine}, generation ${data.data.claim.generation}`
                  : "nobody",
              ],
              ["Made", when(binding.createdAt)],
              Number(view.usage.cost) ? ["Cost", h("span", { class: "num" }, `$${view.usage.cost}`)] : null,
              [
                "Usage",
                Object.keys(view.usage.usage ?? {}).length
                  ? h(
                      "span",
                      { class: "num" },
                      Object.entries(view.usage.usage)
                        .map(([key, it]) => `${it} ${key.replaceAll("_", " ")}`)
                        .join(", "),
                    )
                  : h("span", { class: "none" }, "none"),
              ],
              binding.metadata && binding.metadata !== "{}" && binding.metadata !== "null"
                ? ["Metadata", value(binding.metadata)]
                : null,
            ].filter(Boolean),
          ),
        ),
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
        ),
      ),
    ),
  ];
}
