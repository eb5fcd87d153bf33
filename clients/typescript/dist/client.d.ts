import { type Patience } from "./connection.js";
import type { ActionResult, AgentRequest, InputMessage } from "./protocol.js";
import { Turn } from "./turn.js";
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
/** A client of agents, for one owner. */
export declare class Client {
    #private;
    constructor(options: Options);
    /** Says something to an agent, and follows what comes of it. */
    send(agent: string, message: string | readonly InputMessage[], options?: SendOptions): Turn;
    /** Answers what a turn waits for, and follows how it goes on. */
    answer(agent: string, threadId: string, results: readonly ActionResult[], options?: Omit<SendOptions, "threadId">): Turn;
    /** Sends a request as it is now, and follows what comes of it. Where the answer is lost, the same
     * bytes are sent again under the same key. */
    request(agent: string, request: AgentRequest, { key, signal }?: Pick<SendOptions, "key" | "signal">): Turn;
    /** Follows a request that runs, or replays one that has ended. */
    follow(requestId: string, { after, signal }?: FollowOptions): Turn;
    /** Stops a request. The streams of all who follow it end with `aborted`. */
    abort(requestId: string): Promise<void>;
    /** Asks the host anything as this client: `/v1/threads` and what is below it. */
    call({ method, path, body, signal, headers }: Call): Promise<Response>;
}
export {};
