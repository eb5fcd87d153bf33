//! `quixos export`: all of a store, in one file that does not depend on the engine below.

use std::fs::{self, File};
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
    if !stdout && !args.force && args.file.exists() {
        let message = format!("`{}` is there already", args.file.display());
        return Err(Failure::new(Exit::Conflict, message).help("`--force` writes over it"));
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

fn write(runtime: &Runtime, to: impl Write, path: &Path) -> Result<Counts, Failure> {
    blocking(runtime.export(BufWriter::new(to))).map_err(|error| match error {
        ExportError::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => error.into(),
        ExportError::Write(error) => Failure::io("write", path, &error),
        ExportError::Store(error) => error.into(),
    })
}

/// Writes a file under another name first, so that under its own it is whole or not there.
fn whole_file<T>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let failed = |error| Failure::io("write", &part, &error);
    let mut file = File::create(&part).map_err(failed)?;
    let written = write(&mut file).and_then(|done| {
        file.sync_all().map_err(failed)?;
        fs::rename(&part, path).map_err(failed)?;
        Ok(done)
    });
    if written.is_err() {
        // The first error is the one to tell; what is left is named for what it is.
        let _ = fs::remove_file(&part);
    }
    written
}
