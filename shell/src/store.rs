//! Opening a store: the folder, the engine, the packages that are built in.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use quixos_runtime::store::{OpenError as FolderError, SledOptions, SledStore, Store};
use quixos_runtime::{Builder, Clock, OpenError, PackageCode, Runtime, SystemClock};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::serving;

/// A store that is open, with what it runs on.
pub(crate) struct Opened {
    pub(crate) runtime: Runtime,
    pub(crate) clock: Arc<dyn Clock>,
}

/// Opens a store that is there.
///
/// # Errors
/// `not-found` when there is none; whatever keeps it from opening, with what to do.
pub(crate) fn open(folder: &Path) -> Result<Opened, Failure> {
    if is_new(folder)? {
        let message = format!("there is no store in `{}`", folder.display());
        return Err(Failure::new(Exit::NotFound, message)
            .help("name one with `--store DIR`; `quixos shell` makes one"));
    }
    load(engine(folder)?)
}

/// Opens a store, and makes it if it is not there, which is said.
///
/// # Errors
/// Whatever keeps it from opening, with what to do.
pub(crate) fn open_or_make(folder: &Path, output: &mut Output) -> Result<Opened, Failure> {
    let new = is_new(folder)?;
    let opened = load(engine(folder)?)?;
    if new {
        output.remark(&format!("made a new store in `{}`", folder.display()));
    }
    Ok(opened)
}

/// Opens a store that must not be there yet.
///
/// # Errors
/// `conflict` when there is something; whatever keeps it from opening.
pub(crate) fn make(folder: &Path) -> Result<Opened, Failure> {
    if !is_new(folder)? {
        let message = format!("there is something in `{}` already", folder.display());
        return Err(Failure::new(Exit::Conflict, message)
            .help("name a folder that is empty, or one that is not there"));
    }
    load(engine(folder)?)
}

/// Tells whether a folder is empty or not there.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn is_new(folder: &Path) -> Result<bool, Failure> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        // What is no folder is for the engine to refuse.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(Failure::io("read", folder, &error)),
    }
}

/// Opens the engine below.
///
/// # Errors
/// Whatever keeps it from opening.
pub(crate) fn engine(folder: &Path) -> Result<Arc<dyn Store>, Failure> {
    let store = SledStore::open(folder, SledOptions::default()).map_err(folder_failure)?;
    serving::forget(folder);
    Ok(Arc::new(store))
}

/// Loads the packages that are built in. Sessions and public streams are among them where the store
/// has some: where nobody serves any, they are in nobody's way.
fn load(store: Arc<dyn Store>) -> Result<Opened, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut packages = quixos_package::packages().to_vec();
    let mut opened = open_with(packages.clone(), &clock, &store);
    for package in [quixos_session::package(), quixos_streams::package()] {
        if !matches!(opened, Err(OpenError::PackageMissing { .. })) {
            break;
        }
        packages.push(package);
        opened = open_with(packages.clone(), &clock, &store);
    }
    Ok(Opened { runtime: opened.map_err(open_failure)?, clock })
}

fn open_with(
    packages: impl IntoIterator<Item = PackageCode>,
    clock: &Arc<dyn Clock>,
    store: &Arc<dyn Store>,
) -> Result<Runtime, OpenError> {
    let builder = Runtime::builder().clock(Arc::clone(clock));
    let builder = packages.into_iter().fold(builder, Builder::package);
    builder.open(Arc::clone(store))
}

fn folder_failure(error: FolderError) -> Failure {
    let exit = match &error {
        FolderError::Locked { .. } => Exit::Busy,
        FolderError::NotAStore { .. } | FolderError::OtherFormat { .. } => Exit::Mismatch,
        FolderError::Corrupt { .. } => Exit::Corrupt,
        FolderError::Io { .. } => Exit::Storage,
    };
    if let FolderError::Locked { path } = &error
        && let Some(url) = serving::operator_of(path)
    {
        let message = format!("a host serves `{}`", path.display());
        let help = format!("work in it with `quixos shell --connect {url}`");
        return Failure::new(exit, message).help(help);
    }
    // What to do stands behind the message.
    let text = error.to_string();
    match text.split_once("; ") {
        Some((message, help)) => Failure::new(exit, message).help(help),
        None => Failure::new(exit, text),
    }
}

pub(crate) fn open_failure(error: OpenError) -> Failure {
    let exit = match &error {
        OpenError::Definitions { .. } | OpenError::CodeDigest { .. } | OpenError::Code { .. } => {
            Exit::Findings
        }
        OpenError::Format { .. }
        | OpenError::Foreign
        | OpenError::Concurrent
        | OpenError::PackageMissing { .. }
        | OpenError::PackageDigest { .. } => Exit::Mismatch,
        OpenError::Unfinished => Exit::Unavailable,
        OpenError::Read(error) => Exit::of_call(error),
        OpenError::Write(_) => Exit::Storage,
        OpenError::Thread(_) => Exit::Io,
    };
    let text = error.to_string();
    match text.rsplit_once(": ") {
        Some((message, help))
            if matches!(
                error,
                OpenError::Format { .. } | OpenError::Unfinished | OpenError::PackageMissing { .. }
            ) =>
        {
            Failure::new(exit, message).help(help)
        }
        _ => Failure::new(exit, text),
    }
}
