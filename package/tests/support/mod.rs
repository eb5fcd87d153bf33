//! What the tests of the package stand on: a runtime over a store in memory, with a clock that
//! only tests move and ids that repeat, and a desk in it at which requests are made.
//!
//! Calls go through the typed clients that are generated from the definitions, or through JSON
//! where a client has no such call: for what is internal.

#![allow(dead_code, unused_imports, reason = "each test binary uses what it needs of this")]

mod bare;
mod desk;
mod inputs;
mod world;

pub(crate) use bare::bare_directory;
pub(crate) use desk::{Desk, unchanged};
pub(crate) use inputs::*;
pub(crate) use world::{World, invalid_at};
