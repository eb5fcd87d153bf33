// Previews, trees and timelines: what is drawn, worked out without a page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { grouped } from "../console/lib/diff.js";
import { firstAt, rowCommand } from "../console/lib/load.js";
import { sessionStatus, waitsFor } from "../console/lib/session.js";
import { brief, cut, pretty, said } from "../console/lib/text.js";
import { ticks, timeline } from "../console/lib/timeline.js";
import { folded, layout } from "../console/lib/tree.js";

const node = (id, parent_id) => ({ message: { id, role: "user", content: id }, parent_id });
const drawn = (rows) => rows.map((it) => `${" ".repeat(it.lane)}${it.id}${it.onPath ? "*" : ""}`);

test("a conversation without branches is one lane", () => {
  const rows = layout([node("a"), node("b", "a"), node("c", "b")], "c");
  assert.deepEqual(drawn(rows), ["a*", "b*", "c*"]);
  assert.deepEqual(
    rows.map((it) => [it.up, it.last, it.fork]),
    [
      [false, false, false],
      [true, false, false],
      [true, true, false],
    ],
  );
});

test("what was left stands beside, the way to the head goes straight on", () => {
  const nodes = [
    node("a"),
    node("b", "a"),
    node("c", "b"),
    node("d", "a"),
    node("e", "d"),
    node("f", "b"),
    node("g"),
  ];
  const rows = layout(nodes, "e");
  assert.deepEqual(drawn(rows), [" g", "a*", " b", "  c", " f", "d*", "e*"]);
  assert.deepEqual(drawn(folded(rows, new Set())), [" g", "a*", " b", "d*", "e*"]);
  const hidden = folded(rows, new Set()).map((it) => it.hidden);
  assert.deepEqual(hidden, [0, 0, 2, 0, 0]);
  assert.deepEqual(drawn(folded(rows, new Set(["b"]))), [" g", "a*", " b", "  c", " f", "d*", "e*"]);
});

test("every message is drawn once, whatever the tree, and a long one does not break it", () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 200; round += 1) {
    const nodes = [];
    for (let at = 0; at < 1 + random(30); at += 1)
      nodes.push(node(`n${at}`, random(5) === 0 ? undefined : `n${random(at + 1)}`));
    const own = nodes.filter((it) => it.parent_id !== it.message.id);
    const rows = layout(own, own.length ? own[random(own.length)].message.id : null);
    assert.deepEqual(rows.map((it) => it.id).sort(), own.map((it) => it.message.id).sort());
  }
  const long = Array.from({ length: 20_000 }, (_, at) => node(`n${at}`, at ? `n${at - 1}` : undefined));
  assert.equal(layout(long, "n19999").length, 20_000);
});

test("a preview shows of a record the fields that differ", () => {
  const changes = [
    { change: "created", object: "o2" },
    { change: "state", object: "o1", slot: "data", before: { a: 1, b: [2] }, after: { a: 1, b: [3] } },
    { change: "state", object: "o2", slot: "data", before: null, after: { x: "<script>" } },
    { change: "connected", object: "o1", edge: "items", key: "k", target: "o2" },
    { change: "disconnected", object: "o1", edge: "active", key: null, target: "o3" },
    { change: "appended", object: "o4", stream: "events", offset: 3, event: { e: 1 } },
  ];
  assert.deepEqual(grouped(changes), [
    { object: "o2", created: true, rows: [{ field: "data.x", before: undefined, after: "<script>" }] },
    {
      object: "o1",
      created: false,
      rows: [
        { field: "data.b", before: [2], after: [3] },
        { field: "items[k]", after: "o2" },
        { field: "active", before: "o3" },
      ],
    },
    { object: "o4", created: false, rows: [{ field: "events[3]", after: { e: 1 } }] },
  ]);
});

const at = (second) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
const event = (offset, second, type, payload, turn = "t1") => ({
  offset,
  instant: at(second),
  event: { type, turn, payload: JSON.stringify(payload) },
});
const admission = { createdAt: at(0), sourceKind: "user", sourceLabel: "anna" };
const base = { attempt: "e1", generation: 1, reason: "", retryCount: 0 };

test("a call that failed and was tried again is bars with a wait between them", () => {
  const events = [
    event(1, 1, "llm.call.requested", { call_id: "c1", attempt: 1, model: "demo" }),
    event(2, 1, "llm.call.dispatched", { call_id: "c1", attempt: 1 }),
    event(3, 3, "llm.call.errored", {
      call_id: "c1",
      attempt: 1,
      error: "overloaded",
      retryable: true,
      retry_at: at(5),
    }),
    event(4, 5, "llm.call.dispatched", { call_id: "c1", attempt: 2 }),
    event(5, 8, "llm.call.completed", {
      call_id: "c1",
      attempt: 2,
      message: { role: "assistant", content: "At last." },
    }),
    event(6, 8, "tool.call.requested", { call_id: "c2", attempt: 1, name: "weather", arguments: "{}" }),
    event(7, 9, "tool.call.dispatched", { call_id: "c2", attempt: 1 }),
  ];
  const life = timeline({
    admission,
    progress: { ...base, status: "running", startedAt: at(1), endedAt: null },
    events,
    now: Date.parse(at(20)),
  });
  const model = life.lanes.find((it) => it.kind === "model");
  assert.deepEqual(
    model.bars.map((it) => [(it.from - life.start) / 1000, (it.to - life.start) / 1000, it.tone]),
    [
      [1, 3, "bad"],
      [3, 5, "wait"],
      [5, 8, "ok"],
    ],
  );
  const tool = life.lanes.find((it) => it.label === "tool weather");
  assert.ok(tool.bars[0].open && tool.bars[0].to === life.end);
  assert.ok(
    life.moments.some((it) => it.title === "Model demo failed" && it.detail.startsWith("overloaded")),
  );
  assert.equal(life.lanes[0].kind, "attempt");
});

test("what is broken off ends, and nothing in the log breaks the timeline", () => {
  const events = [
    event(1, 1, "decision.queued", { decision_id: "d1", trigger: { type: "client.message" } }),
    event(2, 1, "decision.dispatched", { decision_id: "d1", attempts: 1 }),
    event(3, 2, "decision.errored", { decision_id: "d1", error: "no answer" }),
    event(4, 2, "sub_agent.requested", { call_id: "c1", attempt: 1, agent_id: "r" }),
    event(5, 3, "call.voided", { call_id: "c1", attempt: 1, reason: "cancelled" }),
    event(6, 3, "session.interrupted", { interrupt_id: "i1", reason: "check" }),
    event(7, 4, "session.interrupt_resumed", { interrupt_id: "i1", payload: null }),
    event(8, 4, "something.new", "not an object"),
    { offset: 9, instant: at(5), event: { type: "turn.completed", turn: "t1", payload: "broken {" } },
  ];
  const life = timeline({
    admission,
    progress: { ...base, status: "failed", startedAt: at(1), endedAt: at(5) },
    events,
    now: Date.parse(at(99)),
  });
  assert.equal(life.end, Date.parse(at(5)));
  assert.ok(life.lanes.every((lane) => lane.bars.every((bar) => bar.to >= bar.from && !bar.open)));
});

test("a request that a worker holds is told by its claims and its questions", () => {
  const history = [
    { commit: 3, instant: at(0), actor: "anna", what: "AgentThread.send", operation: "thread_send" },
    { commit: 4, instant: at(1), actor: "w1", what: "AgentRequest.claim", operation: "request_claim" },
    { commit: 5, instant: at(9), actor: "w2", what: "AgentRequest.claim", operation: "request_claim" },
  ];
  const questions = [
    {
      reference: "q",
      settled: null,
      data: { key: "k", title: "Sure?", status: "open", answer: null, createdAt: at(10) },
    },
  ];
  const life = timeline({
    admission,
    progress: { ...base, status: "waiting", attempt: "w2", generation: 2, startedAt: at(9), endedAt: null },
    questions,
    history,
    now: Date.parse(at(12)),
  });
  assert.deepEqual(
    life.lanes[0].bars.map((it) => [it.label, (it.from - life.start) / 1000]),
    [
      ["generation 1, taken over", 1],
      ["generation 2: w2", 9],
    ],
  );
  assert.ok(life.lanes[1].bars[0].open);
  assert.deepEqual(
    life.moments.map((it) => it.title),
    ["Admitted", "AgentRequest.claim", "AgentRequest.claim", "Asked"],
  );
});

test("what a session waits for is said in sentences", () => {
  const live = {
    interrupts: [{ id: "i", origin: "machine", reason: "check" }],
    sends: [],
    calls: [
      { id: "c1", kind: "tool_call", handler: "client", status: "pending", attempt: 1, deadline: at(60) },
      {
        id: "c2",
        kind: "llm_call",
        handler: "server",
        status: "retry_scheduled",
        attempt: 2,
        retryAt: at(5),
      },
    ],
    decisions: [{ id: "d", kind: "client.message", status: "pending", attempts: 2, deadline: null }],
  };
  const view = { calls: [{ id: "c1", name: "approve" }] };
  const found = waitsFor({ live, data: { claim: { engine: "" }, turn: { id: "t" } }, view });
  assert.deepEqual(
    found.map((it) => it.kind),
    ["claim", "interrupt", "tool_call", "llm_call", "decision"],
  );
  assert.equal(found[2].text, "the tool approve is asked, run by the client");
  assert.equal(found[3].until, at(5));
  const status = (it) =>
    sessionStatus({ cancelled: false, done: false, turn: null, live: { interrupts: [], calls: [] }, ...it });
  assert.deepEqual(
    [
      status({}),
      status({ done: true }),
      status({ turn: {} }),
      status({ turn: {}, live }),
      status({ cancelled: true }),
    ],
    ["idle", "done", "running", "interrupted", "cancelled"],
  );
});

test("texts are cut at letters, and JSON in strings is opened up", () => {
  assert.equal(cut("😀😀😀", 2), "😀😀…");
  assert.equal(cut("abc", 3), "abc");
  assert.equal(brief({ a: "x".repeat(500) }, 20).length, 21);
  assert.equal(pretty('{"a":"[1]"}'), '{\n  "a": [\n    1\n  ]\n}');
  assert.equal(pretty("{broken"), "{broken");
  assert.equal(said({ content: [{ type: "text", text: "a" }, { type: "image" }] }), "a\n[image]");
  assert.equal(said({}), "");
});

test("the first event of an instant is found in few looks", async () => {
  let looks = 0;
  const found = await firstAt(10_000, at(777), async (offset) => ((looks += 1), at(Math.floor(offset / 10))));
  assert.deepEqual([found, looks < 16], [7770, true]);
});

test("a row is looked up by one command", () => {
  assert.equal(
    rowCommand("atom:org.quixos.agent:item/01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    "get {reference: item/01ARZ3NDEKTSV4RRFFQ69G5FAV, data: item/01ARZ3NDEKTSV4RRFFQ69G5FAV.data}",
  );
});

test("marks are round, few, and have no label where it would reach beyond the end", () => {
  const labels = (length) => ticks(length).map(({ label }) => label);
  assert.deepEqual(labels(640), ["0", "200ms", "400ms", ""]);
  assert.deepEqual(labels(90_000), ["0", "15s", "30s", "45s", "1m", "1m 15s", ""]);
  assert.deepEqual(labels(1), ["0", ""]);
});
