//! Why a store on disk did not open. Each message says what is wrong and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why a store on disk did not open. The folder is as it was, except that sled, before it reports
/// damage, clears what it takes for a cut-off end of its log.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open, or this one has.
    #[error("`{path}` is in use; stop the program that uses it, or name another folder")]
    Locked {
        /// The store's folder.
        path: PathBuf,
    },
    /// The folder holds something, but no store.
    #[error("`{path}` is not a store; name an empty folder, or one that does not exist yet")]
    NotAStore {
        /// The folder.
        path: PathBuf,
    },
    /// A store that this program cannot read.
    #[error(
        "`{path}` holds {found}, and this program reads {expected}; \
         open it with the program that wrote it and bring its data over"
    )]
    OtherFormat {
        /// The store's folder.
        path: PathBuf,
        /// What the store says that it is.
        found: String,
        /// What this program would have read.
        expected: String,
    },
    /// A store that is damaged.
    #[error(
        "`{path}` is corrupt: {reason}; \
         keep the folder as it is, and restore a backup into another"
    )]
    Corrupt {
        /// The store's folder.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// The disk, or the rights on it.
    #[error("cannot open the store `{path}`: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl OpenError {
    pub(super) fn corrupt(path: &Path, reason: impl Into<String>) -> OpenError {
        OpenError::Corrupt { path: path.to_owned(), reason: reason.into() }
    }

    /// Returns a function for `map_err`, so that each failure names its file.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> OpenError {
        |source| OpenError::Io { path: path.to_owned(), source }
    }
}
