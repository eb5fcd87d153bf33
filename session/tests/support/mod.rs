//! What the tests of sessions stand on: a runtime over a store in memory, with a clock that only
//! tests move, and a test in the place of the engine, the workers, the models and the clients.
//!
//! A [`World`] has a registry and agents; a [`Talk`] is one session in it. A test submits, sees what
//! the worker is asked, answers, lets models reply, and moves the clock. All of it goes through the
//! clients that are generated from the definitions.

#![allow(dead_code, unused_imports, reason = "each test binary uses what it needs of this")]

mod dice;
mod inputs;
mod talk;
mod world;

pub(crate) use dice::Dice;
pub(crate) use inputs::*;
pub(crate) use quixos_session::replay::Happened;
pub(crate) use talk::{Talk, begins, ended};
pub(crate) use world::{World, refusal};
