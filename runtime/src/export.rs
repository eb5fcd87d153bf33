//! A store as one file: portable, versioned, checksummed, written and read in bounded memory.
//!
//! The file is a line of text and blocks with checksums, see `block.rs`. The first block says what
//! was exported, for people and programs that look without importing; then come all entries of the
//! store in the order of their keys, streams, cursors, history and answers to named transactions
//! included; the last block has the number of entries of each kind and the checksum of the whole.
//! A store below may keep its entries as it likes: in the file they are those of `key.rs`.
//!
//! An imported store exports to the same bytes.
//!
//! Start at [`Runtime::export`], [`Runtime::export_beside`] and [`import`].

mod aside;
mod beside;
mod block;
mod error;
mod import;
mod noted;

use std::io::Write;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

pub use error::{Damage, ExportError, ImportError};
pub(crate) use import::is_unfinished;
pub use import::{Imported, check, import};
pub(crate) use noted::{NotedStore, Takers};

use crate::counts::Counts;
use crate::error::CallError;
use crate::key::{Key, KeyError, Kind};
use crate::meta;
use crate::overlay::Base;
use crate::runtime::Runtime;
use crate::snapshot::Snapshot;
use crate::walk::{Visitor, walk};
use block::{BlockKind, BlockWriter};

/// What an export says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExportHeader {
    /// The format of the store, the meaning of its keys and values.
    pub format: u32,
    /// The newest commit in it.
    pub commit: u64,
    /// The packages that the store was written with.
    pub packages: Vec<ExportedPackage>,
}

/// A package that a store was written with, as an export names it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExportedPackage {
    /// The package's id.
    pub id: String,
    /// Its revision.
    pub revision: String,
    /// The digest of its definitions.
    pub digest: String,
}

/// What the last block says.
#[derive(Serialize, Deserialize)]
struct End {
    /// The number of entries of each kind, in the order of [`Kind::ALL`].
    counts: Vec<u64>,
    /// The checksum of all bytes before the block.
    total: [u8; 32],
}

/// Bytes of entries that a block is filled up to.
const FULL: usize = 64 << 10;

impl Runtime {
    /// Writes all of the store to a file, while no call that writes is executed.
    ///
    /// # Errors
    /// When the file cannot be written or the store cannot be read, damage included: what could
    /// not be imported is not exported.
    pub async fn export(&self, to: impl Write) -> Result<Counts, ExportError> {
        // The error of writing is kept beside, since the store's is of another type.
        let mut outcome = Ok(Counts::default());
        self.read_held(|snapshot| {
            outcome = export(*snapshot, to);
            Ok(())
        })
        .await?;
        outcome
    }
}

fn export(snapshot: Snapshot<'_>, to: impl Write) -> Result<Counts, ExportError> {
    let read = snapshot.base();
    let mut writer = EntryWriter::begin(&header(read)?, to)?;
    walk(read, &mut writer)?;
    writer.end()
}

/// Says what a store is.
fn header(read: &Base) -> Result<ExportHeader, ExportError> {
    let packages = meta::packages(read)?.into_iter().map(|package| ExportedPackage {
        id: package.id,
        revision: package.revision,
        digest: package.digest,
    });
    Ok(ExportHeader {
        format: meta::FORMAT,
        commit: meta::head(read)?.commit,
        packages: packages.collect(),
    })
}

fn payload(of: &impl Serialize) -> Result<Vec<u8>, ExportError> {
    postcard::to_allocvec(of).map_err(|error| ExportError::Write(std::io::Error::other(error)))
}

/// Gathers entries into blocks.
struct EntryWriter<W> {
    blocks: BlockWriter<W>,
    /// The entries of the next block, as they will be written.
    entries: Vec<u8>,
    counts: Counts,
}

impl<W: Write> Visitor for EntryWriter<W> {
    type Error = ExportError;

    fn entry(&mut self, key: &Bytes, value: &Bytes) -> Result<(), ExportError> {
        let no_key = |why: KeyError| {
            let message = format!("the key {key:02x?} is none: {why}");
            ExportError::Store(CallError::Corrupt { message })
        };
        // All of it, since an import refuses what is no key in any part.
        Key::decode(key).map_err(no_key)?;
        let kind = key.first().and_then(|byte| Kind::of(*byte));
        self.counts.add(kind.ok_or_else(|| no_key(KeyError::Kind))?);
        self.entries.extend_from_slice(&payload(&(&key[..], &value[..]))?);
        if self.entries.len() >= FULL {
            self.full()?;
        }
        Ok(())
    }

    fn broken(&mut self, _: &[u8], message: String) -> Result<(), ExportError> {
        Err(ExportError::Store(CallError::Corrupt { message }))
    }
}

impl<W: Write> EntryWriter<W> {
    fn begin(header: &ExportHeader, to: W) -> Result<Self, ExportError> {
        let mut blocks = BlockWriter::new(to)?;
        blocks.block(BlockKind::Header, &payload(header)?)?;
        Ok(Self { blocks, entries: Vec::new(), counts: Counts::default() })
    }

    fn full(&mut self) -> Result<(), ExportError> {
        self.blocks.block(BlockKind::Entries, &self.entries)?;
        self.entries.clear();
        Ok(())
    }

    fn end(mut self) -> Result<Counts, ExportError> {
        if !self.entries.is_empty() {
            self.full()?;
        }
        let counts = self.counts.iter().map(|(_, count)| count).collect();
        let end = End { counts, total: *self.blocks.total().as_bytes() };
        self.blocks.block(BlockKind::End, &payload(&end)?)?;
        self.blocks.flush()?;
        Ok(self.counts)
    }
}
