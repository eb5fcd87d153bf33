//! The shell at a distance: commands typed here run in a host that serves the store.
//!
//! There, [`HostCommands`] runs them as the shell does and says what comes of them as [`frame`]s.
//! Here, [`RemoteShell`] prints these as if it had run them: it knows no command and no definition,
//! so that both may be of different versions.

mod client;
mod commands;
mod connection;
mod frame;
mod suggest;

pub use client::RemoteShell;
pub use commands::HostCommands;
pub use connection::{ConnectArgs, Connection};
