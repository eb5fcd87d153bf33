// The published AI SDK judges what the host says: run by tests/outside/aisdk.sh.

import {
  AbstractChat,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  readUIMessageStream,
} from "ai";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { names, serve } from "./turns.mjs";

const { URL: host, TOKEN: token } = process.env;
const headers = { authorization: `Bearer ${token}` };
const api = `${host}/v1/agents/concierge/ui-message-stream`;
const transport = new DefaultChatTransport({ api, headers });

/** The state that a chat of the SDK keeps, without a framework. */
class State {
  messages = [];
  status = "ready";
  error = undefined;
  pushMessage = (message) => void this.messages.push(message);
  popMessage = () => void this.messages.pop();
  replaceMessage = (index, message) => void (this.messages[index] = message);
  snapshot = (value) => structuredClone(value);
}

class Chat extends AbstractChat {
  constructor(options = {}) {
    super({ id: randomUUID(), transport, state: new State(), ...options });
  }
}

function parts(chat, type) {
  return chat.lastMessage.parts.filter((part) => part.type === type);
}

function text(chat) {
  return parts(chat, "text").map((part) => part.text).join("|");
}

test("a text", async () => {
  const chat = new Chat();
  await chat.sendMessage({ text: "Hi!" });
  assert.equal(chat.status, "ready");
  assert.match(text(chat), /^Hello! Ask me/);
  assert.equal(chat.messages.length, 2);
  const { requestId, threadId, usage } = chat.lastMessage.metadata;
  assert.equal(chat.lastMessage.id, requestId);
  assert.ok(threadId && usage.completionTokens > 0);
});

test("thoughts and a tool, and a second turn that says nothing twice", async () => {
  const chat = new Chat();
  await chat.sendMessage({ text: "How is the weather?" });
  assert.match(parts(chat, "reasoning")[0].text, /a tool does/);
  const [tool] = parts(chat, "tool-weather");
  assert.deepEqual([tool.state, tool.input], ["output-available", { city: "Oslo" }]);
  // A summary, never what the tool brought.
  assert.equal(tool.output, "a text of 33 characters");
  assert.equal(text(chat), "I looked it up: 12 degrees and light rain in Oslo");
  assert.equal(parts(chat, "step-start").length, 2);
  await chat.sendMessage({ text: "Hi!" });
  assert.match(text(chat), /^Hello!/);
  const { threadId } = chat.lastMessage.metadata;
  const thread = await (await fetch(`${host}/v1/threads/${threadId}`, { headers })).json();
  const said = thread.messages.filter((message) => message.role === "user");
  assert.deepEqual(said.map((message) => message.content[0].text), ["How is the weather?", "Hi!"]);
});

test("a tool of the client, answered by itself", async () => {
  const calls = [];
  const chat = new Chat({
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall: ({ toolCall }) => {
      calls.push(toolCall.toolName);
      if (toolCall.toolName !== "approve") return;
      chat.addToolOutput({ tool: "approve", toolCallId: toolCall.toolCallId, output: "yes" });
    },
  });
  await chat.sendMessage({ text: "Please book it." });
  await until(() => chat.status === "ready" && /booked/.test(text(chat)));
  assert.deepEqual(calls, ["approve"]);
  assert.equal(text(chat), "That costs money, so I ask first.|It is booked.");
  // It is one message, with the output that the client gave.
  assert.equal(chat.messages.length, 2);
  assert.deepEqual(parts(chat, "tool-approve").map((part) => part.output), ["yes"]);
});

test("a tool of the client that fails", async () => {
  const chat = new Chat();
  await chat.sendMessage({ text: "Please book it." });
  const [{ toolCallId }] = parts(chat, "tool-approve");
  await chat.addToolOutput({ tool: "approve", toolCallId, state: "output-error", errorText: "nobody is there" });
  await chat.sendMessage();
  assert.match(text(chat), /Then I leave it\.$/);
});

test("an approval, given and denied", async () => {
  for (const [approved, said, state] of [
    [true, "It is signed.", "output-available"],
    [false, "Then it stays unsigned.", "output-denied"],
  ]) {
    const chat = new Chat({ sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
    await chat.sendMessage({ text: "Sign the lease." });
    const [asked] = parts(chat, "dynamic-tool");
    assert.deepEqual([asked.toolName, asked.state], ["approval", "approval-requested"]);
    assert.equal(asked.input.reason, "May I sign it in your name?");
    await chat.addToolApprovalResponse({ id: asked.approval.id, approved });
    await until(() => chat.status === "ready" && text(chat) !== "");
    assert.equal(text(chat), said);
    assert.deepEqual(parts(chat, "dynamic-tool").map((part) => part.state), [state]);
  }
});

test("a failure", async () => {
  const errors = [];
  const chat = new Chat({ onError: (error) => errors.push(error.message) });
  await chat.sendMessage({ text: "Please fail." });
  assert.equal(chat.status, "error");
  assert.equal(errors.length, 1);
});

test("a stream that was cut is taken up again, and there is none where nothing runs", async () => {
  const id = randomUUID();
  assert.equal(await transport.reconnectToStream({ chatId: id }), null);
  const leave = new AbortController();
  const stream = await transport.sendMessages({
    trigger: "submit-message",
    chatId: id,
    messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "Tell me a story." }] }],
    abortSignal: leave.signal,
  });
  const reader = stream.getReader();
  for (let count = 0; count < 6; count += 1) await reader.read();
  leave.abort();
  const chat = new Chat({ id });
  await chat.resumeStream();
  assert.match(text(chat), /^A courier .* it had been there before me\.$/);
  assert.equal(await transport.reconnectToStream({ chatId: id }), null);
  // A turn that waits for the client does not run.
  const asked = new Chat();
  await asked.sendMessage({ text: "Sign the lease." });
  assert.equal(await transport.reconnectToStream({ chatId: asked.id }), null);
});

/** Reads a stream to its end, and returns the message that it is. */
async function last(stream) {
  let message;
  for await (message of readUIMessageStream({ stream }));
  return message;
}

test("an answer that is sent twice counts once", async () => {
  const chat = new Chat();
  await chat.sendMessage({ text: "Please book it." });
  const [{ toolCallId }] = parts(chat, "tool-approve");
  await chat.addToolOutput({ tool: "approve", toolCallId, output: "yes" });
  const answer = { trigger: "submit-message", chatId: chat.id, messages: structuredClone(chat.messages) };
  const send = () => transport.sendMessages(answer).then(last);
  const [first, second] = await Promise.all([send(), send()]);
  const third = await send();
  for (const { id, parts } of [first, second, third]) {
    assert.equal(id, chat.lastMessage.id);
    assert.equal(parts.findLast((part) => part.type === "text").text, "It is booked.");
  }
});

test("a message that is sent twice is one turn", async () => {
  const send = () =>
    transport.sendMessages({
      trigger: "submit-message",
      chatId: "twice",
      messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "Tell me a story." }] }],
    });
  const [first, second] = await Promise.all([send().then(last), send().then(last)]);
  const third = await send().then(last);
  assert.equal(first.id, second.id);
  assert.deepEqual(first.parts, third.parts);
});

test("another answer to the same", async () => {
  const chat = new Chat();
  await chat.sendMessage({ text: "How is the weather?" });
  const first = chat.lastMessage.id;
  await chat.regenerate();
  assert.equal(chat.messages.length, 2);
  assert.notEqual(chat.lastMessage.id, first);
  assert.equal(text(chat), "I looked it up: 12 degrees and light rain in Oslo");
  await chat.sendMessage({ text: "Hi!" });
  assert.match(text(chat), /^Hello!/);
});

test("who is not let in is told so by a status", async () => {
  const stranger = new DefaultChatTransport({ api, headers: { authorization: "Bearer nobody" } });
  const chat = new Chat({ transport: stranger });
  await chat.sendMessage({ text: "Hi!" });
  assert.match(chat.error.message, /auth_failed/);
});

test("every golden turn is a message", async () => {
  assert.ok(names("chunks").length > 10);
  for (const name of names("chunks")) {
    const end = "data: [DONE]\n\n";
    const { url, close } = await serve(name, "chunks", { "x-vercel-ai-ui-message-stream": "v1" }, end);
    const chat = new Chat({ transport: new DefaultChatTransport({ api: url }) });
    // Where a turn goes on, its message has what was asked.
    if (name === "after_an_answer") {
      const part = { type: "tool-approve", toolCallId: "c1", state: "output-available", input: {}, output: "yes" };
      chat.messages = [{ id: "01REQ", role: "assistant", parts: [part] }];
      await chat.sendMessage();
      assert.equal(chat.messages.length, 1);
    } else {
      await chat.sendMessage({ text: "Hi!" });
    }
    assert.equal(chat.status === "error", name.startsWith("a_failure"), `${name}: ${chat.error}`);
    close();
  }
});

async function until(holds) {
  for (let count = 0; count < 500 && !holds(); count += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.ok(holds());
}
