// The operator door: commands of the shell, run in the host, and the feed of what was committed.
//
// The only way from this console to the host. Whoever has no token gets nothing, so the token goes
// with each request and is kept nowhere but in the tab's session.

import { events, values } from "./lines.js";

/** Why something was not answered. `code` is the door's word for it. */
export class DoorError extends Error {
  constructor({ code, message, help, status }) {
    super(message);
    this.name = "DoorError";
    this.code = code;
    this.help = help ?? null;
    this.status = status ?? null;
  }

  /** Whether to try again may help, since the host was not reached or is busy. */
  get passing() {
    return (
      this.code === "unreachable" || this.code === "busy" || this.code === "cut-off" || this.status >= 502
    );
  }
}

/** How long an answer may take to begin before the host counts as not reached. */
const PATIENCE = 30_000;

export class Door {
  /** `fetch` comes in, for tests. `refused` is told when the token is not, or no longer, good. */
  constructor({ token, operator, fetch = globalThis.fetch.bind(globalThis), refused = () => {} }) {
    this.operator = operator;
    this.shell = `console-${Math.random().toString(36).slice(2)}`;
    this.#token = token;
    this.#fetch = fetch;
    this.#refused = refused;
  }

  #token;
  #fetch;
  #refused;

  /** Runs commands and returns their answers; the first that fails is thrown. */
  async run(text, { signal, yes = false } = {}) {
    const answers = [];
    for await (const line of this.lines({ text, yes }, signal)) {
      if ("error" in line) throw new DoorError(line.error);
      if ("ask" in line) throw new DoorError({ code: "asks", message: line.ask });
      if ("answer" in line) answers.push(line.answer);
    }
    return answers;
  }

  /** Runs one command and returns its answer. */
  async ask(text, how) {
    return (await this.run(text, how))[0];
  }

  /** Runs commands and yields what is said of them, as it is said. */
  async *lines(body, signal) {
    const response = await this.#request("/operator/shell", {
      method: "POST",
      body: JSON.stringify(body),
      signal,
    });
    let ended = false;
    try {
      for await (const line of values(response.body)) {
        ended ||= "exit" in line;
        yield line;
      }
    } catch (error) {
      throw this.#lost(error, signal);
    }
    if (!ended) throw new DoorError({ code: "cut-off", message: "the answer was cut off" });
  }

  /** Follows a stream from an offset, until the signal, or the connection, ends it. */
  async *follow(stream, from, signal) {
    for await (const line of this.lines({ text: `follow ${stream} from ${from}` }, signal)) {
      if ("error" in line) throw new DoorError(line.error);
      if (line.answer && "offset" in line.answer) yield line.answer;
    }
  }

  /** Says what may follow where the cursor stands. */
  async complete(text, at, signal) {
    const body = JSON.stringify({ text, at, shell: this.shell });
    return (await this.#request("/operator/complete", { method: "POST", body, signal })).json();
  }

  /** Follows what is committed, behind a commit or from now on. */
  async *changes(after, signal) {
    const query = after === null ? "" : `?after=${after}`;
    const response = await this.#request(`/operator/changes${query}`, {
      signal,
      headers: { accept: "text/event-stream" },
    });
    yield { opened: true };
    try {
      for await (const event of events(response.body)) {
        if (event.type === "change" || event.type === "message")
          yield { id: event.id, change: JSON.parse(event.data) };
      }
    } catch (error) {
      throw this.#lost(error, signal);
    }
  }

  async #request(path, { signal, headers, ...init }) {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), PATIENCE);
    let response;
    try {
      response = await this.#fetch(path, {
        ...init,
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
        cache: "no-store",
        headers: {
          ...headers,
          authorization: `Bearer ${this.#token}`,
          "x-operator": bytes(this.operator),
          ...(init.body ? { "content-type": "application/json" } : {}),
        },
      });
    } catch (error) {
      throw this.#lost(error, signal);
    } finally {
      clearTimeout(timer);
    }
    if (response.ok) return response;
    const error = await response.json().catch(() => ({}));
    if (response.status === 401) this.#refused();
    throw new DoorError({
      code: error.code ?? "http",
      message: error.error ?? `the host answered ${response.status}`,
      status: response.status,
    });
  }

  #lost(error, signal) {
    if (error instanceof DoorError || signal?.aborted) return error;
    return new DoorError({ code: "unreachable", message: "the host was not reached" });
  }
}

/** Headers bear bytes: those of the name in UTF-8. */
function bytes(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/** Whether an error only says that nobody waits for the answer any more. */
export function isOver(error) {
  return error?.name === "AbortError";
}
