// A proxy that cuts connections in the middle of an answer, at places that a seed decides.

import net from "node:net";

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
export function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Starts a proxy before a host. Each connection is cut after up to `most` bytes of an answer, counted
 * from behind its first event; of the first `lost` ones nothing of the answer comes through, though the
 * host has begun what it was asked.
 */
export async function proxy(url, seed, most = 1500, lost = 0) {
  const { hostname, port } = new URL(url);
  const next = numbers(seed);
  const sockets = new Set();
  const state = { cuts: 0, cutting: true, lost };
  const server = net.createServer((client) => {
    const host = net.connect(Number(port), hostname);
    const end = () => (client.destroy(), host.destroy());
    for (const socket of [client, host]) {
      sockets.add(socket);
      socket.on("error", end).on("close", () => (sockets.delete(socket), end()));
    }
    let left = Math.floor(next() * most);
    let seen = "";
    let counts = false;
    client.pipe(host);
    const isLost = state.lost > 0;
    state.lost -= Number(isLost);
    host.on("data", (chunk) => {
      if (isLost) return end();
      if (!counts) {
        seen += chunk.toString("latin1");
        counts = /\r\n\r\n[\s\S]*\n\n/.test(seen);
        client.write(chunk);
        return;
      }
      if (!state.cutting || chunk.length < left) {
        left -= chunk.length;
        client.write(chunk);
        return;
      }
      state.cuts += 1;
      client.write(chunk.subarray(0, left), end);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${server.address().port}`, state, close };
}
