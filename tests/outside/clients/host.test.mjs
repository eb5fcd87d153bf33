// The TypeScript client against the demo: run by tests/outside/clients.sh.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { Client, RequestError } from "../../../clients/typescript/dist/index.js";
import { grammar } from "./grammar.mjs";
import { proxy } from "./proxy.mjs";

const AGENT = "concierge";
const { URL: url, TOKEN: token } = process.env;
const client = new Client({ url, token });
const patience = { first: 5, longest: 20, tries: 50 };
const proxies = [];
after(() => Promise.all(proxies.map((it) => it.close())));

async function broken(seed, most, lost) {
  const line = await proxy(url, seed, most, lost);
  proxies.push(line);
  return { line, client: new Client({ url: line.url, token, patience }) };
}

/** Reads a turn to its end, and holds its events against the grammar. */
async function read(turn) {
  const check = grammar();
  for await (const event of turn) check(event);
  return turn.message;
}

test("a text", async () => {
  const message = await read(client.send(AGENT, "Hi!"));
  assert.equal(message.end.finishReason, "stop");
  assert.match(message.text, /^Hello! Ask me/);
  assert.ok(message.end.usage.completionTokens > 0);
});

test("thoughts, a tool, and what it brought", async () => {
  const turn = client.send(AGENT, "How is the weather?");
  const { blocks, content, text } = await read(turn);
  assert.deepEqual(blocks.map((it) => it.kind).slice(0, 3), ["thinking", "tool_call", "tool_result"]);
  const call = content.find((it) => it.type === "tool_use");
  assert.deepEqual([call.tool, call.args], ["weather", { city: "Oslo" }]);
  const result = content.find((it) => it.type === "tool_result");
  assert.deepEqual([result.toolCallId, result.status], [call.toolCallId, "success"]);
  assert.equal(text, "I looked it up: 12 degrees and light rain in Oslo");
});

test("a tool that the client runs", async () => {
  const turn = client.send(AGENT, "Please book it.");
  const { end, continuations } = await read(turn);
  assert.equal(end.finishReason, "action_required");
  const [{ actionId, kind }] = continuations;
  assert.equal(kind, "tool");
  const wrong = client.answer(AGENT, turn.threadId, [
    { actionId: "nobody", kind, status: "success", data: "yes" },
  ]);
  await assert.rejects(wrong.finished(), (error) => error.code === "invalid_action_id");
  const result = { actionId, kind, status: "success", data: "yes" };
  const message = await read(client.answer(AGENT, turn.threadId, [result]));
  assert.deepEqual([message.end.finishReason, message.text], ["stop", "It is booked."]);
});

test("a question, answered with yes and with no", async () => {
  for (const [approved, said] of [[true, "It is signed."], [false, "Then it stays unsigned."]]) {
    const turn = client.send(AGENT, "Sign the lease.");
    const { continuations } = await read(turn);
    const [{ actionId, kind, payload }] = continuations;
    assert.deepEqual([kind, payload.reason], ["approval", "May I sign it in your name?"]);
    const results = [{ actionId, kind, status: "success", data: { approved } }];
    const message = await read(client.answer(AGENT, turn.threadId, results));
    assert.equal(message.text, said);
  }
});

test("a failure", async () => {
  const { end } = await read(client.send(AGENT, "Please fail."));
  assert.deepEqual([end.event, end.code], ["error", "agent_error"]);
});

test("a turn that is stopped", async () => {
  const turn = client.send(AGENT, "Tell me a story.");
  for await (const event of turn) {
    if (event.event === "text" && event.stage === "delta") {
      await turn.abort();
      break;
    }
  }
  const message = await read(client.follow(turn.requestId));
  assert.equal(message.end.event, "aborted");
});

test("what is refused", async () => {
  const stranger = new Client({ url, token: "nobody's" });
  const refused = (code, status) => (error) =>
    error instanceof RequestError && error.code === code && error.status === status;
  await assert.rejects(stranger.send(AGENT, "Hi!").finished(), refused("auth_failed", 401));
  await assert.rejects(client.send("nobody", "Hi!").finished(), refused("thread_not_found", 404));
  const unknown = client.send(AGENT, "Hi!", { threadId: "not-there" });
  await assert.rejects(unknown.finished(), refused("thread_not_found", 404));
  await assert.rejects(client.send(AGENT, []).finished(), refused("invalid_message_format", 400));
});

test("a conversation of several turns is one thread", async () => {
  const first = client.send(AGENT, "Hi!");
  await read(first);
  const { threadId } = first;
  const second = client.send(AGENT, "And the weather?", { threadId });
  await read(second);
  assert.equal(second.threadId, threadId);
  assert.notEqual(second.requestId, first.requestId);
});

test("a story that is cut at random is told whole, to every reader", async () => {
  const whole = (await read(client.send(AGENT, "Tell me a story."))).content;
  let reconnects = 0;
  await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (seed) => {
      const { client: cut } = await broken(seed);
      const turn = cut.send(AGENT, "Tell me a story.");
      const [message, other] = await Promise.all([
        read(turn),
        // Another reader comes as soon as it is known whom to follow.
        (async () => {
          while (!turn.requestId) await new Promise((resolve) => setTimeout(resolve, 5));
          return read(cut.follow(turn.requestId));
        })(),
      ]);
      reconnects += turn.reconnects;
      // What was put together from pieces, what `done` says, and what a later reader is told.
      const { blocks } = message;
      assert.deepEqual(blocks.map((it) => it.text), whole.map((it) => it.text));
      assert.deepEqual(message.content, whole);
      assert.deepEqual(other.content, whole);
      assert.deepEqual((await read(client.follow(turn.requestId))).content, whole);
    }),
  );
  assert.ok(reconnects >= 12, `${reconnects}`);
});

test("what is sent again because its answer was lost is one turn", async () => {
  const threads = async () => {
    const response = await client.call({ method: "GET", path: "/v1/threads?limit=100" });
    return (await response.json()).threads.map((it) => it.threadId);
  };
  const before = new Set(await threads());
  const { client: cut } = await broken(7, 1500, 3);
  const turn = cut.send(AGENT, "Please book it.");
  const { continuations } = await read(turn);
  assert.ok(turn.reconnects >= 3, `${turn.reconnects}`);
  const begun = (await threads()).filter((it) => !before.has(it));
  assert.deepEqual(begun, [turn.threadId]);
  // Of an answer to it as well, which is refused to whoever gives it a second time.
  const [{ actionId, kind }] = continuations;
  const results = [{ actionId, kind, status: "success", data: "yes" }];
  const { client: again } = await broken(8, 1500, 3);
  const message = await read(again.answer(AGENT, turn.threadId, results));
  assert.deepEqual([message.end.finishReason, message.text], ["stop", "It is booked."]);
  // A page that is loaded anew sends the same under the same key.
  const [one, two] = [client.send(AGENT, "Hi!", { key: turn.threadId }), client.send(AGENT, "Hi!", { key: turn.threadId })];
  await Promise.all([read(one), read(two)]);
  assert.equal(one.requestId, two.requestId);
  const other = client.send(AGENT, "Bye!", { key: turn.threadId });
  await assert.rejects(other.finished(), (error) => error instanceof RequestError && error.status === 422);
});

test("tools and sub-agents are the same over a broken line", async () => {
  for (const [seed, words] of ["weather", "research trains"].entries()) {
    const { client: cut } = await broken(seed + 100, 400);
    const turn = cut.send(AGENT, words);
    const message = await read(turn);
    const again = await read(client.follow(turn.requestId));
    const shown = (it) => it.blocks.map(({ kind, text, args, summary }) => ({ kind, text, args, summary }));
    assert.deepEqual(shown(message), shown(again));
    assert.deepEqual(message.content, again.content);
  }
});

test("whoever comes back is told the rest only", async () => {
  const turn = client.send(AGENT, "weather");
  const ids = [];
  for await (const event of turn) ids.push([turn.lastEventId, event]);
  const [after] = ids.find(([, event]) => event.event === "tool_result" && event.stage === "stop");
  const rest = client.follow(turn.requestId, { after });
  const events = [];
  for await (const event of rest) events.push(event);
  assert.equal(events[0].event, "metadata");
  assert.ok(events.every((event) => event.event !== "tool_call"), JSON.stringify(events));
  assert.equal(events.at(-1).event, "done");
});

test("a reader that leaves does not stop the turn", async () => {
  const leave = new AbortController();
  const turn = client.send(AGENT, "Tell me a story.", { signal: leave.signal });
  await assert.rejects(async () => {
    for await (const event of turn) if (event.event === "text") leave.abort();
  });
  const { end } = await read(client.follow(turn.requestId));
  assert.equal(end.finishReason, "stop");
});

test("the thread of a turn can be read", async () => {
  const turn = client.send(AGENT, `Hi! ${randomUUID()}`);
  await read(turn);
  const response = await client.call({ method: "GET", path: `/v1/threads/${turn.threadId}` });
  assert.match(JSON.stringify(await response.json()), /Hello! Ask me/);
});
