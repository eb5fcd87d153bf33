//! `quixos verify`: everything that can be checked of a store. Nothing is changed.

use crate::cli::Globals;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::{store, verb};

const EXAMPLES: &str = "\
Examples:
  quixos verify                            check ./quixos-data
  quixos --store /var/lib/quixos verify --json

Checks layouts, references, both ends of every edge, cardinalities, types, streams, the rules that
the packages promise, and the chain of the history. Ends with 1 when something is not as it should
be. It never repairs anything.";

/// The arguments of `verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {}

/// Checks a store.
///
/// # Errors
/// When the store cannot be opened or read.
pub fn run(_: &Args, globals: &Globals, output: &mut Output) -> Result<Exit, Failure> {
    let opened = store::open(globals.store())?;
    let progress = Progress::begin(output, "checking", None);
    let report = verb::verify::report(&opened.runtime);
    drop(progress);
    opened.runtime.close();
    let report = report?;
    output.print(&verb::verify::answer(&report))?;
    Ok(if report.is_clean() { Exit::Good } else { Exit::Findings })
}
