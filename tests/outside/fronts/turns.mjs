// The golden turns of host/tests/turns, served as the host serves them, so that the published clients
// judge each of them, also what the demo never says.

import fs from "node:fs";
import http from "node:http";
import path from "node:path";

const folder = process.env.CASES;

/** Returns the names of the turns. */
export function names(kind) {
  const ending = `.${kind}.ndjson`;
  return fs.readdirSync(folder).filter((it) => it.endsWith(ending)).map((it) => it.slice(0, -ending.length));
}

/** Serves one turn to whoever posts, and returns where. */
export async function serve(name, kind, headers, end = "") {
  const lines = fs.readFileSync(path.join(folder, `${name}.${kind}.ndjson`), "utf8").trim().split("\n");
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream", ...headers });
    response.end(lines.map((line) => `data: ${line}\n\n`).join("") + end);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => (server.closeAllConnections(), server.close());
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}
