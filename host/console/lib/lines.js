// What the operator door sends bit by bit: a JSON value a line, and server-sent events.

/** Reads the lines of a stream of bytes; the last one may lack its end. */
export async function* lines(body) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks(body)) {
    rest += decoder.decode(chunk, { stream: true });
    const found = rest.split("\n");
    rest = found.pop();
    for (const line of found) yield line.endsWith("\r") ? line.slice(0, -1) : line;
  }
  rest += decoder.decode();
  if (rest) yield rest;
}

/** Reads JSON values, one a line. */
export async function* values(body) {
  for await (const line of lines(body)) if (line.trim()) yield JSON.parse(line);
}

/** Reads server-sent events: `{id, type, data}`. What was begun and has no end is none. */
export async function* events(body) {
  let event = { type: "message", data: [] };
  let id = "";
  for await (const line of lines(body)) {
    if (line === "") {
      if (event.data.length) yield { id, type: event.type, data: event.data.join("\n") };
      event = { type: "message", data: [] };
      continue;
    }
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") event.data.push(text);
    else if (name === "event") event.type = text;
    else if (name === "id" && !text.includes("\0")) id = text;
  }
}

/** The chunks of a body; not every browser can iterate over a stream. */
async function* chunks(body) {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
