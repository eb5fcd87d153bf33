// Writes a stream with the public client, and reads it back with it: all, and live over SSE.
import { DurableStream } from "@durable-streams/client";

const url = `${process.argv[2]}/v1/stream/client-${Date.now()}`;
const written = [{ n: 1 }, { n: 2, text: "line\nbreak" }, [3]];

const stream = await DurableStream.create({ url, contentType: "application/json" });
for (const message of written) await stream.append(JSON.stringify(message));
const caughtUp = await (await stream.stream({ live: false })).json();
same(caughtUp, written, "caught up");

const live = await stream.stream({ offset: "-1", live: "sse" });
const heard = [];
const hearing = new Promise((resolve) => {
  live.subscribeJson(async (batch) => {
    heard.push(...batch.items);
    if (heard.length > written.length) resolve();
  });
});
await stream.append(JSON.stringify("while it is read"));
await hearing;
live.cancel?.();
same(heard, [...written, "while it is read"], "live");
console.log(`the client read ${heard.length} messages`);
process.exit(0);

function same(found, expected, how) {
  if (JSON.stringify(found) === JSON.stringify(expected)) return;
  console.error(`${how}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  process.exit(1);
}
