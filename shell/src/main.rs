//! The `quixos` command. What it does stands in the library, where tests reach it.

use std::process::ExitCode;

use clap::Parser as _;
use mimalloc::MiMalloc;
use quixos_shell::cli::{Cli, misread, run};

/// What a call takes and gives back crosses threads, which the allocator of most C libraries does
/// at a price: a fifth of the processor's time under load.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => run(cli),
        Err(error) => misread(&error),
    };
    ExitCode::from(exit.number())
}
