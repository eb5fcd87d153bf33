// A thread, an agent, a directory: what it is, whether it takes work, and what is in it.

import { ofAgent, ofQuestion, ofThread } from "../lib/actions.js";
import { h } from "../lib/dom.js";
import { touches } from "../lib/live.js";
import * as load from "../lib/load.js";
import { idOf, kindOf, same, short } from "../lib/reference.js";
import { ofObject, to } from "../lib/route.js";
import { cut, line, pretty } from "../lib/text.js";
import { chip, empty, facts, link, pageHead, section, value, when } from "../parts/bits.js";
import { explained } from "../parts/explained.js";
import { shown } from "../parts/shown.js";

/** Rows of a part that are shown; the rest is in the list. */
const SHOWN = 40;

const view = (look, draw, label) => (ctx, { name }) => {
  const part = shown(ctx, {
    load: (signal) => look(ctx.door, short(name), signal), draw: (data) => draw(data, ctx), label,
    about: (change, data) => !data || touches(change, { objects: data.about }) || [change.receiver, ...change.objects].some((it) => same(it, name)),
  });
  return h("div", { class: "page" }, part.place);
};

const requestRows = (requests) => h("ul", { class: "rows" }, requests.map((it) => h("li", { "data-key": it.reference },
  h("a", { class: "row", href: ofObject(it.reference) }, chip(it.status), h("span", { class: "row-main" }, line(it.text) || "no text"), h("span", { class: "sub id" }, idOf(it.reference).slice(-6)), when(it.createdAt)))));
const newestFirst = (edge) => load.list(edge).sort((one, other) => (idOf(one) < idOf(other) ? 1 : -1));
const more = (reference) => section("More", {}, h("p", { class: "sub" }, h("a", { href: to("history", "", { touching: reference }) }, "Its history"), " · ", h("a", { href: to("object", reference) }, "As an object")));

export const threadView = view(async (door, at, signal) => {
  const [it, why, requests, items, holders] = await door.run([
    `get {reference: ${at}, data: ${at}.data, agent: ${at}.agent, agentName: ${at}.agent.data.name, directory: ${at}.directory, active: ${at}.active, contexts: ${at}.contexts}`,
    `explain ${at}`, `get ${at}.requests`, `get ${at}.items`, `show ${at}`,
  ].join("\n"), { signal });
  const [all, written] = [newestFirst(requests), newestFirst(items)];
  return {
    it, why, total: all.length, items: (await load.rows(door, written.slice(0, SHOWN), signal)).reverse(), written: written.length,
    requests: await load.rows(door, all.slice(0, SHOWN), signal), session: holders.holders.targets.find((one) => kindOf(one.object) === "session")?.object ?? null, about: all.slice(0, SHOWN),
  };
}, ({ it, why, requests, total, items, written, session }, ctx) => {
  const reference = short(it.reference);
  const actions = ofThread({ reference, data: it.data }, ctx.door.operator);
  ctx.actions(actions);
  return [
    pageHead({ kind: `Thread, ${it.data.kind}`, title: it.data.title || "No title", reference, actions, chips: [chip(it.data.archived ? "archived" : it.active ? "running" : "idle")], sub: why.headline }, ctx),
    h("div", { class: "columns wide-left", "data-key": "columns" },
      h("div", {},
        section("Requests", { count: total }, requests.length ? requestRows(requests) : empty("Nothing was asked in it."), total > SHOWN ? h("p", { class: "sub" }, `the newest ${SHOWN}`) : null),
        section("Said and written", { count: written }, items.length ? h("ol", { class: "items" }, items.map(({ reference: item, data }) => h("li", { class: "item", "data-key": item },
          h("p", { class: "item-head" }, h("span", { class: "kind" }, data.kind), chip(data.phase), link(item, data.key), when(data.updatedAt)), data.text ? h("p", { class: "item-text" }, cut(data.text, 2000)) : null))) : empty("Nothing was written."), written > SHOWN ? h("p", { class: "sub" }, `the newest ${SHOWN}`) : null)),
      h("aside", {}, section("Facts", {}, facts([
        ["Agent", link(it.agent, it.agentName)], ["Directory", link(it.directory)], session ? ["Session", link(session)] : null, it.active ? ["Active", link(it.active)] : null,
        ["Pending", h("span", { class: "num" }, it.data.pending)], ["Moved", when(it.data.updatedAt)], load.list(it.contexts).length ? ["About", value(load.list(it.contexts))] : null,
      ].filter(Boolean))), explained(why, ctx, "Admission"), more(reference))),
  ];
}, "Loading the thread");

export const agentView = view(async (door, at, signal) => {
  const [it, why, threads] = await door.run([
    `get {reference: ${at}, data: ${at}.data, instructions: ${at}.instructions, directory: ${at}.directory, completions: ${at}.completions}`, `explain ${at}`, `get ${at}.threads`,
  ].join("\n"), { signal });
  const all = newestFirst(threads);
  return { it, why, total: all.length, threads: await load.rows(door, all.slice(0, SHOWN), signal), about: all.slice(0, SHOWN) };
}, ({ it, why, threads, total }, ctx) => {
  const reference = short(it.reference);
  const actions = ofAgent({ reference, data: it.data });
  ctx.actions(actions);
  return [
    pageHead({ kind: "Agent", title: it.data.name || "No name", reference, actions, chips: [chip(it.data.enabled ? "enabled" : "disabled")], sub: it.data.description || why.headline }, ctx),
    h("div", { class: "columns wide-left", "data-key": "columns" },
      h("div", {},
        section("Threads", { count: total }, threads.length ? h("ul", { class: "rows" }, threads.map((row) => h("li", { "data-key": row.reference },
          h("a", { class: "row", href: ofObject(row.reference) }, chip(row.archived ? "archived" : row.active ? "running" : "idle"), h("span", { class: "row-main" }, line(row.title) || "no title"), h("span", { class: "sub" }, row.kind), when(row.updatedAt))))) : empty("It has no threads."), total > SHOWN ? h("p", { class: "sub" }, `the newest ${SHOWN}; `, h("a", { href: to("threads") }, "all threads")) : null),
        section("Instructions", {}, it.instructions ? h("pre", {}, it.instructions) : empty("None.")),
        section("Settings", {}, h("pre", {}, pretty(it.data.settings)))),
      h("aside", {}, section("Facts", {}, facts([
        ["Directory", link(it.directory)], ["Completions", h("a", { href: to("stream", `${short(it.completions)}.events`) }, "the stream")],
      ])), explained(why, ctx, "Admission"), more(reference))),
  ];
}, "Loading the agent");

export const directoryView = view(async (door, at, signal) => {
  const [it, why, agents, pending] = await door.run([
    `get {reference: ${at}, data: ${at}.data, agent: ${at}.defaultAgent, thread: ${at}.initialThread}`, `explain ${at}`, `get ${at}.agents`, `get ${at}.pending`,
  ].join("\n"), { signal });
  const open = newestFirst(pending);
  return { it, why, total: open.length, agents: await load.rows(door, load.list(agents).slice(0, 200), signal), requests: await load.rows(door, open.slice(0, SHOWN), signal), about: open.slice(0, SHOWN) };
}, ({ it, why, agents, requests, total }, ctx) => {
  const reference = short(it.reference);
  ctx.actions([]);
  return [
    pageHead({ kind: "Directory", title: `Directory ${idOf(it.reference).slice(-6)}`, reference, chips: [chip(it.data.availability)], sub: why.headline }, ctx),
    h("div", { class: "columns wide-left", "data-key": "columns" },
      h("div", {},
        section("Open requests", { count: total }, requests.length ? requestRows(requests) : empty("Nothing is pending.")),
        section("Agents", { count: agents.length }, agents.length ? h("ul", { class: "rows" }, agents.map((row) => h("li", { "data-key": row.reference },
          h("a", { class: "row", href: ofObject(row.reference) }, chip(row.enabled ? "enabled" : "disabled"), h("span", { class: "row-main" }, row.name || "no name"), h("span", { class: "sub" }, line(row.description, 80)))))) : empty("There are no agents."))),
      h("aside", {}, section("Facts", {}, facts([
        ["Pending", h("span", { class: "num" }, it.data.pending)], ["Not interactive", h("span", { class: "num" }, it.data.ordinaryPending)], ["Ends to tell", h("span", { class: "num" }, it.data.notificationPending)],
        ["Profiles", value(it.data.profiles)], ["Default agent", link(it.agent)], ["Initial thread", link(it.thread)], ["Sequence", h("span", { class: "num" }, it.data.sequence)],
      ])), explained(why, ctx, "Admission"), more(reference))),
  ];
}, "Loading the directory");

export const questionView = view(async (door, at, signal) => {
  const [it, why] = await door.run(`get {reference: ${at}, data: ${at}.data, request: ${at}.request, text: ${at}.request.admission.text}\nexplain ${at}.request`, { signal });
  return { it, why, about: [it.request] };
}, ({ it, why }, ctx) => {
  const reference = short(it.reference);
  const actions = ofQuestion({ reference, data: it.data });
  ctx.actions(actions);
  return [
    pageHead({ kind: "Question", title: line(it.data.title, 200) || it.data.key, reference, actions, chips: [chip(it.data.status)] }, ctx),
    h("div", { class: "columns wide-left", "data-key": "columns" },
      h("div", {}, section("Question", {}, facts([
        ["Asked in", link(it.request, line(it.text, 80) || undefined)], ["Key", h("span", { class: "id" }, it.data.key)], ["Choices", value(it.data.options)], ["Answer", value(it.data.answer)],
        ["Asked", when(it.data.createdAt)], ["Ends", when(it.data.expiresAt)], ["Asked by", h("span", { class: "id" }, `${it.data.attempt}, generation ${it.data.generation}`)],
      ]))),
      h("aside", {}, explained(why, ctx), more(reference))),
  ];
}, "Loading the question");
