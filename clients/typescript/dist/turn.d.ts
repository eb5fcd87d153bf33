import { type Ask, type Patience } from "./connection.js";
import { Content, type TerminalEvent } from "./content.js";
import type { AgentEvent } from "./protocol.js";
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
export declare class Turn implements AsyncIterable<AgentEvent> {
    #private;
    /** What the turn has said so far. */
    readonly message: Content;
    /** The turn's id, once the first event is there. */
    requestId: string | undefined;
    /** The thread's id, once the first event is there. */
    threadId: string | undefined;
    /** How often the connection was made again. */
    reconnects: number;
    constructor(line: Line, requestId?: string, lastEventId?: string);
    /** Returns the id behind which a later reader may go on; empty before the first one. */
    get lastEventId(): string;
    [Symbol.asyncIterator](): AsyncGenerator<AgentEvent, void, void>;
    /** Reads what is left, and returns the event that ends the stream. */
    finished(): Promise<TerminalEvent>;
    /** Stops the turn itself, for everybody who follows it. The stream then ends with `aborted`. */
    abort(): Promise<void>;
}
