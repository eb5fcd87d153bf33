// One connection, and what is done when it breaks.

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
export const PATIENCE: Patience = {
  first: 250,
  longest: 10_000,
  tries: 12,
  unanswered: 4,
  silence: 45_000,
};

/** A request that is ready to go; it goes out when this is called. */
export type Ask = () => Promise<Response>;

/** Returns the wait before a try, counted from 1: somewhere in the upper half of what it may be, so
 * that many clients of one host do not come back at once. */
export function wait(patience: Patience, attempt: number): number {
  const most = Math.min(patience.longest, patience.first * 2 ** (attempt - 1));
  return most * (0.5 + Math.random() / 2);
}

/** Waits, unless it is called off. */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    function stop(): void {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Asks a host, and leaves one that takes the connection and says nothing. */
export async function ask(
  fetch: typeof globalThis.fetch,
  address: string,
  init: RequestInit,
  silence: number,
): Promise<Response> {
  const leave = new AbortController();
  const signal = init.signal ? AbortSignal.any([init.signal, leave.signal]) : leave.signal;
  try {
    return await heard(fetch(address, { ...init, signal }), silence);
  } catch (error) {
    leave.abort(error);
    throw error;
  }
}

/** Returns what a response that is not good says, as far as it says it. */
export async function refusal(response: Response, silence: number): Promise<RequestError> {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfter = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  let body = "";
  try {
    for await (const text of texts(response, silence)) body += text;
  } catch {
    // The status says enough.
  }
  return new RequestError(response.status, body, retryAfter);
}

/** Reads the events of a response until it ends, breaks, or is silent for too long. */
export async function* frames(
  response: Response,
  parser: SseParser,
  silence: number,
): AsyncGenerator<Frame, void, void> {
  for await (const text of texts(response, silence)) yield* parser.push(text);
}

async function* texts(response: Response, silence: number): AsyncGenerator<string, void, void> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await heard(reader.read(), silence);
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    // Whoever has heard enough, or nothing, leaves: the host need not speak on.
    reader.cancel().catch(() => undefined);
  }
}

function heard<T>(read: Promise<T>, silence: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silent = new Promise<never>((_, reject) => {
    const message = `nothing was heard for ${silence} ms`;
    timer = setTimeout(() => reject(new Error(message)), silence);
  });
  return Promise.race([read, silent]).finally(() => clearTimeout(timer));
}
