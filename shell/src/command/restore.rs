//! `quixos restore`: a new store, made of a backup and checked.
//!
//! It is an import, and a `verify` of all that came of it: the types, both ends of every edge, the
//! rules of the packages, the chain of the history.

use std::path::PathBuf;

use serde_json::json;

use super::import;
use crate::cli::Globals;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Output};
use crate::progress::Progress;
use crate::{store, verb};

const EXAMPLES: &str = "\
Examples:
  quixos --store new-data restore monday.backup

The store must be empty or not there. Nothing of it can be used before all of the file was read and
its checksums fit; then all of it is verified, as `quixos verify` does. Ends with 1 when something
is not as it should be: the store is there to be looked at.";

/// The arguments of `restore`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file to read; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Makes a store of a backup.
///
/// # Errors
/// When the file is damaged, the store is not empty, or either cannot be read or written.
pub fn run(args: &Args, globals: &Globals, output: &mut Output) -> Result<Exit, Failure> {
    let folder = globals.store();
    let imported = import::read(&args.file, folder, output)?;
    let opened = store::open(folder)?;
    let progress = Progress::begin(output, "checking", None);
    let report = verb::verify::report(&opened.runtime);
    drop(progress);
    opened.runtime.close();
    let report = report?;
    let (name, commit) = (folder.display().to_string(), imported.header.commit);
    let verified = verb::verify::answer(&report);
    let json = json!({ "store": name, "commit": commit, "verify": verified.json });
    let line = format!("restored into `{name}`, up to commit {commit}");
    let mut answer = Answer::new(json).line(line);
    answer.blocks.extend(verified.blocks);
    output.print(&answer)?;
    Ok(if report.is_clean() { Exit::Good } else { Exit::Findings })
}
