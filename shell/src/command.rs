//! One file per command: its arguments, and what it does with them.

pub mod backup;
pub mod check;
pub mod completions;
pub mod diff;
pub mod digest;
pub mod export;
pub mod fmt;
pub mod generate;
pub mod import;
pub mod restore;
pub mod serve;
pub mod shell;
pub mod tour;
pub mod verify;
