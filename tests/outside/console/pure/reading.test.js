// What comes over the wire: lines of JSON, server-sent events, cut anywhere; the door; the feed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Door } from "../console/lib/door.js";
import { events, lines, values } from "../console/lib/lines.js";
import { Live, touches } from "../console/lib/live.js";

const body = (...chunks) =>
  new ReadableStream({
    start(it) {
      for (const chunk of chunks)
        it.enqueue(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
      it.close();
    },
  });
const all = async (from) => {
  const found = [];
  for await (const it of from) found.push(it);
  return found;
};

test("lines are whole wherever the bytes are cut, also within a letter", async () => {
  const bytes = new TextEncoder().encode('{"a":"é€😀"}\r\n\n{"b":2}');
  for (let at = 0; at <= bytes.length; at += 1) {
    assert.deepEqual(await all(values(body(bytes.slice(0, at), bytes.slice(at)))), [{ a: "é€😀" }, { b: 2 }]);
  }
  assert.deepEqual(await all(lines(body())), []);
});

test("events have their id, type and data; comments and what has no end are none", async () => {
  const text = ': hello\nid: 7\nevent: change\ndata: {"a":\ndata: 1}\n\ndata: x\n\nid: 9\ndata: cut off';
  for (const at of [0, 3, 17, 30, text.length]) {
    assert.deepEqual(await all(events(body(text.slice(0, at), text.slice(at)))), [
      { id: "7", type: "change", data: '{"a":\n1}' },
      { id: "7", type: "message", data: "x" },
    ]);
  }
});

const answering =
  (status, ...chunks) =>
  async (path, init) => {
    answering.last = { path, ...init };
    return new Response(body(...chunks), { status });
  };

test("the token and the name go with each request, the name in UTF-8", async () => {
  const door = new Door({
    token: "secret",
    operator: "Zoë",
    fetch: answering(200, '{"answer":1}\n{"exit":0}\n'),
  });
  assert.deepEqual(await door.run("get 1"), [1]);
  assert.equal(answering.last.headers.authorization, "Bearer secret");
  assert.deepEqual(
    [...answering.last.headers["x-operator"]].map((it) => it.charCodeAt(0)),
    [...new TextEncoder().encode("Zoë")],
  );
  assert.deepEqual(JSON.parse(answering.last.body), { text: "get 1", yes: false });
});

test("a failed command, a question, and an answer that is cut off are errors", async () => {
  const run = (...chunks) =>
    new Door({ token: "t", operator: "o", fetch: answering(200, ...chunks) }).run("x");
  await assert.rejects(
    run('{"answer":1}\n{"error":{"code":"refused","message":"no","help":"h"}}\n{"exit":11}\n'),
    { code: "refused", message: "no", help: "h" },
  );
  await assert.rejects(run('{"ask":"cancel?"}\n{"exit":1}\n'), { code: "asks" });
  await assert.rejects(run('{"answer":1}\n'), { code: "cut-off", passing: true });
});

test("who is not let in is told, and the console with it", async () => {
  let refused = 0;
  const door = new Door({
    token: "t",
    operator: "o",
    fetch: answering(401, '{"error":"who are you","code":"unauthenticated"}'),
    refused: () => (refused += 1),
  });
  await assert.rejects(door.run("x"), { status: 401, code: "unauthenticated", passing: false });
  assert.equal(refused, 1);
  const lost = new Door({ token: "t", operator: "o", fetch: () => Promise.reject(new TypeError("network")) });
  await assert.rejects(lost.run("x"), { code: "unreachable", passing: true });
});

/** A door whose feed is cut off again and again. */
function cutting(feeds) {
  const asked = [];
  return {
    asked,
    async *changes(after) {
      asked.push(after);
      const feed = feeds.shift();
      if (!feed) return live.stop();
      if (feed instanceof Error) throw feed;
      yield { opened: true };
      for (const id of feed) yield { id, change: { id } };
    },
  };
}
let live;

test("a feed that is cut off goes on behind the last commit, and nobody misses one", async () => {
  const door = cutting([["1", "2"], new Error("cut"), ["3"], []]);
  const states = [];
  live = new Live({ door, state: (it) => states.push(it), wait: async () => {} });
  const seen = [];
  live.watch((it) => seen.push(it?.id ?? "all"));
  await live.run();
  assert.deepEqual(door.asked, [null, "2", "2", "3", "3"]);
  assert.deepEqual(seen, ["all", "1", "2", "3"]);
  assert.ok(states.includes("live") && states.includes("reconnecting"));
});

test("a feed that cannot go on begins anew, and everybody looks again", async () => {
  const refused = Object.assign(new Error("another store"), { status: 422 });
  const door = cutting([["5"], refused, ["1"]]);
  live = new Live({ door, wait: async () => {} });
  const seen = [];
  live.watch((it) => seen.push(it?.id ?? "all"));
  await live.run();
  assert.deepEqual(door.asked, [null, "5", null, "1"]);
  assert.deepEqual(seen, ["all", "5", "all", "all", "1"]);
});

test("a token that is no longer good ends the feed", async () => {
  const door = cutting([Object.assign(new Error("no"), { status: 401 }), ["1"]]);
  const states = [];
  live = new Live({ door, state: (it) => states.push(it), wait: async () => {} });
  await live.run();
  assert.deepEqual([door.asked.length, states], [1, ["refused"]]);
});

test("a change is about what it was called on, and what it touched", () => {
  const change = { receiver: "atom:a:thread/1", objects: ["atom:a:request/2"] };
  assert.ok(touches(change, { objects: ["atom:a:thread/1"] }));
  assert.ok(touches(change, { kinds: ["atom:a:request"] }));
  assert.ok(!touches(change, { objects: ["atom:a:request/3"], kinds: ["atom:a:req"] }));
  assert.ok(touches(null, {}));
});
