import type { AgentEvent, AssistantContentBlock, ContinuationEvent, DoneEvent, ErrorEvent, AbortedEvent } from "./protocol.js";
/** The events of which exactly one ends a stream. */
export type TerminalEvent = DoneEvent | ErrorEvent | AbortedEvent;
/** A block while it grows, and once it has stopped. */
export interface Block {
    readonly blockId: string;
    readonly messageId: string;
    readonly kind: "text" | "thinking" | "tool_call" | "tool_result";
    /** The text so far; of a tool call, the JSON of its arguments as the model writes it. */
    text: string;
    /** Whether more may come. */
    open: boolean;
    toolCallId?: string;
    tool?: string;
    /** The arguments of a tool call that has stopped, if they could be parsed. */
    args?: Record<string, unknown>;
    status?: "success" | "error";
    summary?: string;
}
/** What a turn has said so far. */
export declare class Content {
    #private;
    /** The blocks, in the order in which they began. */
    readonly blocks: Block[];
    /** What the turn waits for: one for each thing that the client is to do. */
    readonly continuations: ContinuationEvent[];
    /** The event that ended the stream. */
    end: TerminalEvent | undefined;
    /** Returns the content as `done` has it: that of `done`, or what there is until then. */
    get content(): AssistantContentBlock[];
    /** Returns the text of the turn, without thoughts and tools. */
    get text(): string;
    /**
     * Takes an event. Returns false if something is missing before it: then the stream is to be read
     * again from the last id, and the event has changed nothing.
     */
    apply(event: AgentEvent): boolean;
}
