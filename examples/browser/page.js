// A conversation with the demo, streamed into a page.
//
// `quixos serve --demo` serves this folder and prints its address; the token stands behind the `#`,
// which a browser sends to nobody. What is shown is what the client has put together: nothing here
// knows of connections.

import { Client, RequestError } from "./client/index.js";

const AGENT = "concierge";
const token = location.hash.slice(1);
const at = Object.fromEntries(
  ["talk", "say", "text", "state", "cut", "stop", "fresh"].map((id) => [id, document.getElementById(id)]),
);

/** The connection that is open, to be cut for show. */
let line = new AbortController();
const client = new Client({
  url: location.origin,
  token,
  patience: { first: 600 },
  fetch: (url, init) => {
    line = new AbortController();
    return fetch(url, { ...init, signal: AbortSignal.any([init.signal, line.signal]) });
  },
});

let threadId = sessionStorage.getItem("thread") ?? undefined;
let running;

function element(name, className, text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

function show(made) {
  at.talk.append(made);
  made.scrollIntoView({ block: "end" });
  return made;
}

/** Shows a block as it stands. */
function blockOf({ kind, text, open, tool, args, status, summary }) {
  switch (kind) {
    case "tool_call": {
      const made = element("div", "tool");
      made.append(element("code", open ? "open" : "", `${tool}(${args ? JSON.stringify(args) : text})`));
      return made;
    }
    case "tool_result": {
      const word = status === "error" ? "failed" : "done";
      return element("div", status === "error" ? "tool wrong" : "tool", `${tool}: ${summary ?? word}`);
    }
    default:
      return element("div", open ? `${kind} open` : kind, text);
  }
}

/** Says how often the line of a turn broke, if it did. */
function broken({ reconnects }) {
  if (reconnects === 0) return "";
  return reconnects === 1 ? ", after one reconnect" : `, after ${reconnects} reconnects`;
}

/** Follows a turn, and shows what it says. */
async function follow(turn) {
  running = turn;
  at.state.textContent = "streaming";
  const shown = show(element("div", "agent"));
  const draw = () => {
    shown.replaceChildren(...turn.message.blocks.map(blockOf));
    at.state.textContent = "streaming" + broken(turn);
    shown.scrollIntoView({ block: "end" });
  };
  let due = false;
  try {
    for await (const _ of turn) {
      if (turn.threadId && turn.threadId !== threadId) {
        threadId = turn.threadId;
        sessionStorage.setItem("thread", threadId);
      }
      if (due) continue;
      due = true;
      requestAnimationFrame(() => {
        due = false;
        if (!turn.message.end) draw();
      });
    }
    draw();
    const { end, continuations } = turn.message;
    if (end?.event === "error") shown.append(element("div", "wrong", end.message));
    if (end?.event === "aborted") shown.append(element("div", "tool", "stopped"));
    at.state.textContent = "ready" + broken(turn);
    if (end?.finishReason === "action_required") ask(continuations);
  } catch (error) {
    const told = error instanceof RequestError ? `${error.status}: ${error.message}` : String(error);
    shown.append(element("div", "wrong", told));
    at.state.textContent = "ready";
  } finally {
    running = undefined;
    buttons();
  }
}

/** Asks what a turn waits for, and goes on with it when all is answered. */
function ask(continuations) {
  const results = [];
  for (const { actionId, kind, payload } of continuations) {
    const question = payload.payload?.args?.question ?? payload.reason;
    const asked = show(element("div", "ask", question));
    const answers = kind === "approval" ? [{ approved: true }, { approved: false }] : ["yes", "no"];
    const buttons = answers.map((data, index) => {
      const button = element("button", "", index === 0 ? "Yes" : "No");
      button.onclick = () => {
        for (const other of buttons) other.disabled = true;
        results.push({ actionId, kind, status: "success", data });
        if (results.length === continuations.length) start(client.answer(AGENT, threadId, results));
      };
      return button;
    });
    asked.append(...buttons);
    buttons[0].focus();
  }
}

function buttons() {
  at.cut.disabled = at.stop.disabled = !running;
  at.say.querySelector("button").disabled = Boolean(running);
}

function start(turn) {
  const followed = follow(turn);
  buttons();
  return followed;
}

at.say.onsubmit = (event) => {
  event.preventDefault();
  const text = at.text.value.trim();
  if (!text || running) return;
  at.text.value = "";
  show(element("div", "user", text));
  start(client.send(AGENT, text, { threadId }));
};
at.cut.onclick = () => line.abort();
at.stop.onclick = () => running?.abort().catch((error) => (at.state.textContent = error.message));
at.fresh.onclick = () => {
  sessionStorage.removeItem("thread");
  location.reload();
};

/** Shows the thread as it was when the page was left, and goes on with what still runs. */
async function load() {
  if (!threadId) return;
  try {
    const response = await client.call({ method: "GET", path: `/v1/threads/${threadId}` });
    const { messages, state, requestId, waitingFor } = await response.json();
    for (const { role, content } of messages) {
      if (role === "user") {
        show(element("div", "user", content.map((block) => block.text).join("")));
        continue;
      }
      const shown = show(element("div", "agent"));
      for (const { type, ...block } of content) {
        const kind = type === "tool_use" ? "tool_call" : type;
        shown.append(blockOf({ kind, open: false, ...block }));
      }
    }
    if (state === "waiting") ask(waitingFor);
    else if (state === "running" && requestId) await start(client.follow(requestId));
  } catch (error) {
    sessionStorage.removeItem("thread");
    threadId = undefined;
    at.state.textContent = error.message;
  }
}

buttons();
if (token) load();
else at.state.textContent = "no token: open the address that `quixos serve --demo` prints";
