// A client of agents behind a Quixos host, for browsers and for Node, without dependencies.
export { Client } from "./client.js";
export {} from "./connection.js";
export { Content } from "./content.js";
export { ConnectionError, RequestError } from "./errors.js";
export { SseParser } from "./sse.js";
export { Turn } from "./turn.js";
