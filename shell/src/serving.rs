//! Where the host is that serves a store, for whoever finds the store in use.
//!
//! A host with a door for operators leaves a note in the store's folder. The lock is what counts: a
//! note is read only where the store is locked, and whoever opens the store takes an old one away.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The note's name in the store's folder.
const NOTE: &str = "serving.json";

#[derive(Serialize, Deserialize)]
struct Note {
    operator: String,
}

/// A note that is there as long as this is.
pub(crate) struct Serving(PathBuf);

impl Serving {
    /// Says where operators of the host are let in that serves a store.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn note(folder: &Path, url: &str) -> io::Result<Self> {
        let path = folder.join(NOTE);
        fs::write(&path, serde_json::to_vec(&Note { operator: url.to_owned() })?)?;
        Ok(Self(path))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // A note that stays is taken away by whoever opens the store next.
        let _ = fs::remove_file(&self.0);
    }
}

/// Returns where the operator's door is of the host that serves a store, if it left a note.
pub(crate) fn operator_of(folder: &Path) -> Option<String> {
    let note: Note = serde_json::from_slice(&fs::read(folder.join(NOTE)).ok()?).ok()?;
    Some(note.operator)
}

/// Takes away the note of a host that did not come to do it.
pub(crate) fn forget(folder: &Path) {
    // Mostly there is none.
    let _ = fs::remove_file(folder.join(NOTE));
}
