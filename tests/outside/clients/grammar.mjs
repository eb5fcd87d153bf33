// What holds of the events of every connection: `metadata` first, blocks begun before they grow and
// stop, deltas numbered, one terminal event, and nothing behind it.

import assert from "node:assert/strict";

const BLOCKS = new Set(["text", "thinking", "tool_call", "tool_result"]);
const TERMINAL = new Set(["done", "error", "aborted"]);

/** Returns what takes the events of a turn, over all its connections, and fails where one is wrong. */
export function grammar() {
  const blocks = new Map();
  let isFirst = true;
  let end;
  return (event) => {
    assert.equal(end, undefined, `${event.event} comes behind ${end}`);
    assert.ok(event.requestId && !Number.isNaN(Date.parse(event.timestamp)), JSON.stringify(event));
    if (isFirst) assert.equal(event.event, "metadata");
    isFirst = false;
    if (BLOCKS.has(event.event)) {
      const known = blocks.get(event.blockId);
      if (event.stage === "start") {
        // A block begins once, or anew after a reconnect while it is open.
        assert.ok(!known || known.open, JSON.stringify(event));
        assert.equal(typeof event.blockIndex, "number");
        blocks.set(event.blockId, { kind: event.event, open: true, next: 0 });
        return;
      }
      assert.ok(known?.open && known.kind === event.event, JSON.stringify(event));
      if (event.stage === "delta") assert.equal(event.deltaIndex, known.next++);
      else known.open = false;
    }
    if (TERMINAL.has(event.event)) {
      end = event.event;
      for (const [id, { open }] of blocks) assert.equal(open, false, `${id} is still open`);
    }
  };
}
