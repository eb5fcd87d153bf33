//! The store's folder: who may use it, and whether it is ours to read.
//!
//! ```text
//! store.json   the marker: what wrote this, in which format
//! lock         held by the one process that has the store open
//! progress     the number of a recent batch
//! data/        sled's own files
//! ```
//!
//! The marker is read before sled opens anything, because a sled of another version can take a
//! store that it does not know for an empty one. A store in the making says so in its marker;
//! nothing in it was ever acknowledged, so it is made anew.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::engine;
use super::error::OpenError;

const MARKER: &str = "store.json";
const MARKER_DRAFT: &str = "store.json.new";
const LOCK: &str = "lock";

/// Counts the ways that this crate has laid a store out: these files, and its records in sled.
const FORMAT: u32 = 1;

/// What the marker says.
#[derive(Serialize, Deserialize, PartialEq, Eq, Debug)]
struct Marker {
    /// For whoever looks into the folder.
    about: String,
    format: u32,
    engine: String,
    segment_bytes: u64,
    state: MarkerState,
}

#[derive(Serialize, Deserialize, PartialEq, Eq, Clone, Copy, Debug)]
#[serde(rename_all = "lowercase")]
enum MarkerState {
    Creating,
    Ready,
}

/// What the marker of any format says.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

impl Marker {
    fn ours(state: MarkerState) -> Marker {
        Marker {
            about: "A Quixos store. Its files belong together: copy or move the whole folder, \
                    while no program uses it."
                .to_owned(),
            format: FORMAT,
            engine: engine::NAME.to_owned(),
            segment_bytes: engine::SEGMENT_BYTES as u64,
            state,
        }
    }

    fn describe(&self) -> String {
        let Marker { format, engine, segment_bytes, .. } = self;
        format!("a store of format {format} ({engine}, segments of {segment_bytes} bytes)")
    }
}

/// A folder that this process alone may use, until it is dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Held locked. The system lets go of it however the process ends.
    lock: File,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Closing is not enough: a process just started from this one shares the file for a moment.
        let _ = self.lock.unlock();
    }
}

/// What is in a folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Contents {
    /// A store.
    Store,
    /// Nothing that counts; [`Folder::finish`] makes a store of it.
    New,
}

impl Folder {
    /// Takes a folder for this process, if it is empty or a store that we can read.
    pub(super) fn claim(path: &Path) -> Result<(Folder, Contents), OpenError> {
        if path.is_file() {
            return Err(OpenError::NotAStore { path: path.to_owned() });
        }
        fs::create_dir_all(path).map_err(OpenError::io(path))?;
        // Absolute, because the store reads by name long after this.
        let path = &std::path::absolute(path).map_err(OpenError::io(path))?;
        // Looked at before the lock is taken: nothing is to be created in a folder of others.
        refuse_if_not_ours(path)?;
        let folder = Folder { path: path.to_owned(), lock: lock(path)? };
        let contents = match folder.read_marker()? {
            Some(marker) if marker.state == MarkerState::Ready => Contents::Store,
            Some(_) | None => Contents::New,
        };
        if contents == Contents::New {
            folder.start_anew()?;
        }
        Ok((folder, contents))
    }

    /// Makes the new store one that counts, once all that is in it is on the disk.
    pub(super) fn finish(&self) -> Result<(), OpenError> {
        let data = self.data();
        // sled leaves some of its files to the system.
        sync_files(&data).map_err(OpenError::io(&data))?;
        sync_folder(&data).map_err(OpenError::io(&data))?;
        if let Some(parent) = self.path.parent() {
            sync_folder(parent).map_err(OpenError::io(parent))?;
        }
        self.write_marker(MarkerState::Ready)
    }

    /// Returns the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder that holds sled's files.
    pub(super) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// Returns the file that holds the number of a recent batch.
    pub(super) fn progress(&self) -> PathBuf {
        self.path.join("progress")
    }

    fn start_anew(&self) -> Result<(), OpenError> {
        self.write_marker(MarkerState::Creating)?;
        let data = self.data();
        match fs::remove_dir_all(&data) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(OpenError::io(&data)(error)),
            Ok(()) | Err(_) => fs::create_dir(&data).map_err(OpenError::io(&data)),
        }
    }

    fn read_marker(&self) -> Result<Option<Marker>, OpenError> {
        let path = self.path.join(MARKER);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(OpenError::io(&path))?,
        };
        let unreadable = |error: serde_json::Error| {
            OpenError::corrupt(&self.path, format!("its marker `{MARKER}` is unreadable: {error}"))
        };
        let expected = Marker::ours(MarkerState::Ready).describe();
        let other = |found| OpenError::OtherFormat { path: self.path.clone(), found, expected };
        // Of another format only the number is sure to be where we look for it.
        let Format { format } = serde_json::from_slice(&text).map_err(unreadable)?;
        if format != FORMAT {
            return Err(other(format!("a store of format {format}")));
        }
        let marker: Marker = serde_json::from_slice(&text).map_err(unreadable)?;
        let found = marker.describe();
        if found == Marker::ours(marker.state).describe() {
            Ok(Some(marker))
        } else {
            Err(other(found))
        }
    }

    fn write_marker(&self, state: MarkerState) -> Result<(), OpenError> {
        let path = self.path.join(MARKER);
        let write = || -> io::Result<()> {
            let draft = self.path.join(MARKER_DRAFT);
            let mut file = File::create(&draft)?;
            let mut text = serde_json::to_vec_pretty(&Marker::ours(state))?;
            text.push(b'\n');
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&draft, &path)?;
            sync_folder(&self.path)
        };
        write().map_err(OpenError::io(&path))
    }
}

fn refuse_if_not_ours(path: &Path) -> Result<(), OpenError> {
    if path.join(MARKER).exists() {
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(OpenError::io(path))? {
        let name = entry.map_err(OpenError::io(path))?.file_name();
        // What a process leaves that was killed before its marker was there.
        if name != LOCK && name != MARKER_DRAFT {
            return Err(OpenError::NotAStore { path: path.to_owned() });
        }
    }
    Ok(())
}

fn lock(folder: &Path) -> Result<File, OpenError> {
    let path = folder.join(LOCK);
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(OpenError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked { path: folder.to_owned() }),
        Err(TryLockError::Error(error)) => Err(OpenError::io(&path)(error)),
    }
}

fn sync_files(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            OpenOptions::new().write(true).open(entry.path())?.sync_all()?;
        }
    }
    Ok(())
}

/// Puts the names of new files on the disk, where the system keeps them apart from the files.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
