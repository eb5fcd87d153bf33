// What a turn has said, put together from its events.
//
// The events may have come over several connections. After a reconnect, a block that was open is
// sent again from its start: what was there of it is dropped. When `done` comes, its `content` is
// what counts; it leaves out what a failed attempt of the model had said.
/** What a turn has said so far. */
export class Content {
    /** The blocks, in the order in which they began. */
    blocks = [];
    /** What the turn waits for: one for each thing that the client is to do. */
    continuations = [];
    /** The event that ended the stream. */
    end;
    #next = new Map();
    /** Returns the content as `done` has it: that of `done`, or what there is until then. */
    get content() {
        if (this.end?.event === "done")
            return this.end.content;
        return this.blocks.filter((block) => block.text !== "" || !block.open).map(asContent);
    }
    /** Returns the text of the turn, without thoughts and tools. */
    get text() {
        return this.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    }
    /**
     * Takes an event. Returns false if something is missing before it: then the stream is to be read
     * again from the last id, and the event has changed nothing.
     */
    apply(event) {
        switch (event.event) {
            case "metadata":
                return true;
            case "text":
            case "thinking":
            case "tool_call":
            case "tool_result":
                return this.#block(event);
            case "continuation":
                if (this.continuations.every((known) => known.actionId !== event.actionId)) {
                    this.continuations.push(event);
                }
                return true;
            case "done":
            case "error":
            case "aborted":
                this.end = event;
                return true;
            default:
                // An event of a later protocol: it says nothing that is known here.
                return true;
        }
    }
    #block(event) {
        const { blockId, messageId, stage } = event;
        const at = this.blocks.findIndex((block) => block.blockId === blockId);
        const known = this.blocks[at];
        if (stage === "start") {
            const block = { blockId, messageId, kind: event.event, text: "", open: true };
            if ("toolCallId" in event && event.toolCallId != null)
                block.toolCallId = event.toolCallId;
            if ("tool" in event && event.tool != null)
                block.tool = event.tool;
            if (known)
                this.blocks[at] = block;
            else
                this.blocks.push(block);
            this.#next.set(blockId, 0);
            return true;
        }
        if (!known)
            return false;
        if (stage === "delta") {
            const next = this.#next.get(blockId) ?? 0;
            const index = ("deltaIndex" in event ? event.deltaIndex : undefined) ?? next;
            if (index > next)
                return false;
            if (index === next) {
                known.text += ("delta" in event ? event.delta : undefined) ?? "";
                this.#next.set(blockId, next + 1);
            }
            return true;
        }
        known.open = false;
        if (event.event === "tool_call" && event.args != null)
            known.args = event.args;
        if (event.event === "tool_result") {
            if (event.status != null)
                known.status = event.status;
            if (event.summary != null)
                known.summary = event.summary;
        }
        return true;
    }
}
function asContent(block) {
    const { toolCallId = "", tool = "" } = block;
    switch (block.kind) {
        case "text":
        case "thinking":
            return { type: block.kind, text: block.text };
        case "tool_call":
            return { type: "tool_use", toolCallId, tool, args: block.args ?? {} };
        case "tool_result": {
            const { status = "success", summary } = block;
            const result = { type: "tool_result", toolCallId, tool, status };
            return summary === undefined ? result : { ...result, summary };
        }
    }
}
