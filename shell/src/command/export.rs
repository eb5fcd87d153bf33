//! `quixos export`: all of a store, in one file that does not depend on the engine below.

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use quixos_runtime::{Counts, ExportError, Runtime, blocking, kind_word};
use serde_json::json;

use crate::cli::Globals;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Output};
use crate::progress::Progress;
use crate::store;
use crate::whole_file::whole_file;

const EXAMPLES: &str = "\
Examples:
  quixos export backup.quixos-export       write ./quixos-data to a file
  quixos export - | ssh host 'cat > b'     write it to standard output

The file is versioned and checksummed, and whole or not there. `quixos import` makes a store of it.";

/// The arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file to write; `-` is standard output.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write over a file that is there.
    #[arg(long)]
    force: bool,
}

/// Writes a store to a file.
///
/// # Errors
/// When the store cannot be opened or read, or the file cannot be written.
pub fn run(args: &Args, globals: &Globals, output: &mut Output) -> Result<Exit, Failure> {
    let stdout = args.file.as_os_str() == "-";
    if stdout && io::stdout().is_terminal() {
        let failure = Failure::usage("an export is not for a terminal");
        return Err(failure.help("name a file, or send it on: `quixos export - | …`"));
    }
    if !stdout {
        refuse_to_overwrite(&args.file, args.force)?;
    }
    let opened = store::open(globals.store())?;
    let progress = Progress::begin(output, "exporting", None);
    let counts = if stdout {
        write(&opened.runtime, progress.writes(io::stdout().lock()), &args.file)?
    } else {
        whole_file(&args.file, |file| write(&opened.runtime, progress.writes(file), &args.file))?
    };
    drop(progress);
    opened.runtime.close();
    if !stdout {
        let parts: Vec<String> = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| format!("{count} {}", kind_word(kind)))
            .collect();
        let answer =
            Answer::new(json!({ "file": args.file.display().to_string(), "counts": counts }))
                .line(format!("exported to `{}`: {}", args.file.display(), parts.join(", ")));
        output.print(&answer)?;
    }
    Ok(Exit::Good)
}

/// Refuses to write over a file, unless that is asked for.
pub(super) fn refuse_to_overwrite(path: &Path, force: bool) -> Result<(), Failure> {
    if force || !path.exists() {
        return Ok(());
    }
    let message = format!("`{}` is there already", path.display());
    Err(Failure::new(Exit::Conflict, message).help("`--force` writes over it"))
}

/// Writes a store.
pub(super) fn write(runtime: &Runtime, to: impl Write, path: &Path) -> Result<Counts, Failure> {
    blocking(runtime.export(BufWriter::new(to))).map_err(|error| match error {
        ExportError::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => error.into(),
        ExportError::Write(error) => Failure::io("write", path, &error),
        ExportError::Store(error) => error.into(),
    })
}
