//! The agent event protocol over real sockets.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../support/mod.rs"]
mod support;

mod again;
mod behind;
mod client;
mod errors;
mod failures;
mod random;
mod setting;
mod threads;
mod turns;
