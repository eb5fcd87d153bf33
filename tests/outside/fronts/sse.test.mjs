// EventSource and its parser, as others wrote them, on the streams of the host: run by
// tests/outside/sse.sh.

import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { EventSource } from "eventsource";
import { createParser } from "eventsource-parser";

const { URL: host, TOKEN: token } = process.env;
const NAMES = ["metadata", "text", "thinking", "tool_call", "tool_result", "continuation", "done", "error", "aborted"];
const headers = { authorization: `Bearer ${token}` };

/** Says something, and returns the response. */
function say(text) {
  const body = JSON.stringify({ messages: [{ content: [{ type: "text", text }] }] });
  return fetch(`${host}/v1/agents/concierge/stream`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", accept: "text/event-stream" },
    body,
  });
}

async function parse(response) {
  const events = [];
  const parser = createParser({
    onEvent: (event) => events.push({ ...event, data: JSON.parse(event.data) }),
    onError: (error) => assert.fail(error.message),
  });
  const decoder = new TextDecoder();
  for await (const chunk of response.body) parser.feed(decoder.decode(chunk, { stream: true }));
  return events;
}

test("the parser reads a turn: names, ids where something is recorded, none on deltas", async () => {
  const response = await say("How is the weather?");
  assert.match(response.headers.get("content-type"), /^text\/event-stream/);
  const events = await parse(response);
  assert.equal(events.at(-1).event, "done");
  for (const { event, id, data } of events) {
    assert.equal(event, data.event);
    assert.equal(id === undefined, data.stage === "delta", JSON.stringify(data));
  }
});

test("EventSource comes back by itself with the last id, and misses nothing", { timeout: 60_000 }, async () => {
  const whole = await parse(await say("Tell me a story."));
  const wanted = whole.at(-1).data.content;
  const begun = await say("Tell me a story.");
  const { value } = await begun.body.getReader().read();
  const { requestId } = JSON.parse(new TextDecoder().decode(value).match(/data: ?(.*)/)[1]);
  // A line that breaks after some bytes, again and again, and holds in the end.
  const { hostname, port } = new URL(host);
  let opens = 0;
  const lastIds = [];
  const server = net.createServer((client) => {
    opens += 1;
    const upstream = net.connect(Number(port), hostname);
    let left = opens < 5 ? 2000 : Infinity;
    const end = () => (client.destroy(), upstream.destroy());
    client.on("error", end).on("close", end).on("data", (chunk) => {
      lastIds.push(/last-event-id: (.*)/i.exec(chunk)?.[1]?.trim());
      upstream.write(chunk);
    });
    upstream.on("error", end).on("close", end).on("data", (chunk) => {
      client.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) setImmediate(end);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/v1/requests/${requestId}/stream`;
  const source = new EventSource(url, { fetch: (at, init) => fetch(at, { ...init, headers: { ...init.headers, ...headers } }) });
  const texts = new Map();
  const done = await new Promise((resolve) => {
    for (const name of NAMES) {
      source.addEventListener(name, ({ data }) => {
        const event = JSON.parse(data ?? "null");
        if (!event) return;
        if (event.stage === "start") texts.set(event.blockId, "");
        if (event.stage === "delta") texts.set(event.blockId, texts.get(event.blockId) + event.delta);
        if (name === "done") resolve(event);
      });
    }
  });
  source.close();
  server.close();
  assert.ok(opens > 1 && lastIds.slice(1).some(Boolean), `${opens} ${lastIds}`);
  assert.deepEqual(done.content, wanted);
  assert.deepEqual([...texts.values()], wanted.map((block) => block.text));
});
