//! `quixos import`: a new store, made of an exported file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use quixos_runtime::export::Imported;
use quixos_runtime::{ImportError, kind_word};
use serde_json::json;

use crate::cli::Globals;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Output};
use crate::progress::Progress;
use crate::store;

const EXAMPLES: &str = "\
Examples:
  quixos --store new-data import backup.quixos-export
  ssh host 'cat b' | quixos --store new-data import -

The store must be empty or not there. Nothing of it can be used before all of the file was read
and its checksums fit.";

/// The arguments of `import`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file to read; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Makes a store.
///
/// # Errors
/// When the file is damaged, the store is not empty, or either cannot be read or written.
pub fn run(args: &Args, globals: &Globals, output: &mut Output) -> Result<Exit, Failure> {
    let imported = read(&args.file, globals.store(), output)?;
    // Whether this program's packages are those of the export shows when it is opened.
    store::open(globals.store())?.runtime.close();
    let parts: Vec<String> = imported
        .counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{count} {}", kind_word(kind)))
        .collect();
    let folder = globals.store().display().to_string();
    let answer = Answer::new(json!({
        "store": folder, "commit": imported.header.commit, "counts": imported.counts,
    }))
    .line(format!(
        "imported into `{folder}`, up to commit {}: {}",
        imported.header.commit,
        parts.join(", ")
    ));
    output.print(&answer)?;
    Ok(Exit::Good)
}

/// Reads a file into a store, which is not opened by it.
pub(super) fn read(path: &Path, folder: &Path, output: &mut Output) -> Result<Imported, Failure> {
    let failed = |error| Failure::io("read", path, &error);
    let (from, length): (Box<dyn Read>, _) = if path.as_os_str() == "-" {
        (Box::new(io::stdin().lock()), None)
    } else {
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        (Box::new(file), Some(length))
    };
    let store = store::engine(folder)?;
    let progress = Progress::begin(output, "importing", length);
    quixos_runtime::import(progress.reads(from), store.as_ref()).map_err(failure)
}

/// Says what is wrong with a file, or with the store that it is to be read into.
pub(super) fn failure(error: ImportError) -> Failure {
    let exit = match &error {
        ImportError::Read(_) => Exit::Io,
        ImportError::NotAnExport | ImportError::Version { .. } | ImportError::Format { .. } => {
            Exit::Mismatch
        }
        ImportError::Corrupt { .. } => Exit::Corrupt,
        ImportError::NotEmpty => Exit::Conflict,
        ImportError::Store(error) => Exit::of_call(error),
    };
    let help = match &error {
        ImportError::Corrupt { .. } => Some("nothing was imported; use another copy of the file"),
        ImportError::NotEmpty => Some("name another folder with `--store DIR`"),
        ImportError::NotAnExport => Some("name a file that `quixos export` wrote"),
        ImportError::Read(_)
        | ImportError::Version { .. }
        | ImportError::Format { .. }
        | ImportError::Store(_) => None,
    };
    let failure = Failure::new(exit, error.to_string());
    match help {
        Some(help) => failure.help(help),
        None => failure,
    }
}
