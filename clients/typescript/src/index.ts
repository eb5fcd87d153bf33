// A client of agents behind a Quixos host, for browsers and for Node, without dependencies.

export { Client, type FollowOptions, type Options, type SendOptions } from "./client.js";
export { type Patience } from "./connection.js";
export { Content, type Block, type TerminalEvent } from "./content.js";
export { ConnectionError, RequestError } from "./errors.js";
export type * from "./protocol.js";
export { SseParser, type Frame } from "./sse.js";
export { Turn } from "./turn.js";
