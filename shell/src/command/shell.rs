//! `quixos shell`: at a terminal a conversation, otherwise a script.

use std::fs;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;

use crate::cli::Globals;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::Names;
use crate::output::{Format, Output};
use crate::remote::{ConnectArgs, RemoteShell};
use crate::shell::{self, Runs, Shell};
use crate::{interactive, store};

const EXAMPLES: &str = "\
Examples:
  quixos shell                                       talk to ./quixos-data
  quixos shell -c 'list request limit 5' --json      one line of a script
  quixos shell nightly.quixos-script                 a script in a file
  echo 'verify' | quixos shell                       a script on standard input
  quixos shell --connect http://127.0.0.1:8081       work in the store of a running host

A script is read whole before any of it runs, and stops at the first command that fails, which is
named with its line; the process ends with that failure's exit code. `quixos shell -c help` lists
the commands.";

/// The arguments of `shell`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Commands to run, separated by line breaks or `;`.
    #[arg(short = 'c', long, value_name = "TEXT", conflicts_with = "file")]
    command: Option<String>,
    /// A script; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Where.
    #[command(flatten)]
    connect: ConnectArgs,
}

/// Works in a store: of a folder, or of a host that serves it.
///
/// # Errors
/// When the store cannot be opened, the host not be reached, or a command of a script fails.
pub fn run(args: &Args, globals: &Globals, output: &mut Output) -> Result<Exit, Failure> {
    let script = script(args)?;
    if let Some(connection) = args.connect.connection(globals, output)? {
        let mut shell = RemoteShell::begin(connection)?;
        if output.format() == Format::Text {
            output.use_names(shell.names());
        }
        return work(&mut shell, script, output);
    }
    if let Some((name, text)) = &script {
        // What says nothing to a store does not make one.
        shell::script(name, text)?;
    }
    let opened = store::open_or_make(globals.store(), output)?;
    if output.format() == Format::Text {
        output.use_names(Names::short(opened.runtime.definitions()));
    }
    let mut shell = Shell::new(opened.runtime.clone(), opened.clock, &globals.actor());
    let done = work(&mut shell, script, output);
    // Whatever came of it, what was asked for is made durable and the store let go.
    opened.runtime.close();
    done
}

/// Runs a script, or talks.
fn work(
    shell: &mut dyn Runs,
    script: Option<(String, String)>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match script {
        Some((name, text)) => shell.run(&name, &text, output).map(|_| ())?,
        None => interactive::run(shell, output)?,
    }
    Ok(Exit::Good)
}

/// The script and what it is called; nothing when a person is there.
fn script(args: &Args) -> Result<Option<(String, String)>, Failure> {
    if let Some(text) = &args.command {
        return Ok(Some(("-c".to_owned(), text.clone())));
    }
    match &args.file {
        Some(path) if path.as_os_str() != "-" => {
            let text =
                fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?;
            Ok(Some((path.display().to_string(), text)))
        }
        None if io::stdin().is_terminal() && io::stdout().is_terminal() => Ok(None),
        _ => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).map_err(|error| {
                Failure::new(Exit::Io, format!("cannot read the script: {error}"))
            })?;
            Ok(Some(("standard input".to_owned(), text)))
        }
    }
}
