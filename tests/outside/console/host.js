// A host of the demo with something in it, and a wire to it that can be cut.

import { spawn } from "node:child_process";
import net from "node:net";
import { createInterface } from "node:readline";

/** Names that would do something if a text were ever taken for HTML, or for a part of a command. */
export const HOSTILE = {
  title: '<img src=x onerror="window.harmed=1">',
  text: '<script>window.harmed=1</script> "} ; exit #',
  from: "<svg onload=window.harmed=1>",
  session: "<b onmouseover=window.harmed=1>bold</b>",
};

/** Starts `quixos serve --demo` and returns what it is reached by. */
export async function start() {
  const child = spawn(process.env.QUIXOS, ["--json", "serve", "--demo", "--listen", "127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said = await new Promise((done, fail) => {
    createInterface({ input: child.stdout }).once("line", (line) => done(JSON.parse(line)));
    child.once("exit", (code) => fail(new Error(`the host ended with ${code}`)));
  });
  return {
    clients: said.address,
    operators: said.operator,
    token: said.token,
    operatorToken: said.operator_token,
    stop: () => child.kill("SIGKILL"),
  };
}

/** Runs commands at the operator's door, as another operator. */
export async function shell(host, text, by = "ben") {
  const response = await fetch(`${host.operators}/operator/shell`, {
    method: "POST",
    body: JSON.stringify({ text, yes: true }),
    headers: {
      authorization: `Bearer ${host.operatorToken}`,
      "x-operator": by,
      "content-type": "application/json",
    },
  });
  const lines = (await response.text())
    .split("\n")
    .filter((line) => line.trim())
    .map((line) => JSON.parse(line));
  const failed = lines.find((line) => line.error);
  if (failed) throw new Error(`${JSON.stringify(failed.error)} in ${text.slice(0, 200)}`);
  return lines.filter((line) => "answer" in line).map((line) => line.answer);
}

async function client(host, path, body) {
  const response = await fetch(`${host.clients}/api/client/sessions/${path}`, {
    method: body ? "POST" : "GET",
    body: body && JSON.stringify(body),
    headers: { authorization: `Bearer ${host.token}`, "content-type": "application/json" },
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}

/** Says something in a session, and waits until it is answered, or asks back. */
export async function say(host, session, content, messages) {
  const input = messages
    ? { type: "client.messages", agent_id: "concierge", messages: [...messages, { role: "user", content }] }
    : { type: "client.message", agent_id: "concierge", message: { role: "user", content } };
  await client(host, "input", { session_id: session, input });
  for (let tries = 0; tries < 400; tries += 1) {
    const view = await client(host, encodeURIComponent(session));
    if (!view.turn_id || view.calls.some((call) => call.handler === "client")) return view;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`the turn of ${session} does not end`);
}

/** Puts sessions and requests in several states into the host; returns the references by name. */
export async function seed(host, names = HOSTILE) {
  const first = await say(host, "weather", "How is the weather in Oslo?");
  await say(host, "weather", "And tomorrow, what is the weather?");
  await say(host, "weather", "And what is the weather in Bergen?", first.messages);
  await say(host, "booking", "Please book the night train to Bergen");
  await say(host, "research", "Please research the history of tide tables");
  await say(host, names.session, names.text);
  const send = (thread, text, from) =>
    `call ${thread}.send {text: ${JSON.stringify(text)}, sourceKind: "user", sourceLabel: ${JSON.stringify(from)}, createdAt: $now, contexts: [], causalDepth: 0}`;
  const claim = (request, attempt, generation = 0) =>
    `call ${request}.claim {attempt: "${attempt}", expectedGeneration: ${generation}, startedAt: $now, recover: ${generation > 0}}`;
  // A place of its own, which the demo's engine does not look after.
  await shell(
    host,
    [
      '$room = create workspace {data: {name: "Reading room"}}',
      '$shelves = call $room.install {instructions: "Read closely, answer briefly.", settings: "{}"}',
      'call $shelves.advertise {profiles: \'["fast", "careful"]\', availability: "online"}',
      "$reader = $shelves.defaultAgent",
      'call $reader.update {name: "librarian", description: "Finds and summarises what is on the shelves"}',
      '$keeper = call $shelves.createAgent {name: "archivist", description: "Keeps old things in order", instructions: "", settings: "{}"}',
      "call $keeper.update {enabled: false}",
      ...["Annual report", "Tide tables of 1911", names.title].map(
        (title, at) =>
          `$t${at} = call $reader.createThread {title: ${JSON.stringify(title)}, kind: "chat", createdAt: $now, contexts: []}`,
      ),
      `$asks = ${send("$t0", "Summarise the annual report in five lines", "anna")}`,
      claim("$asks", "runner-7"),
      'call $asks.upsertItem {attempt: "runner-7", generation: 1, data: {key: "outline", kind: "output", text: "1. Revenue\\n2. Costs\\n3. Outlook", phase: "draft", activity: null, presentation: null, sequence: 0, version: 1, createdAt: $now, updatedAt: $now, control: null}}',
      'call $asks.ask {attempt: "runner-7", generation: 1, key: "audience", title: "Who is the summary for?", options: \'["the board", "the public"]\', createdAt: $now, expiresAt: $now+6h}',
      `$waits = ${send("$t0", "And translate it into Norwegian", "anna")}`,
      `$runs = ${send("$t1", "Which harbours are in the tables?", "ben")}`,
      claim("$runs", "runner-3"),
      claim("$runs", "runner-4", 1),
      `$fails = ${send("$t2", names.text, names.from)}`,
      claim("$fails", "runner-3"),
      'call $fails.finish {attempt: "runner-3", generation: 1, status: "failed", reason: "the shelf could not be reached", endedAt: $now}',
    ].join("\n"),
  );
  const objects = async (kind) => (await shell(host, `list ${kind} limit 100`))[0].objects;
  const [requests, sessions, threads, agents] = await Promise.all(
    ["request", "session", "thread", "agent"].map(objects),
  );
  const named = (list, field, text) => list.find((it) => String(it.fields[field]).includes(text)).object;
  const ids = await shell(
    host,
    sessions.map((it) => `get {object: ${it.object}, id: ${it.object}.binding.sessionId}`).join("\n"),
  );
  return {
    asks: named(requests, "text", "Summarise the annual"),
    waits: named(requests, "text", "translate"),
    runs: named(requests, "text", "harbours"),
    fails: requests.find((it) => it.fields.status === "failed").object,
    turn: named(requests, "text", "Bergen?"),
    report: named(threads, "title", "Annual report"),
    librarian: named(agents, "name", "librarian"),
    archivist: named(agents, "name", "archivist"),
    session: (name) => ids.find((it) => it.id === name).object,
  };
}

/** A wire to the host: connections go through until it is cut, and again once it is mended. */
export async function wire(target) {
  const { hostname, port } = new URL(target);
  const open = new Set();
  let cut = false;
  const server = net.createServer((near) => {
    if (cut) return near.destroy();
    const far = net.connect(Number(port), hostname);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => {}).on("close", () => (open.delete(socket), near.destroy(), far.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    cut: () => ((cut = true), open.forEach((socket) => socket.destroy())),
    mend: () => (cut = false),
    close: () => (server.close(), open.forEach((socket) => socket.destroy())),
  };
}
