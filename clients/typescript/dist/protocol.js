// @generated from the JSON Schema of the agent event protocol: protocol/tests/clients.rs
//
// What goes between a client and its host.
export {};
