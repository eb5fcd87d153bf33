//! The agent event protocol: turns as clients see them.
//!
//! What a client is told of a turn follows from the session's log and from nothing else
//! (`projection.rs`): the same log gives the same events under the same ids, so a stream can be
//! broken off and gone on with anywhere. What is being said right now is put in between as deltas
//! (`reader.rs`); it has no id, and comes again as a whole to whoever missed it.
//!
//! In reading order: `begin.rs` (a request becomes a turn), `log.rs`, `position.rs`,
//! `projection.rs`, `reader.rs`, `wire.rs`; `history.rs` (a thread as a page that loads wants it);
//! `problem.rs` (what is wrong, as a status). The routes are in `routes/agent.rs` and
//! `routes/threads.rs`.

mod begin;
mod history;
mod log;
mod position;
mod problem;
mod projection;
mod reader;
mod summary;
mod wire;

pub(crate) use begin::{begin, find};
pub(crate) use history::{Page, Shelved, Thread};
pub(crate) use position::Position;
pub(crate) use problem::Problem;
pub(crate) use reader::TurnStream;
pub(crate) use wire::{Format, keep_alive, respond, streamed};
