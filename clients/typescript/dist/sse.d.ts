/** One event of a stream. */
export interface Frame {
    /** The id that the stream is at, with this event; empty if it has said none. */
    readonly lastEventId: string;
    /** Its name; `message` where none is given. */
    readonly event: string;
    readonly data: string;
}
/** Puts events together from text. */
export declare class SseParser {
    #private;
    /** The last id that the stream has said. */
    lastEventId: string;
    /** Milliseconds to wait before coming back, if the stream has said so. */
    retry: number | undefined;
    constructor(lastEventId?: string);
    /** Takes the next text of the stream, and returns the events that it completes. */
    push(text: string): Frame[];
}
