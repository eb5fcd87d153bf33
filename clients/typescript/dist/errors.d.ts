import type { ErrorEvent } from "./protocol.js";
/** The host has refused a request. Nothing of it was applied. */
export declare class RequestError extends Error {
    readonly status: number;
    /** Milliseconds after which to try again, if the host says so. */
    readonly retryAfter: number | undefined;
    readonly name = "RequestError";
    /** What the host says, if it says it as the protocol has it. */
    readonly event: ErrorEvent | undefined;
    constructor(status: number, body: string, 
    /** Milliseconds after which to try again, if the host says so. */
    retryAfter: number | undefined);
    /** Returns the code of the protocol, if there is one. */
    get code(): ErrorEvent["code"];
    /** Says whether the same request may go through later. */
    get retryable(): boolean;
}
/** A connection broke, and was not made again in time. */
export declare class ConnectionError extends Error {
    /** The request, if it is known to have begun: it goes on, and can be followed. */
    readonly requestId: string | undefined;
    readonly name = "ConnectionError";
    constructor(message: string, 
    /** The request, if it is known to have begun: it goes on, and can be followed. */
    requestId: string | undefined, cause: unknown);
}
