// A client of agents.

import { ask, PATIENCE, refusal, type Ask, type Patience } from "./connection.js";
import type { ActionResult, AgentRequest, InputMessage } from "./protocol.js";
import { Turn, type Line } from "./turn.js";

/** How a client reaches its host. */
export interface Options {
  /** Where the host is: `https://agents.example.com`. */
  readonly url: string;
  /** A client's token, or what gets one; it is asked for each connection. */
  readonly token: string | (() => string | Promise<string>);
  /** What is done when a connection breaks. */
  readonly patience?: Partial<Patience>;
  /** Another `fetch` than the one that is there. */
  readonly fetch?: typeof globalThis.fetch;
}

/** What goes along with a message. */
export interface SendOptions {
  /** The thread; a new one if there is none. */
  readonly threadId?: string | undefined;
  /** Handed to the agent as it is. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Ends the reading. The turn itself goes on. */
  readonly signal?: AbortSignal | undefined;
  /** What this message is known by; made up if it is not given. Whoever sends the same under it again,
   * also from elsewhere, follows the same turn. */
  readonly key?: string | undefined;
}

/** Where to begin to follow. */
export interface FollowOptions {
  /** The id of the last event that is known; without it, the turn is read from its beginning. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What is to be asked of the host. */
interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The same, as it goes out. */
interface Written extends Call {
  readonly body?: string | undefined;
}

/** A client of agents, for one owner. */
export class Client {
  readonly #options: Options;
  readonly #patience: Patience;

  constructor(options: Options) {
    this.#options = options;
    this.#patience = { ...PATIENCE, ...options.patience };
  }

  /** Says something to an agent, and follows what comes of it. */
  send(agent: string, message: string | readonly InputMessage[], options: SendOptions = {}): Turn {
    const messages = typeof message === "string" ? [said(message)] : [...message];
    return this.request(agent, { messages, ...of(options) }, options);
  }

  /** Answers what a turn waits for, and follows how it goes on. */
  answer(
    agent: string,
    threadId: string,
    results: readonly ActionResult[],
    options: Omit<SendOptions, "threadId"> = {},
  ): Turn {
    const context = { ...options.context, actionResults: [...results] };
    const request = { messages: [], ...of({ ...options, threadId, context }) };
    return this.request(agent, request, options);
  }

  /** Sends a request as it is now, and follows what comes of it. Where the answer is lost, the same
   * bytes are sent again under the same key. */
  request(
    agent: string,
    request: AgentRequest,
    { key = made(), signal }: Pick<SendOptions, "key" | "signal"> = {},
  ): Turn {
    const path = `/v1/agents/${encodeURIComponent(agent)}/stream`;
    // Written once: what changes in it meanwhile would be another request under the same key.
    const body = JSON.stringify(request);
    const headers = { "idempotency-key": key };
    const first = () => this.#stream({ method: "POST", path, body, signal, headers });
    return new Turn(this.#line(first, signal));
  }

  /** Follows a request that runs, or replays one that has ended. */
  follow(requestId: string, { after = "", signal }: FollowOptions = {}): Turn {
    const first = () => this.#again(requestId, after, signal);
    return new Turn(this.#line(first, signal), requestId, after);
  }

  /** Stops a request. The streams of all who follow it end with `aborted`. */
  async abort(requestId: string): Promise<void> {
    const path = `/v1/requests/${encodeURIComponent(requestId)}/abort`;
    const response = await this.call({ method: "POST", path });
    await response.body?.cancel();
  }

  /** Asks the host anything as this client: `/v1/threads` and what is below it. */
  async call({ method, path, body, signal, headers }: Call): Promise<Response> {
    const written = body === undefined ? undefined : JSON.stringify(body);
    const ready = await this.#ready({ method, path, body: written, signal, headers: headers ?? {} });
    const response = await ready();
    if (!response.ok) throw await refusal(response, this.#patience.silence);
    return response;
  }

  #line(first: () => Promise<Ask>, signal: AbortSignal | undefined): Line {
    return {
      first,
      again: (requestId, lastEventId) => this.#again(requestId, lastEventId, signal),
      abort: (requestId) => this.abort(requestId),
      patience: this.#patience,
      signal,
    };
  }

  #again(
    requestId: string,
    lastEventId: string,
    signal: AbortSignal | undefined,
  ): Promise<Ask> {
    const path = `/v1/requests/${encodeURIComponent(requestId)}/stream`;
    const headers = lastEventId === "" ? {} : { "last-event-id": lastEventId };
    return this.#stream({ method: "GET", path, signal, headers });
  }

  #stream(call: Written): Promise<Ask> {
    return this.#ready({ ...call, headers: { accept: "text/event-stream", ...call.headers } });
  }

  async #ready({ method, path, body, signal, headers }: Written): Promise<Ask> {
    const { fetch = globalThis.fetch, token, url } = this.#options;
    const bearer = typeof token === "string" ? token : await token();
    const init: RequestInit = {
      method,
      headers: { authorization: `Bearer ${bearer}`, ...headers },
      cache: "no-store",
    };
    if (body !== undefined) {
      init.headers = { ...init.headers, "content-type": "application/json" };
      init.body = body;
    }
    if (signal) init.signal = signal;
    const address = url.replace(/\/+$/, "") + path;
    // Refuses what can never go out, which `fetch` would tell like a line that is down.
    new Request(address, init);
    return () => ask(fetch, address, init, this.#patience.silence);
  }
}

function said(text: string): InputMessage {
  return { content: [{ type: "text", text }] };
}

/** Returns a key that nobody else has. (`randomUUID` is not there on pages without TLS.) */
function made(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns what is given of the options, as a request has it. */
function of({ threadId, context }: SendOptions): Omit<AgentRequest, "messages"> {
  return { ...(threadId !== undefined && { threadId }), ...(context !== undefined && { context }) };
}
