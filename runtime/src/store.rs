//! What the runtime asks of a store: one ordered key space, read at one version, written in
//! batches. Bytes only; nothing of any engine shows here.
//!
//! A batch is written in steps so that one writer can work ahead of the disk: [`Store::submit`]
//! takes the batch, [`Commit::write`] has the store write it, [`Written::wait`] waits for the disk.
//! [`Commit::wait`] does both.
//!
//! What a store promises:
//! - A [`View`] answers from one version, or says [`StoreError::Expired`]; never from two.
//! - When [`Concurrency::SingleWriter`]: a view taken after `submit` returned includes the batch,
//!   while the disk still works on it. At most one batch is under way; the next `submit` waits for
//!   the `write` of the one before. A view taken between two submits stays good until the second.
//! - A [`Commit`] dropped without `write` or `wait` is as if it had never been taken, and views that
//!   saw it expire.
//! - A batch is there whole or not at all, also after a kill or a power cut at any moment.
//! - What `wait` answered `Ok` to is there after that, and all that was written before it: after a
//!   power cut, if it was to be durable, and else while the store is open. If it fails for a batch
//!   that was written, it fails for all that were written after.
//!
//! Keys: one byte at least, and the first is never [`RESERVED`]. What a store needs to remember for
//! itself lies there, where no view looks.
//!
//! Start at [`Store`]. `store/conformance.rs` holds the suite that runs over each implementation.

mod checked;
#[cfg(feature = "testing")]
pub mod conformance;
mod memory;
mod sled;
#[cfg(feature = "testing")]
pub mod tapped;

use std::ops::Bound;

use bytes::Bytes;
use ulid::Ulid;

#[cfg(feature = "testing")]
pub use crate::store::sled::Disk;
pub use crate::store::sled::{OpenError, SledOptions, SledStore};
pub use memory::MemoryStore;

/// The first byte of the keys that a store keeps for itself.
pub const RESERVED: u8 = 0xFF;

/// Counts the batches of a store, from 1.
pub type Version = u64;

/// Names a transaction, so that its outcome can be asked for later.
pub type TransactionId = Ulid;

/// How a store keeps transactions apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Concurrency {
    /// One process writes, one batch at a time; nothing conflicts.
    SingleWriter,
    /// Many write; a batch whose reads were overtaken is refused with [`CommitError::Conflict`].
    Optimistic,
}

/// How far a commit must have come before it is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Durability {
    /// On the disk.
    #[default]
    Durable,
    /// In the store's memory; on the disk within about a second, or at [`Store::sync`], or lost
    /// with the process.
    Buffered,
}

/// A range of keys with what was read there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadRange {
    /// The first key.
    pub start: Bound<Bytes>,
    /// The last.
    pub end: Bound<Bytes>,
}

/// What is to be written, and what was read to decide it.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The transactions in this batch whose outcome may be asked for later. An id is used once.
    pub transactions: Vec<TransactionId>,
    /// The version at which `reads` were made. A version that the store does not know is one whose
    /// batch was dropped: the batch is then refused with [`CommitError::Conflict`].
    pub read_version: Version,
    /// What was read. Stores with one writer ignore it.
    pub reads: Vec<ReadRange>,
    /// Keys and their new values, in strictly ascending order of keys; `None` deletes.
    pub writes: Vec<(Bytes, Option<Bytes>)>,
}

/// A page of a range.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Page {
    /// Keys and values, in the order asked for.
    pub entries: Vec<(Bytes, Bytes)>,
    /// Whether the range has more behind the last entry.
    pub more: bool,
}

/// A way through a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Ascending keys.
    Forward,
    /// Descending keys.
    Backward,
}

/// The store at one version.
pub trait View: Send {
    /// Returns the version. What was read is durable once the store's durable version reaches it.
    fn version(&self) -> Version;

    /// Reads a value.
    ///
    /// # Errors
    /// [`StoreError::Expired`] when this version can no longer be read; the disk's errors;
    /// `Corrupt` when a stored value's checksum does not fit.
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError>;

    /// Reads several values; answers in the order of the keys.
    ///
    /// # Errors
    /// As [`View::get`].
    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Option<Bytes>>, StoreError> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// Reads at most `limit` entries of a range, from its start, or backward from its end. A range
    /// whose start lies behind its end is empty.
    ///
    /// # Errors
    /// As [`View::get`].
    fn range(
        &self,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
        limit: usize,
    ) -> Result<Page, StoreError>;
}

/// A batch that a store has taken.
pub trait Commit: Send {
    /// Does the disk's part, and returns the version of the batch when it is as durable as asked.
    ///
    /// # Errors
    /// After any but `Unknown` the batch is not in the store and no view shows it any longer.
    fn wait(self: Box<Self>) -> Result<Version, CommitError>;

    /// Does what the next batch has to wait for. A store that has nothing to gain by it does all
    /// that there is to do.
    ///
    /// # Errors
    /// As [`Commit::wait`].
    fn write(self: Box<Self>) -> Result<Box<dyn Written>, CommitError> {
        Ok(Box::new(Waited(self.wait()?)))
    }
}

/// A batch that is written, while the disk may still work on it.
pub trait Written: Send {
    /// Returns the version of the batch when it is as durable as asked.
    ///
    /// # Errors
    /// `Unknown`, and the store takes no more writes: the next batch may have been written over
    /// this one.
    fn wait(self: Box<Self>) -> Result<Version, CommitError>;
}

/// One that was waited for.
struct Waited(Version);

impl Written for Waited {
    fn wait(self: Box<Self>) -> Result<Version, CommitError> {
        Ok(self.0)
    }
}

/// Where the runtime keeps everything.
pub trait Store: Send + Sync {
    /// Returns the newest version.
    ///
    /// # Errors
    /// When the store is closed or its disk does not answer.
    fn view(&self) -> Result<Box<dyn View>, StoreError>;

    /// Takes a batch.
    ///
    /// # Errors
    /// What can be told before the disk is asked: `Conflict`, `TooLarge`, `Malformed`, `NoSpace`,
    /// `Poisoned`, `Busy`. The batch is then not in the store.
    fn submit(&self, batch: Batch, durability: Durability) -> Result<Box<dyn Commit>, CommitError>;

    /// Takes a batch and waits for it.
    ///
    /// # Errors
    /// As [`Store::submit`] and [`Commit::wait`].
    fn commit(&self, batch: Batch, durability: Durability) -> Result<Version, CommitError> {
        self.submit(batch, durability)?.wait()
    }

    /// Makes every batch durable whose `write` has returned.
    ///
    /// # Errors
    /// As [`Commit::wait`].
    fn sync(&self) -> Result<(), CommitError>;

    /// Returns the newest version that is durable.
    fn durable(&self) -> Version;

    /// Tells whether a transaction is in the store: the version of its batch, if it is. A batch
    /// is not in the store before its `wait` has returned.
    ///
    /// # Errors
    /// As [`View::get`].
    fn outcome(&self, transaction: TransactionId) -> Result<Option<Version>, StoreError>;

    /// Returns what a batch may be.
    fn limits(&self) -> StoreLimits;

    /// Returns how the store is.
    fn health(&self) -> Health;

    /// Returns how transactions are kept apart.
    fn concurrency(&self) -> Concurrency;
}

/// What a batch may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoreLimits {
    /// Bytes in a key.
    pub key: usize,
    /// Bytes in a value.
    pub value: usize,
    /// Bytes in a batch, keys and values together.
    pub batch: usize,
}

impl Default for StoreLimits {
    /// Returns what the stores in this crate take.
    fn default() -> StoreLimits {
        StoreLimits { key: 4 << 10, value: 8 << 20, batch: 32 << 20 }
    }
}

/// How a store is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Health {
    /// It reads and writes.
    Good,
    /// It reads; writes are refused until there is room.
    NoSpace {
        /// Bytes free.
        free: u64,
        /// Bytes that must be free.
        floor: u64,
    },
    /// It takes no writes until it is opened again.
    Poisoned {
        /// What failed.
        reason: String,
    },
}

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The view is too old; take a new one and read again.
    #[error("the view is too old to be read")]
    Expired,
    /// The disk failed.
    #[error("cannot read the store: {0}")]
    Io(String),
    /// What is stored is not what was written.
    #[error("the store is corrupt: {0}")]
    Corrupt(String),
    /// The store is closed or poisoned.
    #[error("the store is closed: {0}")]
    Closed(String),
}

/// Why a batch was not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// What the batch had read was written by another; run again.
    #[error("another transaction wrote what this one read")]
    Conflict,
    /// It may have been written, or not: ask [`Store::outcome`].
    #[error("the outcome is unknown: {0}")]
    Unknown(String),
    /// The store has too much to do; later it may not.
    #[error("the store is busy")]
    Busy,
    /// The batch is over a limit of the store.
    #[error("the batch is too large: {0}")]
    TooLarge(String),
    /// The batch breaks a rule of [`Batch`]: the order of its keys, or a key that is not allowed.
    #[error("the batch is malformed: {0}")]
    Malformed(String),
    /// The disk is full, or nearly.
    #[error("no space: {free} bytes free, {floor} are kept free")]
    NoSpace {
        /// Bytes free.
        free: u64,
        /// Bytes that must be free.
        floor: u64,
    },
    /// An earlier write failed; the store takes no writes until it is opened again.
    #[error("the store takes no more writes: {0}")]
    Poisoned(String),
}
