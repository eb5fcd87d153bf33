// A turn that is followed to its end, over as many connections as it takes.

import { frames, refusal, sleep, wait, type Ask, type Patience } from "./connection.js";
import { Content, type TerminalEvent } from "./content.js";
import { ConnectionError, RequestError } from "./errors.js";
import type { AgentEvent } from "./protocol.js";
import { SseParser } from "./sse.js";

/** What a turn needs of the client that it belongs to. */
export interface Line {
  readonly patience: Patience;
  /** Makes ready what opens the stream; as often as it takes until the turn is told. */
  first(): Promise<Ask>;
  /** Makes ready what opens the stream of a request behind an id. */
  again(requestId: string, lastEventId: string): Promise<Ask>;
  abort(requestId: string): Promise<void>;
  readonly signal: AbortSignal | undefined;
}

/**
 * A turn of an agent: its events as they come, and what they add up to.
 *
 * It is read once, by `for await` or by {@link Turn.finished}. A connection that breaks is made again
 * behind the last event that was recorded, or, before the turn was told, by the same request under the
 * same key; blocks that were open then begin anew, which {@link Turn.message} minds by itself. To stop
 * reading does not stop the turn; {@link Turn.abort} does.
 */
export class Turn implements AsyncIterable<AgentEvent> {
  /** What the turn has said so far. */
  readonly message = new Content();
  /** The turn's id, once the first event is there. */
  requestId: string | undefined;
  /** The thread's id, once the first event is there. */
  threadId: string | undefined;
  /** How often the connection was made again. */
  reconnects = 0;
  #lastEventId: string;
  #line: Line;
  #events: AsyncGenerator<AgentEvent, void, void> | undefined;

  constructor(line: Line, requestId?: string, lastEventId = "") {
    this.#line = line;
    this.requestId = requestId;
    this.#lastEventId = lastEventId;
  }

  /** Returns the id behind which a later reader may go on; empty before the first one. */
  get lastEventId(): string {
    return this.#lastEventId;
  }

  [Symbol.asyncIterator](): AsyncGenerator<AgentEvent, void, void> {
    return (this.#events ??= this.#read());
  }

  /** Reads what is left, and returns the event that ends the stream. */
  async finished(): Promise<TerminalEvent> {
    for await (const _ of this);
    const { end } = this.message;
    if (!end) throw new ConnectionError("the stream was left early", this.requestId, undefined);
    return end;
  }

  /** Stops the turn itself, for everybody who follows it. The stream then ends with `aborted`. */
  async abort(): Promise<void> {
    if (this.requestId === undefined) throw new Error("the turn has not begun yet");
    await this.#line.abort(this.requestId);
  }

  async *#read(): AsyncGenerator<AgentEvent, void, void> {
    const { patience, signal } = this.#line;
    let attempt = 0;
    let gaps = 0;
    let isFirst = true;
    let isAnswered = false;
    for (;;) {
      let cause: unknown;
      let pause: number | undefined;
      const parser = new SseParser(this.#lastEventId);
      // What fails here no further try mends: a user who is signed out, an address that is none.
      const ask = this.requestId === undefined
        ? await this.#line.first()
        : await this.#line.again(this.requestId, this.#lastEventId);
      try {
        const response = await ask();
        isAnswered = true;
        if (response.status === 204) return;
        if (!response.ok) throw await refusal(response, patience.silence);
        isFirst = false;
        for await (const frame of frames(response, parser, patience.silence)) {
          const event = JSON.parse(frame.data) as AgentEvent;
          if (event.event === "metadata") {
            this.requestId = event.requestId;
            this.threadId = event.threadId;
          }
          if (!this.message.apply(event)) {
            cause = new Error("an event is missing from the stream");
            gaps += 1;
            break;
          }
          this.#lastEventId = frame.lastEventId;
          if (event.event !== "metadata") attempt = 0;
          yield event;
          if (this.message.end) return;
        }
        pause = parser.retry;
      } catch (error) {
        signal?.throwIfAborted();
        // What is refused at once, so that no turn has begun, is the caller's to try again.
        if (error instanceof RequestError && (isFirst || !error.retryable)) throw error;
        if (error instanceof RequestError) pause = error.retryAfter;
        cause = error;
      }
      attempt += 1;
      const tries = Math.min(patience.tries, isAnswered ? Infinity : patience.unanswered);
      if (Math.max(attempt, gaps) > tries) {
        throw new ConnectionError(`gave up after ${tries} tries`, this.requestId, cause);
      }
      isFirst = false;
      this.reconnects += 1;
      await sleep(Math.max(wait(patience, attempt), attempt > 1 ? (pause ?? 0) : 0), signal);
    }
  }
}
