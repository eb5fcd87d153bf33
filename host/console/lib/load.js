// What views are made of, as commands of the shell. Every figure comes by one of these.

import { idOf, isReference, kindOf, same, short } from "./reference.js";
import { options, Raw } from "./words.js";

/** Rows that are loaded at a time. */
export const PAGE = 200;

/** What is looked up of each row of a list, by the kind of its objects. */
const ROW = {
  request: {
    status: "progress.status",
    reason: "progress.reason",
    generation: "progress.generation",
    retries: "progress.retryCount",
    cancelRequested: "progress.cancelRequested",
    startedAt: "progress.startedAt",
    endedAt: "progress.endedAt",
    text: "admission.text",
    createdAt: "admission.createdAt",
    source: "admission.sourceKind",
    from: "admission.sourceLabel",
    thread: "thread",
    agent: "thread.agent",
    agentName: "thread.agent.data.name",
  },
  thread: {
    title: "data.title",
    kind: "data.kind",
    archived: "data.archived",
    pending: "data.pending",
    updatedAt: "data.updatedAt",
    active: "active",
    agent: "agent",
    agentName: "agent.data.name",
  },
  agent: {
    name: "data.name",
    description: "data.description",
    enabled: "data.enabled",
    directory: "directory",
  },
  directory: {
    availability: "data.availability",
    profiles: "data.profiles",
    pending: "data.pending",
    ordinary: "data.ordinaryPending",
    untold: "data.notificationPending",
    agent: "defaultAgent",
  },
  session: {
    sessionId: "binding.sessionId",
    agentId: "binding.agentId",
    owner: "binding.ownerId",
    tenant: "binding.tenant",
    createdAt: "binding.createdAt",
    messages: "data.nodes",
    done: "data.done",
    cancelled: "data.cancelled",
    turn: "data.turn",
    cost: "data.usage.cost",
    live: "live",
    parent: "parent",
    thread: "thread",
  },
  question: {
    key: "data.key",
    title: "data.title",
    status: "data.status",
    createdAt: "data.createdAt",
    expiresAt: "data.expiresAt",
    data: "data",
    request: "request",
  },
  item: { data: "data" },
};

/** The command that looks a row up; every answer bears its object. */
export function rowCommand(reference) {
  const at = short(reference);
  const fields = Object.entries(ROW[kindOf(reference)] ?? {}).map(([name, path]) => `${name}: ${at}.${path}`);
  return `get {reference: ${[at, ...fields].join(", ")}}`;
}

/** Looks rows up, many at once. */
export async function rows(door, references, signal) {
  if (references.length === 0) return [];
  return door.run(references.map(rowCommand).join("\n"), { signal });
}

/** A page of the objects of a kind, the newest first: `{objects, more, next}`. */
export function newest(door, kind, after, limit, signal) {
  return door.ask(`list ${kind}${options({ limit, after: after && new Raw(short(after)) })} --newest`, {
    signal,
  });
}

/** All objects of a kind that there are few of. */
export async function all(door, kind, signal) {
  const found = [];
  for (let after = null; ; ) {
    const page = await door.ask(
      `list ${kind}${options({ limit: PAGE, after: after && new Raw(short(after)) })}`,
      { signal },
    );
    found.push(...page.objects.map((it) => it.object));
    if (!page.more || found.length >= 5000) return found;
    after = page.next;
  }
}

/** The requests that have not ended, the newest first. */
export async function pending(door, signal) {
  const directories = await all(door, "directory", signal);
  const answers = directories.length
    ? await door.run(directories.map((it) => `get ${short(it)}.pending`).join("\n"), { signal })
    : [];
  const found = answers.flatMap(list).sort((one, other) => (idOf(one) < idOf(other) ? 1 : -1));
  return { directories, requests: found };
}

/** The targets of an edge, keyed or not, as a list. */
export function list(edge) {
  if (isReference(edge)) return [edge];
  return Object.values(edge ?? {}).flat();
}

/** The questions of requests, with their requests: those that are open first. */
export async function questionsOf(door, requests, signal) {
  if (requests.length === 0) return [];
  const edges = await door.run(requests.map((it) => `get ${short(it)}.questions`).join("\n"), { signal });
  return rows(door, edges.flatMap(list), signal);
}

/** The part of an answer of `show` that all objects have. */
export function show(door, reference, signal) {
  return door.ask(`show ${short(reference)}`, { signal });
}

/** The history, the newest last; `filter` has `actor`, `operation`, `on`, `touching`, `before`. */
export function history(door, { on, touching, before, ...filter }, limit, signal) {
  const given = {
    limit,
    before: before ? Number(before) : null,
    on: on && new Raw(short(on)),
    touching: touching && new Raw(short(touching)),
  };
  return door.ask(`history${options({ ...given, ...filter })}`, { signal });
}

/** All that is known of a request. */
export async function request(door, reference, signal) {
  const at = short(reference);
  const [row, explained, history, items, questions, states, contexts] = await door.run(
    [
      rowCommand(reference),
      `explain ${at}`,
      `history touching ${at} limit ${PAGE}`,
      `get ${at}.items`,
      `get ${at}.questions`,
      `get {admission: ${at}.admission, progress: ${at}.progress, related: ${at}.related, retryOf: ${at}.retryOf, root: ${at}.root, correction: ${at}.correction, directory: ${at}.directory, title: ${at}.thread.data.title}`,
      `get ${at}.contexts`,
    ].join("\n"),
    { signal },
  );
  const [written, asked] = [
    await rows(door, list(items).slice(-PAGE), signal),
    await rows(door, list(questions), signal),
  ];
  const ends = await settled(door, asked, signal);
  const session = await sessionOf(door, row.thread, history, signal);
  const log = session ? await turnLog(door, session, reference, states, signal) : { events: [], turn: null };
  return {
    reference,
    row,
    explained,
    history,
    ...states,
    session,
    ...log,
    contexts: list(contexts).map(short),
    items: written.sort((one, other) => one.data.sequence - other.data.sequence),
    questions: asked.map((it, index) => ({ ...it, settled: ends[index] })),
  };
}

/** When each question was settled, as the history says. */
async function settled(door, questions, signal) {
  const over = questions.filter((it) => it.status !== "open");
  if (over.length === 0) return questions.map(() => null);
  const found = await door.run(
    over.map((it) => `history touching ${short(it.reference)} limit 1`).join("\n"),
    { signal },
  );
  const at = new Map(over.map((it, index) => [it.reference, found[index][0]?.instant ?? null]));
  return questions.map((it) => at.get(it.reference) ?? null);
}

/** The session whose thread this is, if there is one: it is among those that changed the request. */
async function sessionOf(door, thread, history, signal) {
  const seen = history.flatMap((entry) => [entry.on, ...entry.touched.map((it) => it.object)]);
  const sessions = [...new Set(seen.filter((it) => kindOf(it) === "session"))];
  if (sessions.length === 0) return null;
  const threads = await door.run(sessions.map((it) => `get ${short(it)}.thread`).join("\n"), { signal });
  return sessions[threads.indexOf(thread)] ?? null;
}

/** The events of the session's log that belong to a request's turn, and the turn's id. */
async function turnLog(door, session, reference, { admission, progress }, signal) {
  const at = short(session);
  const turns = await door.ask(`get ${at}.turns`, { signal });
  const turn = Object.entries(turns).find(([, it]) => same(it, reference))?.[0] ?? null;
  const read = async (from, limit) => door.ask(`read ${at}.events${options({ from, limit })}`, { signal });
  const { length } = await read(0, 1);
  let from = await firstAt(
    length,
    admission.createdAt,
    async (offset) => (await read(offset, 1)).events[0].instant,
  );
  const events = [];
  while (from < length && events.length < 5000) {
    const page = await read(from, 500);
    events.push(
      ...page.events.filter(
        (it) =>
          it.event.turn === turn || (it.event.turn === null && /^call\.|^decision\./.test(it.event.type)),
      ),
    );
    from = page.next;
    if (page.events.length === 0 || (progress.endedAt && page.events.at(-1).instant > progress.endedAt))
      break;
  }
  return { turn, events };
}

/** The first of `length` events that is not before an instant; `instantOf` looks one up. */
export async function firstAt(length, instant, instantOf) {
  const limit = Date.parse(instant);
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Date.parse(await instantOf(middle)) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** All that is known of a session. */
export async function session(door, reference, signal) {
  const at = short(reference);
  const [states, view, log, explained] = await door.run(
    [
      `get {binding: ${at}.binding, data: ${at}.data, live: ${at}.live, agent: ${at}.agent, thread: ${at}.thread, parent: ${at}.parent, request: ${at}.request, children: ${at}.children, waiting: ${at}.waiting, title: ${at}.thread.data.title}`,
      `call ${at}.view`,
      `read ${at}.events limit 1`,
      `session explain ${at}`,
    ].join("\n"),
    { signal },
  );
  return { reference, ...states, view: JSON.parse(view), events: log.length, explained };
}

/** What is known by name, for the search. */
export async function names(door, signal) {
  const [agents, sessions, threads] = await Promise.all([
    newest(door, "agent", null, PAGE, signal),
    newest(door, "session", null, PAGE, signal),
    newest(door, "thread", null, PAGE, signal),
  ]);
  const found = await rows(
    door,
    [...agents.objects, ...sessions.objects, ...threads.objects].map((it) => it.object),
    signal,
  );
  return found.map((it) => ({ reference: it.reference, name: it.name ?? it.sessionId ?? it.title ?? "" }));
}

/** Whether an object's kind has rows of its own. */
export function hasRows(kind) {
  return kind in ROW;
}
