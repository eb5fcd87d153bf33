//! Measures the runtime against what is below it and what one would use instead, all in one run.
//!
//! `cargo bench -p quixos-bench`, then options behind `--`; how to read what it prints:
//! docs/benchmarks.md. From the outside in: `arguments.rs`, `driver.rs`, `scenarios.rs` (what is
//! measured), `callers.rs` (how), `systems.rs` (whom), `work.rs` (doing what), `trace.rs` (how raw
//! sled and the plain file know what to do), `desk.rs` (sessions over an engine).
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command talks to whoever runs it"
)]

mod arguments;
mod callers;
mod child;
mod desk;
mod driver;
mod failure;
mod process;
mod scenarios;
mod systems;
mod trace;
mod work;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;

/// The one of the `quixos` command; raw sled has it too.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let ran = Runtime::new().map_err(Into::into).and_then(|runtime| {
        runtime.block_on(async {
            match &arguments.child {
                Some(role) => child::run(role).await,
                None => driver::run(&arguments).await,
            }
        })
    });
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
