// What a session is at: what the state of it comes to in a word, and what it waits for.

/** Where a session stands; `{cancelled, done, turn, live}`. */
export function sessionStatus({ cancelled, done, turn, live }) {
  if (cancelled) return "cancelled";
  if (live.interrupts.length) return "interrupted";
  if (turn && live.calls.some((it) => it.handler === "client" && it.status === "pending")) return "waiting";
  if (turn) return "running";
  return done ? "done" : "idle";
}

/**
 * What a session waits for, in sentences: `[{kind, id, text, until, tone}]`. `view` is what
 * `session_view` says, `live` the state of that name.
 */
export function waitsFor({ live, data, view }) {
  const found = [];
  const named = new Map((view?.calls ?? []).map((it) => [it.id, it]));
  for (const it of live.interrupts) {
    found.push({
      kind: "interrupt",
      id: it.id,
      text: `paused by ${it.origin}: ${it.reason}`,
      until: null,
      tone: "wait",
    });
  }
  for (const it of live.calls) {
    const call = named.get(it.id);
    const what =
      {
        llm_call: "the model",
        tool_call: `the tool ${call?.name ?? it.id}`,
        sub_agent: `the sub-agent ${call?.agent_id ?? it.id}`,
      }[it.kind] ?? it.kind;
    const attempt = it.attempt > 1 ? `, attempt ${it.attempt}` : "";
    const by =
      it.handler === "client" ? ", run by the client" : it.handler === "worker" ? ", run by the worker" : "";
    const text =
      {
        queued: `${what} waits for its turn${by}`,
        pending: `${what} is asked${attempt}${by}`,
        retry_scheduled: `${what} failed and is tried again`,
      }[it.status] ?? `${what}: ${it.status}`;
    found.push({
      kind: it.kind,
      id: it.id,
      text,
      until: it.status === "retry_scheduled" ? it.retryAt : it.deadline,
      tone: it.status === "pending" ? (it.handler === "client" ? "wait" : "run") : "queue",
      handler: it.handler,
      status: it.status,
      call,
    });
  }
  for (const it of live.decisions) {
    const text =
      {
        queued: `a decision about ${it.kind} waits`,
        pending: `the worker decides about ${it.kind}${it.attempts > 1 ? `, delivery ${it.attempts}` : ""}`,
        retry_scheduled: `the worker failed about ${it.kind} and is asked again`,
      }[it.status] ?? `${it.kind}: ${it.status}`;
    found.push({
      kind: "decision",
      id: it.id,
      text,
      until: it.status === "retry_scheduled" ? it.retryAt : it.deadline,
      tone: it.status === "pending" ? "run" : "queue",
    });
  }
  for (const it of live.sends)
    found.push({
      kind: "message",
      id: it.id,
      text: `a message to ${it.session} is on its way`,
      until: null,
      tone: "run",
    });
  if (found.length === 0 && data.turn)
    found.push({
      kind: "turn",
      id: data.turn.id,
      text: "nothing is under way: the turn ends when the next one comes",
      until: null,
      tone: "queue",
    });
  if (found.length && !data.claim.engine)
    found.unshift({
      kind: "claim",
      id: "",
      text: "no engine drives it: one has to claim it first",
      until: null,
      tone: "bad",
    });
  return found;
}
