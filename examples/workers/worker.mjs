// A worker for `quixos serve`: it does what is proposed, and knows the weather.
//
// Run it with `node examples/workers/worker.mjs [PORT]`; it needs nothing but Node. With
// WORKER_SECRET in the environment, it answers only what is signed with it. docs/workers.md is the
// protocol.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.WORKER_SECRET ?? "";

const tools = {
  weather: async ({ city }) => `rain in ${city}`,
};

/** Answers a decision. What is proposed is right, unless a tool of ours is to be run. */
async function decide({ trigger, proposed }) {
  const isOurs = trigger.type === "tool.execute" && Object.hasOwn(tools, trigger.name);
  if (!isOurs || trigger.input.status !== "valid") return proposed;
  // A tool may be run twice: what it does elsewhere is to be keyed by the call's id and attempt.
  try {
    const result = await tools[trigger.name](trigger.input.value);
    return { actions: [{ type: "tool.result", result }] };
  } catch (error) {
    // The model is told, and may do better.
    return { actions: [{ type: "tool.error", error: String(error) }] };
  }
}

function isSigned(request, body) {
  if (!secret) return true;
  const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
  const given = Buffer.from(request.headers["x-substructure-signature"] ?? "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const signed = isSigned(request, body);
  const answer = signed ? await decide(JSON.parse(body)) : { error: "the signature is wrong" };
  response.writeHead(signed ? 200 : 401, { "Content-Type": "application/json" });
  response.end(JSON.stringify(answer));
});

server.listen(Number(process.argv[2] ?? 8700), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
