//! `quixos digest`: what stands for a package's meaning, whatever its layout and comments.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Output};
use crate::sources;

const EXAMPLES: &str = "\
Examples:
  quixos digest package/               of the packages in a folder
  quixos digest package/ --json        for programs

The digest is the BLAKE3 hash of the canonical text without comments.";

/// The arguments of `digest`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, and folders with `.quixos` files in them.
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Prints the digests.
///
/// # Errors
/// When a file cannot be read, or the definitions have errors.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let definitions = sources::checked(&args.paths, output)?;
    let packages: Vec<Value> = definitions
        .packages
        .iter()
        .map(|it| json!({ "name": it.name, "revision": it.revision, "digest": it.digest }))
        .collect();
    let rows = definitions
        .packages
        .iter()
        .map(|it| vec![it.revision.clone(), it.digest.clone()])
        .collect();
    output.print(&Answer::new(Value::Array(packages)).table(&["revision", "digest"], rows))?;
    Ok(Exit::Good)
}
