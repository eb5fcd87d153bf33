//! Why a store was not written to a file, or read from one.

use crate::error::CallError;
use crate::key::{KeyError, Kind};
use crate::meta;

/// Why an export did not finish. What was written until then is no export: it has no end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The file could not be written.
    #[error("cannot write the export: {0}")]
    Write(#[from] std::io::Error),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] CallError),
}

/// Why an import did not happen. The store is as empty as it was, or, after `Store`, refuses to be
/// opened until an import into it succeeds.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file could not be read.
    #[error("cannot read the export: {0}")]
    Read(std::io::Error),
    /// It is no export at all.
    #[error("this is no export of a store")]
    NotAnExport,
    /// It is of a version that is not known here.
    #[error("the export has version {found}, this program reads version {known}")]
    Version {
        /// Its version.
        found: String,
        /// The version that is read here.
        known: u32,
    },
    /// The store in it has a format that is not known here.
    #[error(
        "the exported store has format {found}, this program reads format {known}: {}import it \
         with the version that wrote it",
        meta::difference(*.found)
    )]
    Format {
        /// Its format.
        found: u32,
        /// The format that is read here.
        known: u32,
    },
    /// It is not the file that was written.
    #[error("the export is corrupt in block {block}, which begins at byte {offset}: {damage}")]
    Corrupt {
        /// The block, counted from 0.
        block: u64,
        /// Where it begins in the file.
        offset: u64,
        /// What is wrong with it.
        damage: Damage,
    },
    /// There is something in the store already.
    #[error("the store is not empty; an export is imported into an empty one")]
    NotEmpty,
    /// The store could not be read or written.
    #[error(transparent)]
    Store(#[from] CallError),
}

/// What is wrong with a block of an export.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Damage {
    /// The file ends in it.
    #[error("the file ends before it does")]
    Truncated,
    /// Its checksum does not fit.
    #[error("its checksum does not fit")]
    Checksum,
    /// It claims to be longer than a block can be.
    #[error("it claims {0} bytes, which is more than a block has")]
    TooLong(u32),
    /// It is not the kind of block that belongs here.
    #[error("a block of kind {found} where {expected} belongs")]
    Kind {
        /// The kind's byte.
        found: u8,
        /// What may be here.
        expected: &'static str,
    },
    /// Its contents are malformed, although the checksum fits.
    #[error("its contents are malformed: {0}")]
    Malformed(String),
    /// A key in it is none.
    #[error("its entry {entry} has no key: {error}")]
    Key {
        /// The entry, counted from 0 in the block.
        entry: usize,
        /// What is wrong with the key.
        error: KeyError,
    },
    /// A key in it is not behind the one before.
    #[error("its entry {entry} is out of order")]
    Order {
        /// The entry, counted from 0 in the block.
        entry: usize,
    },
    /// The file has more or fewer entries than its end says.
    #[error("the file has {found} entries of kind {kind:?}, its end says {said}")]
    Count {
        /// The kind.
        kind: Kind,
        /// How many there are.
        found: u64,
        /// How many should be.
        said: u64,
    },
    /// The checksum over all blocks does not fit.
    #[error("the checksum of the whole file does not fit")]
    Total,
    /// The file goes on behind its end.
    #[error("the file goes on behind its end")]
    Trailing,
}
