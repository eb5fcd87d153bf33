// The published AG-UI client judges what the host says: run by tests/outside/agui.sh.

import { HttpAgent } from "@ag-ui/client";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { names, serve } from "./turns.mjs";

const { URL: host, TOKEN: token } = process.env;
const url = `${host}/v1/agents/concierge/ag-ui`;
const headers = { authorization: `Bearer ${token}` };
const warnings = [];
for (const level of ["warn", "error"]) console[level] = (...words) => warnings.push(words.join(" "));

function agent(threadId = randomUUID()) {
  return new HttpAgent({ url, threadId, headers });
}

/** Runs an agent, and returns what it was told. */
async function run(agent, parameters = {}) {
  const events = [];
  const told = { events, error: undefined, custom: undefined };
  await agent
    .runAgent(parameters, {
      onEvent: ({ event }) => void events.push(event),
      onCustomEvent: ({ event }) => void (told.custom = event),
    })
    .then((result) => Object.assign(told, result))
    .catch((error) => (told.error = error));
  told.types = events.map((event) => event.type);
  return told;
}

async function say(agent, content, parameters) {
  agent.addMessage({ id: randomUUID(), role: "user", content });
  return run(agent, parameters);
}

function last(agent) {
  return agent.messages.at(-1);
}

test("a text", async () => {
  const it = agent();
  const { types, newMessages, error } = await say(it, "Hi!");
  assert.equal(error, undefined);
  assert.deepEqual([types[0], types.at(-1)], ["RUN_STARTED", "RUN_FINISHED"]);
  assert.ok(types.filter((type) => type === "TEXT_MESSAGE_CONTENT").length > 1);
  assert.equal(newMessages.length, 1);
  assert.match(newMessages[0].content, /^Hello! Ask me/);
});

test("a tool, and a second turn that says nothing twice", async () => {
  const it = agent();
  const { newMessages, events } = await say(it, "How is the weather?");
  const roles = newMessages.map((message) => message.role);
  assert.deepEqual(roles, ["reasoning", "assistant", "tool", "assistant"]);
  const [{ function: call }] = newMessages[1].toolCalls;
  assert.deepEqual([call.name, JSON.parse(call.arguments)], ["weather", { city: "Oslo" }]);
  // A summary, never what the tool brought.
  assert.equal(newMessages[2].content, "a text of 33 characters");
  assert.equal(newMessages[3].content, "I looked it up: 12 degrees and light rain in Oslo");
  const { usage } = events.at(-1);
  assert.ok(usage[0].outputTokens > 0);
  const { custom } = await say(it, "Hi!");
  assert.match(last(it).content, /^Hello!/);
  const view = await thread(custom.value.threadId);
  const said = view.messages.filter((message) => message.role === "user");
  assert.deepEqual(said.map((message) => message.content[0].text), ["How is the weather?", "Hi!"]);
});

async function thread(id) {
  const response = await fetch(`${host}/v1/threads/${id}`, { headers });
  assert.equal(response.status, 200);
  return response.json();
}

test("a tool of the client", async () => {
  const it = agent();
  const { events } = await say(it, "Please book it.");
  const [toolCallId] = events.at(-1).outcome.pendingToolCallIds;
  const call = it.messages.flatMap((message) => message.toolCalls ?? []).find((call) => call.id === toolCallId);
  assert.equal(call.function.name, "approve");
  it.addMessage({ id: randomUUID(), role: "tool", toolCallId, content: "yes" });
  const { error } = await run(it);
  assert.equal(error, undefined);
  assert.equal(last(it).content, "It is booked.");
  // The result is in the conversation once: as the client gave it.
  assert.equal(it.messages.filter((message) => message.toolCallId === toolCallId).length, 1);
  await say(it, "Hi!");
  assert.match(last(it).content, /^Hello!/);
});

test("a tool that the client brings along is offered to the model", async () => {
  const it = agent();
  const tools = [{ name: "colour", description: "Paints.", parameters: { type: "object" } }];
  const { error } = await say(it, "Hi!", { tools, context: [{ description: "a", value: "b" }], forwardedProps: { x: 1 } });
  assert.equal(error, undefined);
  assert.match(last(it).content, /^Hello!/);
});

test("a question, answered and given up", async () => {
  for (const [resume, said] of [
    [{ status: "resolved", payload: { approved: true } }, "It is signed."],
    [{ status: "resolved", payload: { approved: false } }, "Then it stays unsigned."],
    [{ status: "cancelled" }, "Then it stays unsigned."],
  ]) {
    const it = agent();
    await say(it, "Sign the lease.");
    const [{ id, reason, message }] = it.pendingInterrupts;
    assert.deepEqual([reason, message], ["confirmation", "May I sign it in your name?"]);
    const runId = randomUUID();
    const twin = it.clone();
    const { error, custom } = await run(it, { runId, resume: [{ interruptId: id, ...resume }] });
    assert.equal(error, undefined);
    assert.equal(last(it).content, said);
    assert.deepEqual(it.pendingInterrupts, []);
    // It was answered once. Who sends the same run again is told of it; another run fails.
    const same = await run(twin, { runId, resume: [{ interruptId: id, ...resume }] });
    assert.equal(same.error, undefined);
    assert.equal(same.custom.value.requestId, custom.value.requestId);
    assert.equal(last(twin).content, said);
    const again = await run(it, { resume: [{ interruptId: id, ...resume }] });
    assert.equal(again.events.at(-1).code, "invalid_action_id");
  }
});

test("a thread that waits takes nothing but answers", async () => {
  const it = agent();
  await say(it, "Sign the lease.");
  it.pendingInterrupts = [];
  const { events } = await say(it, "Never mind. Hi!");
  assert.equal(events.at(-1).type, "RUN_ERROR");
});

test("a failure", async () => {
  const { events } = await say(agent(), "Please fail.");
  assert.deepEqual([events.at(-1).type, events.at(-1).code], ["RUN_ERROR", "agent_error"]);
});

test("a run that is aborted", async () => {
  const it = agent();
  const aborting = new Promise((resolve) => {
    it.subscribe({
      onCustomEvent: ({ event }) => {
        const path = `/v1/requests/${event.value.requestId}/abort`;
        resolve(fetch(host + path, { method: "POST", headers }));
      },
    });
  });
  const { events } = await say(it, "Tell me a story.");
  assert.equal((await aborting).status, 200);
  assert.deepEqual(events.at(-1).outcome, { type: "cancelled" });
});

test("a run that is sent twice is one turn", async () => {
  const it = agent();
  const runId = randomUUID();
  it.addMessage({ id: randomUUID(), role: "user", content: "Tell me a story." });
  const twin = it.clone();
  const [first, second] = await Promise.all([run(it, { runId }), run(twin, { runId })]);
  assert.equal(first.custom.value.requestId, second.custom.value.requestId);
  const third = await run(agentOf(twin), { runId });
  assert.equal(third.custom.value.requestId, first.custom.value.requestId);
  assert.equal(last(it).content, last(twin).content);
});

/** Returns an agent that knows what the other knew before its run. */
function agentOf(other) {
  const it = agent(other.threadId);
  it.messages = other.messages.filter((message) => message.role === "user");
  return it;
}

test("who is not let in is told so by a status", async () => {
  const it = new HttpAgent({ url, headers: { authorization: "Bearer nobody" } });
  const { error } = await say(it, "Hi!");
  assert.match(error.message, /401/);
});

test("every golden turn is a run", async () => {
  assert.ok(names("agui").length > 10);
  for (const name of names("agui")) {
    const { url, close } = await serve(name, "agui", {});
    const { error, events } = await run(new HttpAgent({ url, threadId: "th1" }), { runId: "run1" });
    const failed = events.at(-1).type === "RUN_ERROR";
    assert.ok(failed || error === undefined, `${name}: ${error}`);
    assert.ok(failed || events.at(-1).type === "RUN_FINISHED", name);
    close();
  }
});

test("the client had nothing to warn of", () => {
  assert.deepEqual(warnings.filter((warning) => !/failed|Error/.test(warning)), []);
});
