//! `quixos backup`: an export that was read again, of a store that nobody has open or of a host that
//! serves it.
//!
//! What is written is what `quixos export` writes; a backup is also read to its end before it has
//! its name, so that one that is there can be restored.

use std::fs::File;
use std::io::{BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};

use quixos_runtime::export::{Imported, check};
use quixos_runtime::kind_word;
use serde_json::json;

use super::{export, import};
use crate::cli::Globals;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Output};
use crate::progress::Progress;
use crate::remote::{ConnectArgs, Connection};
use crate::store;
use crate::whole_file::whole_file;

const EXAMPLES: &str = "\
Examples:
  quixos backup --connect http://127.0.0.1:8081 monday.backup   while a host serves the store
  quixos backup monday.backup                                   ./quixos-data, while nobody does
  quixos --store new-data restore monday.backup                 make a store of it

The file is one consistent version of the store. It is whole, on the disk and read again, or not
there. While it is taken of a host, calls that write wait for as long as the store is read.";

/// The arguments of `backup`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file to write.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write over a file that is there.
    #[arg(long)]
    force: bool,
    /// Of which host.
    #[command(flatten)]
    connect: ConnectArgs,
}

/// Backs a store up.
///
/// # Errors
/// When the store cannot be opened, the host not be reached, or the file not be written.
pub fn run(args: &Args, globals: &Globals, output: &mut Output) -> Result<Exit, Failure> {
    let path = &args.file;
    export::refuse_to_overwrite(path, args.force)?;
    let connection = args.connect.connection(globals, output)?;
    let progress = Progress::begin(output, "backing up", None);
    let saved = match &connection {
        Some(connection) => whole_file(path, |file| {
            fetch(connection, progress.writes(&mut *file), path)?;
            read_again(file, path)
        })?,
        None => {
            let opened = store::open(globals.store())?;
            let saved = whole_file(path, |file| {
                export::write(&opened.runtime, progress.writes(&mut *file), path)?;
                read_again(file, path)
            });
            opened.runtime.close();
            saved?
        }
    };
    drop(progress);
    let parts: Vec<String> = saved
        .counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{count} {}", kind_word(kind)))
        .collect();
    let name = path.display().to_string();
    let commit = saved.header.commit;
    let answer = json!({ "file": name, "commit": commit, "counts": saved.counts });
    let line = format!("backed up to `{name}`, up to commit {commit}: {}", parts.join(", "));
    output.print(&Answer::new(answer).line(line))?;
    Ok(Exit::Good)
}

fn fetch(connection: &Connection, to: impl Write, path: &Path) -> Result<(), Failure> {
    let mut to = BufWriter::new(to);
    let failed = |error| Failure::io("write", path, &error);
    connection.fetch("/operator/backup", |piece| to.write_all(piece).map_err(failed))?;
    to.flush().map_err(failed)
}

/// Reads what was written, to its end.
fn read_again(file: &mut File, path: &Path) -> Result<Imported, Failure> {
    file.rewind().map_err(|error| Failure::io("read", path, &error))?;
    check(file).map_err(import::failure)
}
