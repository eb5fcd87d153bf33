// Server-sent events as the WHATWG standard parses them, a chunk at a time.
//
// Lines end with CR, LF or CRLF, also where a chunk ends in between. A block without data is no
// event, but what it says about `id` and `retry` counts.

/** One event of a stream. */
export interface Frame {
  /** The id that the stream is at, with this event; empty if it has said none. */
  readonly lastEventId: string;
  /** Its name; `message` where none is given. */
  readonly event: string;
  readonly data: string;
}

/** Puts events together from text. */
export class SseParser {
  /** The last id that the stream has said. */
  lastEventId: string;
  /** Milliseconds to wait before coming back, if the stream has said so. */
  retry: number | undefined;
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id: string;
  #begun = false;

  constructor(lastEventId = "") {
    this.lastEventId = lastEventId;
    this.#id = lastEventId;
  }

  /** Takes the next text of the stream, and returns the events that it completes. */
  push(text: string): Frame[] {
    if (!this.#begun && text !== "") {
      this.#begun = true;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    const frames: Frame[] = [];
    for (const line of lines) {
      if (line === "") this.#end(frames);
      else this.#field(line);
    }
    return frames;
  }

  #end(frames: Frame[]): void {
    this.lastEventId = this.#id;
    if (this.#data.length > 0) {
      const { lastEventId } = this;
      frames.push({ lastEventId, event: this.#event || "message", data: this.#data.join("\n") });
    }
    this.#event = "";
    this.#data = [];
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return; // A comment: the stream lives.
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    else if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
  }
}
