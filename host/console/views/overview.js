// What an operator sees first: who waits for somebody, what runs, and what was done last.

import { h } from "../lib/dom.js";
import { touches } from "../lib/live.js";
import * as load from "../lib/load.js";
import { ofQuestion } from "../lib/actions.js";
import { short } from "../lib/reference.js";
import { latest } from "../lib/quiet.js";
import { ofObject, to } from "../lib/route.js";
import { counted, line, unpacked } from "../lib/text.js";
import { actionBar, chip, empty, link, section, when } from "../parts/bits.js";
import { shown } from "../parts/shown.js";

/** Open requests that are shown, and that are looked up to be counted. */
const SHOWN = 12;
const COUNTED = 500;
/** Between two looks at everything, in milliseconds. */
const REST = 1500;

export function overviewView(ctx) {
  ctx.title("Overview");
  const part = shown(ctx, {
    load: (signal, known) => look(ctx, known, signal),
    draw: (data) => draw(data, ctx),
    about: (change) => touches(change, { kinds: KINDS }),
    label: "Loading the overview",
    rest: REST,
  });
  return h(
    "div",
    { class: "page overview" },
    h("h1", { class: "visually-hidden", tabindex: "-1" }, "Overview"),
    part.place,
  );
}

const KINDS = ["directory", "agent", "request", "question", "thread"].map(
  (it) => `atom:org.quixos.agent:${it}`,
);

async function look({ door }, known, signal) {
  const [{ directories, requests }, agents, history, sessions] = await Promise.all([
    load.pending(door, signal),
    load.all(door, "agent", signal),
    latest((before, limit) => load.history(door, { before }, limit, signal), known?.history ?? [], SHOWN),
    load.newest(door, "session", null, 1, signal),
  ]);
  const looked = await load.rows(door, requests.slice(0, COUNTED), signal);
  const waiting = looked.filter((it) => it.status === "waiting");
  const [places, people, questions] = await Promise.all([
    load.rows(door, directories, signal),
    load.rows(door, agents, signal),
    load.questionsOf(
      door,
      waiting.map((it) => it.reference),
      signal,
    ),
  ]);
  return {
    places,
    people,
    requests: looked,
    total: requests.length,
    questions: questions.filter((it) => it.status === "open"),
    history,
    hasSessions: sessions.objects.length > 0,
  };
}

function draw({ places, people, requests, total, questions, history }, ctx) {
  const count = (status) => requests.filter((it) => it.status === status).length;
  const more = total > requests.length;
  const off = people.filter((it) => !it.enabled).length;
  const figure = (value, label, href, tone) =>
    h(
      "a",
      { class: `figure ${value ? `tone-${tone}` : ""}`, href, "data-key": label },
      h("strong", {}, value.toLocaleString("en")),
      h("span", {}, label),
    );
  return [
    h(
      "div",
      { class: "figures", "data-key": "figures" },
      figure(
        questions.length,
        questions.length === 1 ? "open question" : "open questions",
        to("requests", "", { show: "open", status: "waiting" }),
        "wait",
      ),
      figure(count("running"), "running", to("requests", "", { show: "open", status: "running" }), "run"),
      figure(count("waiting"), "waiting", to("requests", "", { show: "open", status: "waiting" }), "wait"),
      figure(
        count("queued"),
        more ? "queued, at least" : "queued",
        to("requests", "", { show: "open", status: "queued" }),
        "queue",
      ),
      figure(
        people.length,
        off ? `agents, ${off} disabled` : people.length === 1 ? "agent" : "agents",
        "#/agents",
        "plain",
      ),
    ),
    h(
      "div",
      { class: "columns", "data-key": "columns" },
      h(
        "div",
        {},
        section(
          "Waiting for an answer",
          { count: questions.length || null },
          questions.length
            ? h(
                "ul",
                { class: "cards" },
                questions.slice(0, SHOWN).map((it) => question(it, ctx)),
              )
            : empty("Nobody is asked anything."),
        ),
        section(
          "Open requests",
          {
            count: total || null,
            actions: total > SHOWN ? h("a", { href: to("requests", "", { show: "open" }) }, "All") : [],
          },
          requests.length
            ? h(
                "ul",
                { class: "rows" },
                requests
                  .slice(0, SHOWN)
                  .map((it) =>
                    h(
                      "li",
                      { "data-key": it.reference },
                      h(
                        "a",
                        { class: "row", href: ofObject(it.reference) },
                        chip(it.status),
                        h("span", { class: "row-main" }, line(it.text) || "no text"),
                        h("span", { class: "sub" }, it.agentName),
                        when(it.createdAt),
                      ),
                    ),
                  ),
              )
            : empty(
                "Nothing is queued, nothing runs.",
                h("a", { href: "#/requests" }, "See what has ended."),
              ),
        ),
      ),
      h(
        "div",
        {},
        section(
          "Directories",
          { count: places.length > 1 ? places.length : null },
          h(
            "ul",
            { class: "rows" },
            places
              .slice(0, 8)
              .map((it) =>
                h(
                  "li",
                  { "data-key": it.reference },
                  h(
                    "a",
                    { class: "row", href: ofObject(it.reference) },
                    chip(it.availability),
                    h("span", { class: "row-main id" }, short(it.reference).slice(0, 18), "…"),
                    h("span", { class: "sub" }, `${it.pending} pending`),
                  ),
                ),
              ),
          ),
        ),
        section(
          "Agents",
          { count: people.length, actions: people.length > 8 ? h("a", { href: "#/agents" }, "All") : [] },
          people.length
            ? h(
                "ul",
                { class: "rows" },
                people
                  .slice(0, 8)
                  .map((it) =>
                    h(
                      "li",
                      { "data-key": it.reference },
                      h(
                        "a",
                        { class: "row", href: ofObject(it.reference) },
                        chip(it.enabled ? "enabled" : "disabled"),
                        h("span", { class: "row-main" }, it.name || "no name"),
                      ),
                    ),
                  ),
              )
            : empty("There are no agents."),
        ),
        section(
          "Done last",
          { actions: h("a", { href: "#/history" }, "History") },
          history.length
            ? h(
                "ol",
                { class: "rows log" },
                history.map((it) =>
                  h(
                    "li",
                    { "data-key": it.commit },
                    h(
                      "div",
                      { class: "row" },
                      h("span", { class: "num sub" }, it.commit),
                      h(
                        "span",
                        { class: "row-main" },
                        it.what,
                        " ",
                        h("span", { class: "sub" }, "on "),
                        link(it.on),
                      ),
                      h("span", { class: "sub who" }, it.actor),
                      when(it.instant),
                    ),
                  ),
                ),
              )
            : empty("Nothing was done lately."),
        ),
      ),
    ),
  ];
}

/** An open question, with what to do about it. */
function question(it, ctx) {
  const options = unpacked(it.data.options || "[]");
  return h(
    "li",
    { class: "card", "data-key": it.reference },
    h(
      "div",
      { class: "card-main" },
      h("p", { class: "card-title" }, link(it.reference, line(it.title, 160) || it.key)),
      h(
        "p",
        { class: "sub" },
        "in ",
        link(it.request),
        " · asked ",
        when(it.createdAt),
        " · ends ",
        when(it.expiresAt),
        Array.isArray(options) && options.length ? ` · ${counted(options.length, "choice")}` : "",
      ),
    ),
    h(
      "div",
      { class: "actions" },
      actionBar(
        ofQuestion(it)
          .slice(0, 1)
          .map((action) => ({ ...action, key: undefined })),
        ctx,
      ),
    ),
  );
}
