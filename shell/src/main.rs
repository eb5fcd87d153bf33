//! The `quixos` command. What it does stands in the library, where tests reach it.

use std::process::ExitCode;

use clap::Parser as _;
use quixos_shell::cli::{Cli, run};

fn main() -> ExitCode {
    ExitCode::from(run(Cli::parse()).number())
}
