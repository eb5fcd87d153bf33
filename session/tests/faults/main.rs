//! Faults that engines of this kind have had, each tried by its smallest way to it: a test is named
//! by the number of its fault. `list.rs` holds the list.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../support/mod.rs"]
mod support;

mod clock;
mod delegations;
mod list;
mod log;
mod models;
mod pauses;
mod restart;
mod scenes;
mod tools;
mod tree;
mod turns;
