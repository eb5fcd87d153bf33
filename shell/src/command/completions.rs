//! `quixos completions`: scripts that let a command line's shell complete this command.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  quixos completions bash > ~/.local/share/bash-completion/completions/quixos
  quixos completions zsh > ~/.zfunc/_quixos
  quixos completions fish > ~/.config/fish/completions/quixos.fish";

/// The arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Which shell.
    #[arg(value_enum)]
    shell: Kind,
}

/// The shells that completions are made for.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kind {
    Bash,
    Zsh,
    Fish,
}

/// Prints the script.
///
/// # Errors
/// When the answer cannot be written.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let shell = match args.shell {
        Kind::Bash => Shell::Bash,
        Kind::Zsh => Shell::Zsh,
        Kind::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "quixos", &mut script);
    output.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Good)
}
