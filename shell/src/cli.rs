//! The command line: global options, and one subcommand for each file of `command/`.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::command;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Format, Output, Style};

const EXAMPLES: &str = "\
Examples:
  quixos tour                                  see the life of a request
  quixos check definitions/                    check every definition in a folder
  quixos serve --demo                          talk to an agent over HTTP
  quixos shell                                 work in ./quixos-data
  quixos shell -c 'list request' --json        the same, for programs
  quixos --store /var/lib/quixos verify        check a store
  quixos shell --connect http://127.0.0.1:8081 work in the store of a running host";

/// A durable queue of work for agents: its definitions, its store, its shell.
#[derive(Debug, Parser)]
#[command(name = "quixos", version, after_help = EXAMPLES, after_long_help = long_help())]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub globals: Globals,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options that every command takes.
#[derive(Clone, Debug, clap::Args)]
pub struct Globals {
    /// The store [default: ./quixos-data].
    #[arg(long = "store", global = true, value_name = "DIR")]
    pub chosen_store: Option<PathBuf>,
    /// Print for programs: one JSON value a line.
    #[arg(long, global = true)]
    pub json: bool,
    /// Who acts, for the history [default: the user].
    #[arg(long, global = true, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub actor: Option<String>,
}

/// What the command line asks for.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check definitions, and show every fault in them.
    Check(command::check::Args),
    /// Write definitions in their canonical layout.
    Fmt(command::fmt::Args),
    /// Generate Rust from definitions.
    Generate(command::generate::Args),
    /// Print the digests of packages.
    Digest(command::digest::Args),
    /// Compare two revisions: safe, needs migration, or breaking.
    Diff(command::diff::Args),
    /// Show the life of a request on a store of its own.
    Tour(command::tour::Args),
    /// Serve sessions over HTTP.
    Serve(command::serve::Args),
    /// Work in a store: at a terminal, or by a script.
    Shell(command::shell::Args),
    /// Check every stored byte that can be checked.
    Verify(command::verify::Args),
    /// Write a store to a file that another can be made of.
    Export(command::export::Args),
    /// Make a new store of an exported file.
    Import(command::import::Args),
    /// Back a store up, also while a host serves it.
    Backup(command::backup::Args),
    /// Make a new store of a backup, and verify it.
    Restore(command::restore::Args),
    /// Print completions for a command line's shell.
    Completions(command::completions::Args),
}

fn long_help() -> String {
    format!("{EXAMPLES}\n\nExit codes:\n{}", Exit::table())
}

/// Where the store is when nobody says.
const DEFAULT_STORE: &str = "./quixos-data";

impl Globals {
    /// Returns the store's folder.
    #[must_use]
    pub fn store(&self) -> &Path {
        self.chosen_store.as_deref().unwrap_or(Path::new(DEFAULT_STORE))
    }

    /// Returns the name that the history gets.
    #[must_use]
    pub fn actor(&self) -> String {
        let user = || std::env::var("USER").ok().filter(|user| !user.is_empty());
        self.actor.clone().or_else(user).unwrap_or_else(|| "operator".to_owned())
    }

    /// Returns an output to this process's own streams.
    #[must_use]
    pub fn output(&self) -> Output {
        let terminal = std::io::stdout().is_terminal();
        let format = if self.json { Format::Json } else { Format::Text };
        let refused = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        let colour = terminal && std::io::stderr().is_terminal() && !refused;
        let width = if terminal { terminal_width() } else { None };
        let style = Style { colour, width };
        Output::new(format, style, Box::new(std::io::stdout()), Box::new(std::io::stderr()))
    }
}

/// Returns how wide the terminal is. Some do not know, and say 0.
fn terminal_width() -> Option<u16> {
    crossterm::terminal::size().ok().map(|(columns, _)| columns).filter(|columns| *columns > 0)
}

/// Does what a command line asks for, and returns what the process ends with.
#[must_use]
pub fn run(cli: Cli) -> Exit {
    let mut output = cli.globals.output();
    match dispatch(cli.command, &cli.globals, &mut output) {
        Ok(exit) => exit,
        Err(failure) => {
            output.fail(&failure);
            failure.exit
        }
    }
}

/// Says why this process's command line is none, or the help that it asks for, and returns what the
/// process ends with.
#[must_use]
pub fn misread(error: &clap::Error) -> Exit {
    let json = std::env::args_os().take_while(|it| it != "--").any(|it| it == "--json");
    if !json || !error.use_stderr() {
        // Whoever does not read it is not told; clap itself does the same.
        drop(error.print());
        return if error.use_stderr() { Exit::Usage } else { Exit::Good };
    }
    let globals = Globals { chosen_store: None, json, actor: None };
    globals.output().fail(&misread_failure(error));
    Exit::Usage
}

/// Takes apart what is written for people: the fault, perhaps a tip, the usage.
fn misread_failure(error: &clap::Error) -> Failure {
    let help = "`quixos --help` lists the commands and options";
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage("no command is named").help(help);
    }
    let text = error.to_string();
    let mut parts = text.split("\n\n").map(str::trim);
    let fault = parts.next().unwrap_or_default();
    let fault = fault.strip_prefix("error: ").unwrap_or(fault);
    let message = fault.split_whitespace().collect::<Vec<_>>().join(" ");
    let tip = parts.find_map(|part| part.strip_prefix("tip: "));
    Failure::usage(message).help(tip.unwrap_or(help))
}

fn dispatch(command: Command, globals: &Globals, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        Command::Check(args) => command::check::run(&args, output),
        Command::Fmt(args) => command::fmt::run(&args, output),
        Command::Generate(args) => command::generate::run(&args, output),
        Command::Digest(args) => command::digest::run(&args, output),
        Command::Diff(args) => command::diff::run(&args, output),
        Command::Tour(args) => command::tour::run(&args, globals, output),
        Command::Serve(args) => command::serve::run(&args, globals, output),
        Command::Shell(args) => command::shell::run(&args, globals, output),
        Command::Verify(args) => command::verify::run(&args, globals, output),
        Command::Export(args) => command::export::run(&args, globals, output),
        Command::Import(args) => command::import::run(&args, globals, output),
        Command::Backup(args) => command::backup::run(&args, globals, output),
        Command::Restore(args) => command::restore::run(&args, globals, output),
        Command::Completions(args) => command::completions::run(&args, output),
    }
}
