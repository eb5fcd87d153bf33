// No text from the store is ever read as a part of a command.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ofAgent, ofClientCall, ofQuestion, ofRequest, ofSession, ofThread } from "../console/lib/actions.js";
import { call, NOW, options, Raw, string, value } from "../console/lib/words.js";

const HOSTILE = [
  '"} ; call $x.cancel',
  "a\nlist request",
  "'; exit #",
  "\\",
  "$now",
  "request/01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "\u2028\u0000",
  "<img src=x onerror=alert(1)>",
];
const REQUEST = "request/01ARZ3NDEKTSV4RRFFQ69G5FAV";

test("a string stays one token on one line, and reads back as itself", () => {
  for (const text of HOSTILE) {
    assert.equal(JSON.parse(string(text)), text);
    assert.ok(!string(text).includes("\n"));
  }
});

test("values are written with bare names, and what is raw as it is", () => {
  assert.equal(
    value({ a: 1, "b c": [true, null], at: NOW, left: undefined }),
    '{a: 1, "b c": [true, null], at: $now}',
  );
  assert.equal(value({ text: new Raw(`${REQUEST}.admission.text`) }), `{text: ${REQUEST}.admission.text}`);
  assert.equal(call(REQUEST, "cancel"), `call ${REQUEST}.cancel`);
  assert.equal(
    call("thread/01ARZ3NDEKTSV4RRFFQ69G5FAV", "archive", false),
    "call thread/01ARZ3NDEKTSV4RRFFQ69G5FAV.archive false",
  );
});

test("options leave out what is empty, and quote words", () => {
  assert.equal(
    options({ limit: 5, actor: 'a" limit 9', on: new Raw(REQUEST), operation: "" }),
    ` limit 5 actor "a\\" limit 9" on ${REQUEST}`,
  );
});

test("an action's command holds each hostile text in one string", () => {
  for (const text of HOSTILE) {
    const [send, rename, archive] = ofThread(
      { reference: "thread/01ARZ3NDEKTSV4RRFFQ69G5FAV", data: { title: "old", archived: false } },
      text,
    );
    assert.ok(send.command({ text }).includes(`text: ${string(text)}`) || text.trim() === "");
    assert.ok(rename.command({ title: text }).endsWith(` ${string(text)}`));
    assert.ok(archive.danger);
    const [answer] = ofQuestion({
      reference: "question/01ARZ3NDEKTSV4RRFFQ69G5FAV",
      data: { status: "open", options: "", title: text },
    });
    assert.ok(answer.command({ answer: text }).includes(`answer: ${string(text)},`));
    const [name] = ofAgent({
      reference: "agent/01ARZ3NDEKTSV4RRFFQ69G5FAV",
      data: { name: "old", description: "", enabled: true },
    });
    assert.ok(name.command({ name: text, description: "" }).includes(`name: ${string(text)}`));
  }
});

test("what is missing makes no command", () => {
  const [answer] = ofQuestion({ reference: "q", data: { status: "open", options: "" } });
  assert.equal(answer.command({ answer: "" }), null);
  const [send, rename] = ofThread({ reference: "t", data: { title: "same", archived: true } }, "anna");
  assert.equal(send.command({ text: "  " }), null);
  assert.equal(rename.command({ title: "same" }), null);
});

test("what can be done depends on where a thing stands", () => {
  const of = (status, more = {}) =>
    ofRequest(
      { reference: REQUEST, progress: { status, ...more }, thread: "thread/01ARZ3NDEKTSV4RRFFQ69G5FAV" },
      "anna",
    ).map((it) => it.label);
  assert.deepEqual(of("queued"), ["Cancel"]);
  assert.deepEqual(of("running", { cancelRequested: true }), []);
  assert.deepEqual(of("failed"), ["Retry"]);
  assert.deepEqual(ofQuestion({ reference: "q", data: { status: "answered" } }), []);
  const agent = (enabled) =>
    ofAgent({ reference: "a", data: { name: "n", description: "", enabled } }).map((it) => it.label);
  assert.deepEqual(
    [agent(true), agent(false)],
    [
      ["Rename", "Disable"],
      ["Rename", "Enable"],
    ],
  );
});

test("a retry is linked to what it repeats, and to the first cause", () => {
  const [retry] = ofRequest(
    {
      reference: REQUEST,
      progress: { status: "failed" },
      thread: "thread/01ARZ3NDEKTSV4RRFFQ69G5FAV",
      contexts: ["document/01ARZ3NDEKTSV4RRFFQ69G5FAV"],
    },
    "anna",
  );
  const command = retry.command({});
  assert.ok(command.startsWith("call thread/01ARZ3NDEKTSV4RRFFQ69G5FAV.send {"));
  for (const part of [
    `text: ${REQUEST}.admission.text`,
    `retryOf: ${REQUEST}`,
    `root: ${REQUEST}`,
    'sourceKind: "operator"',
    "contexts: [document/01ARZ3NDEKTSV4RRFFQ69G5FAV]",
  ])
    assert.ok(command.includes(part), part);
});

test("a session is paused, resumed and cancelled by its verbs, with every text in one string", () => {
  const reference = "session/01ARZ3NDEKTSV4RRFFQ69G5FAV";
  for (const text of HOSTILE) {
    const live = { interrupts: [{ id: text, reason: text }] };
    const shape = { reference, data: { cancelled: false, turn: { id: text } }, live, request: REQUEST };
    const [resume, cancel, pause, close] = ofSession(shape);
    assert.deepEqual(
      [resume, cancel, pause, close].map((it) => it.label),
      ["Resume", "Cancel turn", "Pause", "Cancel session"],
    );
    assert.equal(resume.command({ payload: "" }), `session answer ${reference} ${string(text)}`);
    assert.equal(
      resume.command({ payload: '{"ok": [1]}' }),
      `session answer ${reference} ${string(text)} {ok: [1]}`,
    );
    assert.equal(cancel.command({}), `session cancel ${reference} turn ${string(text)}`);
    assert.equal(pause.command({ reason: text }), `session pause ${reference} ${string(text)}`);
    assert.equal(close.command({}), `session close ${reference}`);
    const [answer] = ofClientCall(shape, { id: text, name: text });
    assert.equal(
      answer.command({ result: text }),
      `session answer ${reference} ${string(text)} ${string(text)}`,
    );
    assert.equal(answer.command({ result: "" }), null);
  }
  assert.deepEqual(ofSession({ reference, data: { cancelled: true }, live: { interrupts: [] } }), []);
});
