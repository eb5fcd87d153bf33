// A client of agents.
import { ask, PATIENCE, refusal } from "./connection.js";
import { Turn } from "./turn.js";
/** A client of agents, for one owner. */
export class Client {
    #options;
    #patience;
    constructor(options) {
        this.#options = options;
        this.#patience = { ...PATIENCE, ...options.patience };
    }
    /** Says something to an agent, and follows what comes of it. */
    send(agent, message, options = {}) {
        const messages = typeof message === "string" ? [said(message)] : [...message];
        return this.request(agent, { messages, ...of(options) }, options);
    }
    /** Answers what a turn waits for, and follows how it goes on. */
    answer(agent, threadId, results, options = {}) {
        const context = { ...options.context, actionResults: [...results] };
        const request = { messages: [], ...of({ ...options, threadId, context }) };
        return this.request(agent, request, options);
    }
    /** Sends a request as it is now, and follows what comes of it. Where the answer is lost, the same
     * bytes are sent again under the same key. */
    request(agent, request, { key = made(), signal } = {}) {
        const path = `/v1/agents/${encodeURIComponent(agent)}/stream`;
        // Written once: what changes in it meanwhile would be another request under the same key.
        const body = JSON.stringify(request);
        const headers = { "idempotency-key": key };
        const first = () => this.#stream({ method: "POST", path, body, signal, headers });
        return new Turn(this.#line(first, signal));
    }
    /** Follows a request that runs, or replays one that has ended. */
    follow(requestId, { after = "", signal } = {}) {
        const first = () => this.#again(requestId, after, signal);
        return new Turn(this.#line(first, signal), requestId, after);
    }
    /** Stops a request. The streams of all who follow it end with `aborted`. */
    async abort(requestId) {
        const path = `/v1/requests/${encodeURIComponent(requestId)}/abort`;
        const response = await this.call({ method: "POST", path });
        await response.body?.cancel();
    }
    /** Asks the host anything as this client: `/v1/threads` and what is below it. */
    async call({ method, path, body, signal, headers }) {
        const written = body === undefined ? undefined : JSON.stringify(body);
        const ready = await this.#ready({ method, path, body: written, signal, headers: headers ?? {} });
        const response = await ready();
        if (!response.ok)
            throw await refusal(response, this.#patience.silence);
        return response;
    }
    #line(first, signal) {
        return {
            first,
            again: (requestId, lastEventId) => this.#again(requestId, lastEventId, signal),
            abort: (requestId) => this.abort(requestId),
            patience: this.#patience,
            signal,
        };
    }
    #again(requestId, lastEventId, signal) {
        const path = `/v1/requests/${encodeURIComponent(requestId)}/stream`;
        const headers = lastEventId === "" ? {} : { "last-event-id": lastEventId };
        return this.#stream({ method: "GET", path, signal, headers });
    }
    #stream(call) {
        return this.#ready({ ...call, headers: { accept: "text/event-stream", ...call.headers } });
    }
    async #ready({ method, path, body, signal, headers }) {
        const { fetch = globalThis.fetch, token, url } = this.#options;
        const bearer = typeof token === "string" ? token : await token();
        const init = {
            method,
            headers: { authorization: `Bearer ${bearer}`, ...headers },
            cache: "no-store",
        };
        if (body !== undefined) {
            init.headers = { ...init.headers, "content-type": "application/json" };
            init.body = body;
        }
        if (signal)
            init.signal = signal;
        const address = url.replace(/\/+$/, "") + path;
        // Refuses what can never go out, which `fetch` would tell like a line that is down.
        new Request(address, init);
        return () => ask(fetch, address, init, this.#patience.silence);
    }
}
function said(text) {
    return { content: [{ type: "text", text }] };
}
/** Returns a key that nobody else has. (`randomUUID` is not there on pages without TLS.) */
function made() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
/** Returns what is given of the options, as a request has it. */
function of({ threadId, context }) {
    return { ...(threadId !== undefined && { threadId }), ...(context !== undefined && { context }) };
}
