//! The state machine, step by step, through the doors that engines and clients use.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../support/mod.rs"]
mod support;

mod blocks;
mod decisions;
mod delegations;
mod follows;
mod forks;
mod interrupts;
mod models;
mod once;
mod random;
mod responses;
mod shelves;
mod tools;
mod turns;
mod waits;
