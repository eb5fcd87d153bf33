// The life of a request, from what is stored of it: lanes of bars for what took time, and moments.
//
// A request of a session is told by the session's log; one that a worker runs by hand, by the
// history. Nothing is asked for here; `now` ends what has not ended.

import { brief, line, said, unpacked } from "./text.js";
import { instant, span } from "./time.js";

const CALL = /^(llm\.call|tool\.call|sub_agent)\.(requested|dispatched|completed|turn_completed|errored)$/;
/** Marks on the axis at most. */
const MARKS = 6;
/** How far along the axis, as a part of it, a label still has room to its right. */
const LABELLED = 0.85;

/**
 * Puts a timeline together. `questions` are `{reference, data, settled}`, `items`
 * `{reference, data}`, `history` entries as the shell prints them, `events` those of the session's
 * log that belong to the turn.
 */
export function timeline({
  admission,
  progress,
  questions = [],
  items = [],
  history = [],
  events = [],
  now,
}) {
  const lanes = new Map();
  const moments = [];
  const lane = (key, kind, label) => {
    if (!lanes.has(key)) lanes.set(key, { key, kind, label, bars: [] });
    return lanes.get(key);
  };
  const say = (at, kind, title, rest = {}) =>
    moments.push({ at: instant(at), kind, title, detail: "", tone: "plain", ...rest });

  say(admission.createdAt, "request", "Admitted", {
    detail: `from ${admission.sourceKind}${admission.sourceLabel ? ` ${admission.sourceLabel}` : ""}`,
  });
  attempts({ progress, history, lane });
  for (const question of questions) asked(question, lane, say);
  const told = events.length > 0;
  if (told) logged(events, lane, say);
  else for (const item of items) wrote(item, say);
  for (const entry of history) {
    // What an engine did step by step is in the session's log.
    if (told && /^(Session|SessionRegistry)\./.test(entry.what)) continue;
    if (/\.send$|^AgentDirectory\.admit$|^Agent\.(request|tryRequest)$/.test(entry.what)) continue;
    say(entry.instant, "commit", entry.what, {
      who: entry.actor,
      commit: entry.commit,
      tone: /cancel|finish/.test(entry.what) ? "strong" : "plain",
    });
  }
  if (progress.endedAt) {
    const tone = { completed: "ok", failed: "bad", cancelled: "mute" }[progress.status] ?? "plain";
    say(progress.endedAt, "request", word(progress.status), { detail: progress.reason ?? "", tone });
  }

  const all = [...lanes.values()].filter((it) => it.bars.length);
  const times = [
    ...moments.map((it) => it.at),
    ...all.flatMap((it) => it.bars.flatMap((bar) => [bar.from, bar.to])),
  ].filter((it) => it !== null);
  const start = Math.min(...times);
  const end = progress.endedAt ? Math.max(...times) : Math.max(now, ...times);
  for (const it of all)
    for (const bar of it.bars) {
      bar.open = bar.to === null;
      bar.to ??= end;
    }
  all.sort((one, other) => rank(one) - rank(other) || one.bars[0].from - other.bars[0].from);
  moments.sort((one, other) => one.at - other.at);
  return { start, end, lanes: all, moments };
}

function rank(lane) {
  return ["attempt", "decision"].indexOf(lane.kind) + 1 || 3;
}

/** Who held the request: from each claim to the next, or to the end. */
function attempts({ progress, history, lane }) {
  const claims = history.filter((it) => it.operation === "request_claim").map((it) => instant(it.instant));
  const held = instant(progress.startedAt);
  if (held !== null && !claims.some((it) => Math.abs(it - held) < 1000)) claims.push(held);
  claims.sort((one, other) => one - other);
  const ended = instant(progress.endedAt);
  const first = Math.max(1, progress.generation - claims.length + 1);
  claims.forEach((from, at) => {
    const newest = at === claims.length - 1;
    lane("attempt", "attempt", "attempts").bars.push({
      from,
      to: newest ? ended : claims[at + 1],
      tone: newest
        ? ({ failed: "bad", completed: "ok", waiting: "wait", cancelled: "mute" }[progress.status] ?? "run")
        : "mute",
      label: newest
        ? `generation ${progress.generation}: ${progress.attempt}`
        : `generation ${first + at}, taken over`,
    });
  });
}

function asked({ reference, data, settled }, lane, say) {
  const title = line(data.title, 80) || data.key;
  const open = data.status === "open";
  const to = open ? null : (instant(settled) ?? instant(data.createdAt));
  lane(`question ${data.key}`, "question", `question: ${title}`).bars.push({
    from: instant(data.createdAt),
    to,
    tone: open ? "wait" : "ok",
    label: open ? "is open" : data.status,
    reference,
  });
  say(data.createdAt, "question", "Asked", { detail: title, tone: open ? "wait" : "plain", reference });
  if (!open && settled) {
    say(settled, "question", word(data.status), {
      detail: data.answer === null ? title : brief(data.answer),
      tone: data.answer === null ? "mute" : "ok",
      reference,
    });
  }
}

function wrote({ reference, data }, say) {
  if (data.key === "prompt") return;
  say(data.createdAt, "item", word(data.kind), {
    detail: line(data.text) || data.key,
    tone: "plain",
    reference,
  });
}

/** The session's log: decisions, calls with their attempts and the waits between them, pauses. */
function logged(events, lane, say) {
  const names = new Map();
  const open = new Map();
  const begin = (key, it, bar) => {
    const place = lane(it.key, it.kind, it.label);
    open.get(key)?.end(bar.from);
    place.bars.push(bar);
    open.set(key, {
      end: (at, tone = bar.tone === "run" ? "mute" : bar.tone, label = bar.label) =>
        Object.assign(bar, { to: at, tone, label }),
    });
  };
  const end = (key, at, tone, label) => {
    open.get(key)?.end(at, tone, label);
    open.delete(key);
  };
  for (const { offset, instant: text, event } of events) {
    const at = instant(text);
    const it = unpacked(event.payload) ?? {};
    const tell = (kind, title, rest) => say(text, kind, title, { offset, ...rest });
    const call = CALL.exec(event.type);
    if (call) {
      const key = `call ${it.call_id}`;
      if (call[2] === "requested") names.set(it.call_id, called(call[1], it));
      const name = names.get(it.call_id) ?? { kind: "call", label: it.call_id };
      const which = { key, ...name };
      const times = it.attempt > 1 ? `attempt ${it.attempt}` : "";
      if (call[2] === "requested") {
        tell(name.kind, `Asked for ${name.label}`, { detail: name.detail ?? "" });
      } else if (call[2] === "dispatched") {
        begin(key, which, { from: at, to: null, tone: "run", label: times || "runs", offset });
        if (times) tell(name.kind, `Tries ${name.label} again`, { detail: times });
      } else if (call[2] === "errored") {
        if (!open.has(key)) begin(key, which, { from: at, to: at, tone: "bad", label: times, offset });
        end(key, at, "bad", line(it.error, 120));
        tell(name.kind, `${word(name.label)} failed`, {
          detail: `${line(it.error, 160)}${it.retry_at ? `; tried again at ${it.retry_at}` : ""}`,
          tone: "bad",
        });
        if (it.retry_at)
          begin(key, which, {
            from: at,
            to: instant(it.retry_at),
            tone: "wait",
            label: "waits to try again",
            offset,
          });
      } else {
        if (!open.has(key)) begin(key, which, { from: at, to: at, tone: "ok", label: times, offset });
        end(key, at, "ok", times || "done");
        tell(name.kind, `${word(name.label)} answered`, { detail: answered(it), tone: "ok" });
      }
      continue;
    }
    switch (event.type) {
      case "decision.queued":
        names.set(it.decision_id, it.trigger?.type ?? "decision");
        break;
      case "decision.dispatched": {
        const label = names.get(it.decision_id) ?? it.decision_id;
        begin(
          `decision ${it.decision_id}`,
          { key: "decision", kind: "decision", label: "decisions" },
          {
            from: at,
            to: null,
            tone: "run",
            label: it.attempts > 1 ? `${label}, delivery ${it.attempts}` : label,
            offset,
          },
        );
        break;
      }
      case "decision.completed":
        end(`decision ${it.decision_id}`, at, "ok");
        break;
      case "decision.errored":
        end(`decision ${it.decision_id}`, at, "bad", line(it.error, 120));
        tell("decision", "The worker failed", { detail: line(it.error, 160), tone: "bad" });
        break;
      case "decision.dropped":
        end(`decision ${it.decision_id}`, at, "mute");
        tell("decision", "A decision was dropped", { detail: it.reason, tone: "mute" });
        break;
      case "call.voided":
        end(`call ${it.call_id}`, at, "mute", `called off: ${it.reason}`);
        tell("call", `${word(names.get(it.call_id)?.label ?? "a call")} was called off`, {
          detail: it.reason,
          tone: "mute",
        });
        break;
      case "session.interrupted":
        begin(
          `pause ${it.interrupt_id}`,
          { key: `pause ${it.interrupt_id}`, kind: "question", label: `paused: ${it.reason}` },
          { from: at, to: null, tone: "wait", label: it.reason, offset },
        );
        tell("pause", "Paused", { detail: it.reason, tone: "wait" });
        break;
      case "session.interrupt_resumed":
        end(`pause ${it.interrupt_id}`, at, "ok", "resumed");
        tell("pause", "Resumed", { detail: brief(it.payload, 120), tone: "ok" });
        break;
      case "message.new":
        tell("message", `${word(it.message?.role ?? "message")}`, {
          detail:
            line(said(it.message)) ||
            (it.message?.tool_calls ?? []).map((one) => one.function?.name ?? one.name).join(", "),
          tone: "strong",
        });
        break;
      case "turn.started":
        tell("turn", "The turn began", { detail: it.input });
        break;
      case "turn.completed":
        tell("turn", "The turn ended", {
          detail: it.error ? line(it.error) : cost(it.usage),
          tone: it.error ? "bad" : "ok",
        });
        break;
      default:
        break;
    }
  }
}

function called(kind, it) {
  if (kind === "llm.call") return { kind: "model", label: `model ${it.model ?? ""}`.trim() };
  if (kind === "tool.call")
    return { kind: "tool", label: `tool ${it.name}`, detail: brief(it.arguments, 120) };
  return { kind: "agent", label: `sub-agent ${it.agent_id}`, detail: it.session_id };
}

function answered(it) {
  if (it.message)
    return (
      line(said(it.message)) || (it.message.tool_calls ?? []).map((one) => one.function?.name).join(", ")
    );
  return it.result === undefined ? "" : brief(it.result);
}

function cost(spent) {
  return spent?.cost && Number(spent.cost) ? `$${spent.cost}` : "";
}

/** A word as it stands at the beginning of a line. */
export function word(text) {
  const plain = String(text).replaceAll("_", " ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/**
 * Round marks along a length, from zero, each with its label. One so near the end that its label would
 * reach beyond it, on the narrowest page, has none.
 */
export function ticks(length) {
  const steps = [1, 2, 5]
    .flatMap((it) => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((power) => it * 10 ** power))
    .concat([15_000, 30_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000, 21_600_000, 86_400_000])
    .sort((one, other) => one - other);
  const step = steps.find((it) => length / it <= MARKS) ?? length;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => {
    const at = index * step;
    return { at, label: at === 0 ? "0" : at > LABELLED * length ? "" : span(at) };
  });
}
