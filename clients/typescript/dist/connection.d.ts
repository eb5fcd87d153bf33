import { RequestError } from "./errors.js";
import { SseParser, type Frame } from "./sse.js";
/** How a client comes back when a connection has broken. */
export interface Patience {
    /** Milliseconds before the first try; each further one waits twice as long. */
    readonly first: number;
    /** The longest wait, in milliseconds. */
    readonly longest: number;
    /** How many tries in a row may fail. */
    readonly tries: number;
    /** How many of them may fail while the host has not answered once: that it is not there, or lets
     * nobody in, looks the same as a line that is down. */
    readonly unanswered: number;
    /** After how many milliseconds without a byte a connection counts as broken. The host sends
     * something every 15 seconds. */
    readonly silence: number;
}
/** The patience of whoever says nothing about it. */
export declare const PATIENCE: Patience;
/** A request that is ready to go; it goes out when this is called. */
export type Ask = () => Promise<Response>;
/** Returns the wait before a try, counted from 1: somewhere in the upper half of what it may be, so
 * that many clients of one host do not come back at once. */
export declare function wait(patience: Patience, attempt: number): number;
/** Waits, unless it is called off. */
export declare function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
/** Asks a host, and leaves one that takes the connection and says nothing. */
export declare function ask(fetch: typeof globalThis.fetch, address: string, init: RequestInit, silence: number): Promise<Response>;
/** Returns what a response that is not good says, as far as it says it. */
export declare function refusal(response: Response, silence: number): Promise<RequestError>;
/** Reads the events of a response until it ends, breaks, or is silent for too long. */
export declare function frames(response: Response, parser: SseParser, silence: number): AsyncGenerator<Frame, void, void>;
