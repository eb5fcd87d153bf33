// What an operator can do to what is shown: for each a command of the shell, which is first run dry.
//
// `fields` are asked for before; `command` makes the command of what was filled in, or `null` while
// something is missing. `key` is the key that begins it on the page of the object.

import { call, NOW, Raw, string, value } from "./words.js";
import { unpacked } from "./text.js";

const OVER = new Set(["completed", "failed", "cancelled"]);

/** Of a request: `{reference, progress, thread, root, contexts}`. */
export function ofRequest({ reference, progress, thread, root, contexts = [] }, operator) {
  if (!OVER.has(progress.status)) {
    if (progress.cancelRequested) return [];
    const note =
      progress.status === "queued"
        ? "It is queued: it ends at once."
        : "It is held: its runner is asked to stop, and ends it as it can.";
    return [
      {
        key: "c",
        label: "Cancel",
        title: "Cancel this request",
        danger: true,
        note,
        command: () => call(reference, "cancel"),
      },
    ];
  }
  const again = {
    text: path(reference, "admission.text"),
    data: path(reference, "admission.data"),
    response: path(reference, "admission.responseKind"),
    publication: path(reference, "admission.publication"),
    sourceKind: "operator",
    sourceLabel: operator,
    createdAt: NOW,
    contexts: contexts.map((it) => new Raw(it)),
    related: new Raw(reference),
    retryOf: new Raw(reference),
    root: new Raw(root ?? reference),
    causalDepth: path(reference, "admission.causalDepth"),
  };
  return [
    {
      key: "r",
      label: "Retry",
      title: "Ask for the same again",
      note: "A new request with the same text is admitted to the same thread.",
      command: () => call(thread, "send", again),
    },
  ];
}

function path(reference, rest) {
  return new Raw(`${reference}.${rest}`);
}

/** Of a question: `{reference, data, request: progress}`. */
export function ofQuestion({ reference, data }) {
  if (data.status !== "open") return [];
  const options = unpacked(data.options || "[]");
  const choices = Array.isArray(options) ? options : [];
  const answer = ({ answer }) =>
    answer === ""
      ? null
      : call(reference, "answer", {
          answer,
          attempt: path(reference, "data.attempt"),
          generation: path(reference, "data.generation"),
          answeredAt: NOW,
        });
  return [
    {
      key: "a",
      label: "Answer",
      title: data.title || "Answer this question",
      primary: true,
      fields: [{ name: "answer", label: "Answer", options: choices, lines: 3 }],
      command: answer,
    },
    {
      label: "Take back",
      title: "Take this question back",
      danger: true,
      note: "The request goes on waiting until its runner moves it.",
      command: () => call(reference, "cancel"),
    },
  ];
}

/** Of a thread: `{reference, data}`. */
export function ofThread({ reference, data }, operator) {
  const archive = data.archived
    ? {
        label: "Bring back",
        title: "Bring this thread back",
        command: () => call(reference, "archive", false),
      }
    : {
        label: "Archive",
        title: "Archive this thread",
        danger: true,
        note: "What is queued or running in it goes on; nothing new is admitted.",
        command: () => call(reference, "archive", true),
      };
  const send = ({ text }) =>
    text.trim() === ""
      ? null
      : call(reference, "send", {
          text,
          sourceKind: "user",
          sourceLabel: operator,
          createdAt: NOW,
          contexts: [],
          causalDepth: 0,
        });
  return [
    {
      key: "m",
      label: "Send",
      title: "Send a message to this thread",
      fields: [{ name: "text", label: "Message", lines: 4 }],
      command: send,
    },
    {
      key: "e",
      label: "Rename",
      title: "Rename this thread",
      fields: [{ name: "title", label: "Title", value: data.title }],
      command: ({ title }) => (title === data.title ? null : call(reference, "rename", title)),
    },
    { key: "x", ...archive },
  ];
}

/** Of an agent: `{reference, data}`. */
export function ofAgent({ reference, data }) {
  const enable = data.enabled
    ? {
        label: "Disable",
        title: "Disable this agent",
        danger: true,
        note: "It admits nothing new; what is queued or running goes on.",
        command: () => call(reference, "update", { enabled: false }),
      }
    : {
        label: "Enable",
        title: "Enable this agent",
        command: () => call(reference, "update", { enabled: true }),
      };
  return [
    {
      key: "e",
      label: "Rename",
      title: "Rename this agent",
      note: "Sessions find their agent by its name: a renamed agent is another one to them.",
      fields: [
        { name: "name", label: "Name", value: data.name },
        { name: "description", label: "Description", value: data.description },
      ],
      command: ({ name, description }) => {
        const changed = {
          name: name === data.name ? undefined : name,
          description: description === data.description ? undefined : description,
        };
        return name === "" || (changed.name === undefined && changed.description === undefined)
          ? null
          : call(reference, "update", changed);
      },
    },
    { key: "x", ...enable },
  ];
}

/** Of a session: `{reference, data, live, request}`. */
export function ofSession({ reference, data, live, request }) {
  if (data.cancelled) return [];
  const actions = live.interrupts.map((open) => ({
    label: "Resume",
    title: `Resume: ${open.reason}`,
    primary: true,
    fields: [{ name: "payload", label: "What to go on with (JSON or text)", value: "", lines: 2 }],
    command: ({ payload }) => answer(reference, open.id, payload),
  }));
  if (request) {
    actions.push({
      key: "c",
      label: "Cancel turn",
      title: "Cancel the turn that is active",
      danger: true,
      command: () => `session cancel ${reference} turn ${string(data.turn?.id)}`,
    });
  }
  actions.push({
    key: "p",
    label: "Pause",
    title: "Pause this conversation",
    note: "New turns are refused until it is resumed; model calls under way are voided.",
    fields: [{ name: "reason", label: "Reason", value: "operator" }],
    command: ({ reason }) => (reason === "" ? null : `session pause ${reference} ${string(reason)}`),
  });
  actions.push({
    label: "Cancel session",
    title: "Cancel this session for good",
    danger: true,
    note: "It takes nothing any more, and its thread is archived.",
    command: () => `session close ${reference}`,
  });
  return actions;
}

/** Of a call that the client of a session runs: the operator answers in its place. */
export function ofClientCall({ reference }, open) {
  return [
    {
      label: "Answer",
      title: `Answer ${open.name ?? open.id} for the client`,
      primary: true,
      fields: [{ name: "result", label: "Result (JSON or text)", lines: 3 }],
      command: ({ result }) => (result === "" ? null : answer(reference, open.id, result)),
    },
  ];
}

/** An answer to what a session waits for; what is no JSON is a text. */
function answer(session, id, given) {
  return `session answer ${session} ${string(id)}${given === "" ? "" : ` ${value(unpacked(given))}`}`;
}
