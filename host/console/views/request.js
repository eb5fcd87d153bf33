// A request: where it stands and why, its life as a timeline, what it wrote and asked.

import { ofQuestion, ofRequest } from "../lib/actions.js";
import { h } from "../lib/dom.js";
import { touches } from "../lib/live.js";
import * as load from "../lib/load.js";
import { same, short } from "../lib/reference.js";
import { to } from "../lib/route.js";
import { cut, line, pretty, unpacked } from "../lib/text.js";
import { timeline } from "../lib/timeline.js";
import { actionBar, chip, empty, facts, link, pageHead, section, value, when } from "../parts/bits.js";
import { explained } from "../parts/explained.js";
import { shown } from "../parts/shown.js";
import { chart, moments } from "../parts/timeline.js";

export function requestView(ctx, { name }) {
  const part = shown(ctx, {
    load: (signal) => load.request(ctx.door, name, signal),
    draw: (data) => draw(data, ctx),
    about: (change, data) => !data || about(change, data),
    label: "Loading the request",
  });
  // What runs grows on its own.
  const timer = setInterval(() => part.data && !part.data.progress.endedAt && part.redraw(), 2000);
  ctx.own(() => clearInterval(timer));
  return h("div", { class: "page" }, part.place);
}

function about(change, { row, session, questions, items }) {
  const objects = [
    row.reference,
    row.thread,
    session,
    ...questions.map((it) => it.reference),
    ...items.map((it) => it.reference),
  ];
  return touches(change, { objects: objects.filter(Boolean) });
}

function draw(data, ctx) {
  const { row, admission, progress, session, turn, explained: why } = data;
  const open = data.questions.filter((it) => it.status === "open");
  const actions = [
    ...open.slice(0, 1).flatMap((it) => ofQuestion(it).slice(0, 1)),
    ...ofRequest(
      {
        reference: short(row.reference),
        progress,
        thread: short(row.thread),
        root: data.root && short(data.root),
        contexts: data.contexts,
      },
      ctx.door.operator,
    ),
  ];
  ctx.actions(actions);
  const life = timeline({ ...data, now: Date.now() });
  return [
    pageHead(
      {
        kind: "Request",
        title: line(admission.text, 120) || "no text",
        reference: row.reference,
        actions,
        chips: [
          chip(progress.status),
          progress.cancelRequested && !progress.endedAt ? chip("cancelled", "cancel asked") : null,
          progress.retryCount ? chip("draft", `taken over ${progress.retryCount}×`) : null,
        ],
        sub: [why.headline],
      },
      ctx,
    ),
    h(
      "div",
      { class: "columns wide-left", "data-key": "columns" },
      h(
        "div",
        {},
        section("Timeline", { key: "timeline" }, chart(life, ctx), moments(life, { session })),
        open.length || data.questions.length
          ? section(
              "Questions",
              { count: data.questions.length },
              h(
                "ul",
                { class: "cards" },
                data.questions.map((it) => question(it, ctx)),
              ),
            )
          : null,
        section(
          "Said and written",
          { count: data.items.length },
          data.items.length
            ? h("ol", { class: "items" }, data.items.map(item))
            : empty("Nothing was written."),
        ),
      ),
      h(
        "aside",
        {},
        explained(why, ctx),
        section(
          "Facts",
          {},
          facts(
            [
              ["Agent", link(row.agent, row.agentName)],
              ["Thread", link(row.thread, data.title || undefined)],
              ["Directory", link(data.directory)],
              session ? ["Session", link(session)] : null,
              turn ? ["Turn", h("span", { class: "id" }, turn)] : null,
              ["From", `${admission.sourceKind} ${admission.sourceLabel}`],
              ["Admitted", when(admission.createdAt)],
              progress.startedAt ? ["Claimed", when(progress.startedAt)] : null,
              progress.endedAt ? ["Ended", when(progress.endedAt)] : null,
              progress.attempt ? ["Attempt", h("span", { class: "id" }, progress.attempt)] : null,
              ["Generation", h("span", { class: "num" }, progress.generation)],
              progress.reason ? ["Reason", progress.reason] : null,
              data.retryOf ? ["Retry of", link(data.retryOf)] : null,
              data.related && !same(data.related, data.retryOf) ? ["Related", link(data.related)] : null,
              data.root ? ["Root", link(data.root)] : null,
              data.correction ? ["Corrected by", link(data.correction)] : null,
              admission.causalDepth ? ["Depth", h("span", { class: "num" }, admission.causalDepth)] : null,
            ].filter(Boolean),
          ),
        ),
        progress.result || progress.rawOutput || progress.usage
          ? section(
              "Result",
              {},
              facts(
                [
                  progress.result ? ["Result", value(progress.result)] : null,
                  progress.rawOutput ? ["Output", value(progress.rawOutput)] : null,
                  progress.usage ? ["Usage", value(progress.usage)] : null,
                ].filter(Boolean),
              ),
            )
          : null,
        section(
          "More",
          {},
          h(
            "details",
            { "data-key": "text" },
            h("summary", {}, "The whole text"),
            h("pre", {}, cut(admission.text, 20_000)),
          ),
          admission.data
            ? h(
                "details",
                { "data-key": "data" },
                h("summary", {}, "Its data"),
                h("pre", {}, cut(pretty(admission.data), 20_000)),
              )
            : null,
          h(
            "details",
            { "data-key": "configuration" },
            h("summary", {}, "What it is run with"),
            h("pre", {}, cut(pretty(admission.configuration), 20_000)),
          ),
          h(
            "p",
            { class: "sub" },
            h("a", { href: to("history", "", { touching: short(row.reference) }) }, "Its history"),
            " · ",
            h("a", { href: to("object", short(row.reference)) }, "As an object"),
          ),
        ),
      ),
    ),
  ];
}

function question(it, ctx) {
  const options = unpacked(it.data.options || "[]");
  return h(
    "li",
    { class: "card", "data-key": it.reference },
    h(
      "div",
      { class: "card-main" },
      h(
        "p",
        { class: "card-title" },
        chip(it.status),
        " ",
        link(it.reference, line(it.title, 200) || it.key),
      ),
      it.data.answer === null ? null : h("p", {}, "Answer: ", value(it.data.answer)),
      it.status === "open" && Array.isArray(options) && options.length
        ? h("p", { class: "sub" }, "One of: ", options.join(", "))
        : null,
      h(
        "p",
        { class: "sub" },
        "asked ",
        when(it.createdAt),
        it.settled
          ? [" · settled ", when(it.settled)]
          : it.status === "open"
            ? [" · ends ", when(it.expiresAt)]
            : null,
      ),
    ),
    h(
      "div",
      { class: "actions" },
      actionBar(
        ofQuestion(it).map((action) => ({ ...action, key: undefined })),
        ctx,
      ),
    ),
  );
}

function item({ reference, data }) {
  return h(
    "li",
    { class: "item", "data-key": reference },
    h(
      "p",
      { class: "item-head" },
      h("span", { class: "kind" }, data.kind),
      chip(data.phase),
      link(reference, data.key),
      when(data.updatedAt),
    ),
    data.text ? h("p", { class: "item-text" }, cut(data.text, 2000)) : null,
    data.activity
      ? h(
          "details",
          { "data-key": "activity" },
          h("summary", {}, "Activity"),
          h("pre", {}, cut(pretty(data.activity), 8000)),
        )
      : null,
  );
}
