//! Each operation as it is documented: what it does, and each refusal, error and repetition that
//! its section of `docs/operations.md` names. One file an operation.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../support/mod.rs"]
mod support;

mod agent;
mod directory;
mod item;
mod question;
mod request;
mod thread;
mod workspace;
