//! `quixos diff`: what changed between two revisions, and who survives it.

use std::path::PathBuf;

use quixos_schema::{Impact, diff, render_changes_json, render_changes_text};
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Format, Output};
use crate::sources;

const EXAMPLES: &str = "\
Examples:
  quixos diff old/ new/                two folders of definitions
  quixos diff old/ new/ --json         for programs

Each change is safe, needs a migration of stored data, or breaks callers or handlers. Ends with 1
when one is not safe.";

/// The arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The old revision: a file, or a folder with `.quixos` files in it.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The new one.
    #[arg(value_name = "NEW")]
    new: PathBuf,
}

/// Compares.
///
/// # Errors
/// When a file cannot be read, or either revision has errors.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let old = sources::checked(std::slice::from_ref(&args.old), output)?;
    let new = sources::checked(std::slice::from_ref(&args.new), output)?;
    let changes = diff(&old, &new);
    let safe = changes.iter().all(|change| change.impact() == Impact::Safe);
    match output.format() {
        Format::Text => output.raw(&render_changes_text(&changes, &old.sources, &new.sources))?,
        Format::Json => output.print(&Answer::new(json!({
            "safe": safe,
            "changes": render_changes_json(&changes, &old.sources, &new.sources),
        })))?,
    }
    Ok(if safe { Exit::Good } else { Exit::Findings })
}
