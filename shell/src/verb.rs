//! One file per command of `quixos shell`: what it reads, and how it answers.

pub(crate) mod call;
pub(crate) mod describe;
pub(crate) mod explain;
pub(crate) mod follow;
pub(crate) mod help;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod session;
pub(crate) mod show;
pub(crate) mod stream;
pub(crate) mod verify;
