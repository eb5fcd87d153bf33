// Why something did not come about.

import type { ErrorEvent } from "./protocol.js";

/** The host has refused a request. Nothing of it was applied. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  /** What the host says, if it says it as the protocol has it. */
  readonly event: ErrorEvent | undefined;

  constructor(
    readonly status: number,
    body: string,
    /** Milliseconds after which to try again, if the host says so. */
    readonly retryAfter: number | undefined,
  ) {
    const event = parsed(body);
    super(event?.message ?? `the host answered ${status}`);
    this.event = event;
  }

  /** Returns the code of the protocol, if there is one. */
  get code(): ErrorEvent["code"] {
    return this.event?.code;
  }

  /** Says whether the same request may go through later. */
  get retryable(): boolean {
    return this.event?.retryable ?? (this.status === 429 || this.status >= 500);
  }
}

/** A connection broke, and was not made again in time. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  constructor(
    message: string,
    /** The request, if it is known to have begun: it goes on, and can be followed. */
    readonly requestId: string | undefined,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

function parsed(body: string): ErrorEvent | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const is = typeof value === "object" && value !== null && "message" in value;
    return is ? (value as ErrorEvent) : undefined;
  } catch {
    return undefined;
  }
}
