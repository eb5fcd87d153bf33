//! Each operation as it is documented: what it does, and each refusal, error and repetition that
//! its section of `docs/operations.md` names. One file an operation.

#[path = "../support/mod.rs"]
mod support;

mod agent;
mod directory;
mod item;
mod question;
mod request;
mod thread;
mod workspace;
