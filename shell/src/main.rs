//! The `quixos` command. What it does stands in the library, where tests reach it.

use std::process::ExitCode;

use clap::Parser as _;
use quixos_shell::cli::{Cli, misread, run};

fn main() -> ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => run(cli),
        Err(error) => misread(&error),
    };
    ExitCode::from(exit.number())
}
