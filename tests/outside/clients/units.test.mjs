// What the TypeScript client makes of bytes and of events, without a host.

import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";
import {
  Client,
  ConnectionError,
  Content,
  RequestError,
  SseParser,
} from "../../../clients/typescript/dist/index.js";

/** Parses a stream that comes in pieces of a size. */
function parsed(text, size) {
  const parser = new SseParser();
  const frames = [];
  for (let at = 0; at < text.length; at += size) frames.push(...parser.push(text.slice(at, at + size)));
  return { frames, parser };
}

test("events are the same wherever a stream is cut, and however its lines end", () => {
  const text = "\uFEFF: hi\n\nretry: 70\nid: 1\nevent: a\ndata: x\ndata:  y\n\nid: 2\n\ndata\n\nid\ndata:z\n\n";
  const expected = [
    { lastEventId: "1", event: "a", data: "x\n y" },
    { lastEventId: "2", event: "message", data: "" },
    { lastEventId: "", event: "message", data: "z" },
  ];
  for (const end of ["\n", "\r\n", "\r"]) {
    for (let size = 1; size < 20; size += 1) {
      // What ends with CR may go on with LF: the last line is only known with what comes next.
      const { frames, parser } = parsed(text.replaceAll("\n", end) + ":", size);
      assert.deepEqual(frames, expected);
      assert.equal(parser.retry, 70);
    }
  }
});

const about = { requestId: "r", messageId: "m", blockId: "b", timestamp: "2026-01-01T00:00:00Z" };
const text = (fields) => ({ event: "text", ...about, ...fields });

test("a block that is sent again replaces what was there", () => {
  const content = new Content();
  const events = [
    text({ stage: "start", blockIndex: 0 }),
    text({ stage: "delta", delta: "Hel", deltaIndex: 0 }),
    text({ stage: "start", blockIndex: 0 }),
    text({ stage: "delta", delta: "Hello", deltaIndex: 0 }),
    text({ stage: "delta", delta: "Hello", deltaIndex: 0 }),
    text({ stage: "stop" }),
  ];
  for (const event of events) assert.ok(content.apply(event));
  assert.deepEqual(content.content, [{ type: "text", text: "Hello" }]);
});

test("a gap is noticed", () => {
  const content = new Content();
  assert.equal(content.apply(text({ stage: "delta", delta: "x", deltaIndex: 0 })), false);
  content.apply(text({ stage: "start", blockIndex: 0 }));
  assert.equal(content.apply(text({ stage: "delta", delta: "x", deltaIndex: 1 })), false);
  assert.equal(content.text, "");
});

test("what was not answered is sent again under its key, and given up at last", async () => {
  const patience = { first: 1, longest: 2, tries: 3 };
  const asked = [];
  const fetch = async (url, { method, headers }) => {
    asked.push([method, headers["idempotency-key"]]);
    throw new TypeError("nobody is there");
  };
  const client = new Client({ url: "http://host", token: "t", patience, fetch });
  await assert.rejects(client.send("a", "hi").finished(), (error) => {
    assert.ok(error instanceof ConnectionError);
    return error.requestId === undefined;
  });
  assert.equal(asked.length, 4);
  const [[, key]] = asked;
  assert.match(key, /^[0-9a-f]{32}$/);
  assert.ok(asked.every(([method, same]) => method === "POST" && same === key), JSON.stringify(asked));
});

test("what is sent again is the same bytes, whatever has become of its parts", async () => {
  const patience = { first: 1, longest: 2, tries: 3 };
  const context = { seen: 0 };
  const bodies = [];
  const fetch = async (url, { body }) => {
    bodies.push(body);
    context.seen += 1;
    throw new TypeError("nobody is there");
  };
  const client = new Client({ url: "http://host", token: "t", patience, fetch });
  const turn = client.send("a", "hi", { context });
  context.seen += 1;
  await assert.rejects(turn.finished(), ConnectionError);
  assert.equal(bodies.length, 4);
  assert.deepEqual(JSON.parse(bodies[0]).context, { seen: 0 });
  assert.equal(new Set(bodies).size, 1, bodies.join());
});

test("what no further try mends is told as it is, at once", async () => {
  const refused = new Error("nobody is signed in");
  const asked = { token: 0, fetch: 0 };
  const token = async () => {
    asked.token += 1;
    if (asked.token === 1) throw refused;
    return "t";
  };
  const fetch = async () => {
    asked.fetch += 1;
    throw new TypeError("nobody is there");
  };
  const send = (url, key) => new Client({ url, token, fetch }).send("a", "hi", { key }).finished();
  await assert.rejects(send("http://host", "k"), (error) => error === refused);
  await assert.rejects(send("http://ho st", "k"), TypeError);
  await assert.rejects(send("http://host", "no header \u2602"), TypeError);
  assert.deepEqual(asked, { token: 3, fetch: 0 });
});

test("a host that never was there is given up soon, one that was is waited for", async () => {
  const patience = { first: 1, longest: 2 };
  for (const [answers, asks] of [[[], 5], [[() => new Response("")], 13]]) {
    let asked = 0;
    const fetch = async () => {
      const answer = answers[asked++];
      if (answer) return answer();
      throw new TypeError("nobody is there");
    };
    const client = new Client({ url: "http://host", token: "t", patience, fetch });
    await assert.rejects(client.send("a", "hi").finished(), ConnectionError);
    assert.equal(asked, asks);
  }
});

test("what is refused at once is the caller's, and behind a lost answer it is tried again", async () => {
  const patience = { first: 1, longest: 2, tries: 3 };
  const busy = () => new Response(JSON.stringify({ event: "error", retryable: true }), { status: 503 });
  const lost = () => {
    throw new TypeError("nobody is there");
  };
  for (const [answers, asks] of [[[busy], 1], [[lost, busy, busy, busy], 4]]) {
    let asked = 0;
    const fetch = async () => answers[asked++]();
    const client = new Client({ url: "http://host", token: "t", patience, fetch });
    await assert.rejects(client.send("a", "hi").finished(), (error) => {
      assert.equal(error instanceof RequestError, asks === 1, String(error));
      return true;
    });
    assert.equal(asked, asks);
  }
});

/** Starts what takes connections, until the test is over, and gives its address. */
async function listening(t, taken) {
  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    taken(socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

test("a host that takes the connection and says nothing, or never ends, is left", async (t) => {
  const patience = { first: 1, longest: 2, tries: 3, silence: 30 };
  const left = [];
  let said = "";
  const url = await listening(t, (socket) => {
    socket.once("data", () => {
      left.push(once(socket.resume(), "close"));
      socket.write(said);
    });
  });
  const client = new Client({ url, token: "t", patience });
  // Also where the caller has a signal, which is left as it was.
  const { signal } = new AbortController();
  await assert.rejects(client.send("a", "hi", { signal }).finished(), (error) => {
    assert.match(String(error.cause), /nothing was heard for 30 ms/);
    return error instanceof ConnectionError;
  });
  assert.equal(signal.aborted, false);
  await assert.rejects(client.call({ method: "GET", path: "/v1/threads" }), /nothing was heard/);
  said = "HTTP/1.1 403 Forbidden\r\ncontent-length: 9\r\n\r\nno";
  await assert.rejects(client.send("a", "hi").finished(), (error) => {
    return error instanceof RequestError && error.status === 403;
  });
  assert.equal(left.length, 6);
  await Promise.all(left);
});

test("whoever calls off a request that is not answered is let go at once", async (t) => {
  const leave = new AbortController();
  const url = await listening(t, (socket) => {
    socket.once("data", () => leave.abort(new Error("enough")));
  });
  const turn = new Client({ url, token: "t" }).send("a", "hi", { signal: leave.signal });
  await assert.rejects(turn.finished(), /enough/);
});

test("a host that never answers is given up, and silence is a broken line", async () => {
  const patience = { first: 1, longest: 2, tries: 3, silence: 20 };
  const asked = [];
  const fetch = async (url, { headers }) => {
    asked.push(headers["last-event-id"]);
    if (asked.length > 1) throw new TypeError("nobody is there");
    const data = JSON.stringify({ ...about, event: "metadata", threadId: "t", agentId: "a" });
    const bytes = new TextEncoder().encode(`id: 5\ndata: ${data}\n\n`);
    // It is never closed, and says nothing any more.
    return new Response(new ReadableStream({ start: (it) => it.enqueue(bytes) }));
  };
  const turn = new Client({ url: "http://host", token: async () => "t", patience, fetch }).send("a", "hi");
  await assert.rejects(turn.finished(), (error) => {
    assert.ok(error instanceof ConnectionError);
    return error.requestId === "r";
  });
  assert.deepEqual(asked, [undefined, "5", "5", "5"]);
});
