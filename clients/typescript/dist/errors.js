// Why something did not come about.
/** The host has refused a request. Nothing of it was applied. */
export class RequestError extends Error {
    status;
    retryAfter;
    name = "RequestError";
    /** What the host says, if it says it as the protocol has it. */
    event;
    constructor(status, body, 
    /** Milliseconds after which to try again, if the host says so. */
    retryAfter) {
        const event = parsed(body);
        super(event?.message ?? `the host answered ${status}`);
        this.status = status;
        this.retryAfter = retryAfter;
        this.event = event;
    }
    /** Returns the code of the protocol, if there is one. */
    get code() {
        return this.event?.code;
    }
    /** Says whether the same request may go through later. */
    get retryable() {
        return this.event?.retryable ?? (this.status === 429 || this.status >= 500);
    }
}
/** A connection broke, and was not made again in time. */
export class ConnectionError extends Error {
    requestId;
    name = "ConnectionError";
    constructor(message, 
    /** The request, if it is known to have begun: it goes on, and can be followed. */
    requestId, cause) {
        super(message, { cause });
        this.requestId = requestId;
    }
}
function parsed(body) {
    try {
        const value = JSON.parse(body);
        const is = typeof value === "object" && value !== null && "message" in value;
        return is ? value : undefined;
    }
    catch {
        return undefined;
    }
}
