//! The `quixos` command: definitions are checked, formatted and compared, a store is opened,
//! worked in, verified, moved.
//!
//! Nothing here decides what an operation does or what a definition means: this crate reads
//! commands, calls the crates below, and prints what they answer. Data goes to standard output,
//! remarks and failures to standard error.

pub mod cli;
pub mod command;
mod completion;
mod exit;
mod failure;
mod interactive;
mod interrupt;
mod language;
mod live;
mod lookup;
mod names;
mod output;
mod progress;
mod remote;
mod scope;
mod serving;
mod shell;
mod sources;
mod stop;
mod store;
mod verb;
mod whole_file;

pub use exit::Exit;
pub use failure::{Failure, Origin};
pub use names::Names;
pub use output::{Answer, Block, Format, Output, Paint, Style};
pub use remote::{ConnectArgs, Connection, HostCommands, RemoteShell};
pub use shell::{Ask, Flow, Shell};
