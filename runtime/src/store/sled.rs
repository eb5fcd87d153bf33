//! The store on a disk of our own, by sled.
//!
//! sled 0.34 is fast and small, and it does less than it says: what it flushed may be lost with the
//! power, its scans see batches half written, it panics at damage, and a damaged log can lose its
//! end without a word. So it is used for what it does well, one ordered tree that takes a batch
//! whole, and the rest is done around it:
//!
//! - `folder.rs`, `opening.rs`: one process at a time, in a folder that is known to be ours, with
//!   nothing missing;
//! - `engine.rs`: the calls of sled that are safe, panics caught;
//! - `record.rs`, `writing.rs`: a checksum in every record, long values in parts, a batch's number
//!   and the outcomes of its transactions in the same batch;
//! - `long.rs`: which keys need no look before they are overwritten;
//! - `overlay.rs`, `view.rs`: reading one version while the next is written;
//! - `cache.rs`: what was read of late, at hand;
//! - `lane.rs`: one batch at a time, durable before it is answered, and a stop for good when that
//!   is in doubt;
//! - `progress.rs`: what it takes to miss the end of the log.
//!
//! The store closes, and its folder is free again, when it and all of its views and commits are
//! dropped.
//!
//! What a transaction leaves so that its outcome can be asked for, some 40 bytes, stays for good.

mod cache;
mod disk;
mod engine;
mod error;
mod folder;
mod lane;
mod left;
mod long;
mod opening;
mod overlay;
mod progress;
mod record;
mod tail;
mod view;
mod writing;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use self::disk::SystemDisk;
use self::lane::Lane;
use self::overlay::Overlay;
use self::view::SledView;
use super::checked::check_batch;
use super::{
    Batch, Commit, CommitError, Concurrency, Durability, Health, Store, StoreError, StoreLimits,
    TransactionId, Version, View, Written,
};

#[cfg(feature = "testing")]
pub use self::disk::Disk;
#[cfg(not(feature = "testing"))]
use self::disk::Disk;
pub use self::error::OpenError;

/// How far what is buffered, and the progress file, may lag behind.
const LAG: Duration = Duration::from_secs(1);

/// How to open a store.
#[derive(Clone, Debug)]
pub struct SledOptions {
    /// Memory that sled may use to keep pages at hand. sled divides it by 256 and keeps no page
    /// that is larger than such a part: with long values, 128 MiB are the least that serves.
    pub cache_bytes: u64,
    /// Memory for values that were read of late, up to 4 KiB each: sled takes longer to find one
    /// than most operations take for all else. With 0, none are kept.
    pub recent_bytes: u64,
    /// Room on the disk that the store leaves free. It takes no writes when there is less: a full
    /// disk is what sled does not survive.
    pub free_space_floor: u64,
}

impl Default for SledOptions {
    fn default() -> SledOptions {
        SledOptions { cache_bytes: 256 << 20, recent_bytes: 32 << 20, free_space_floor: 256 << 20 }
    }
}

/// A store in a folder.
#[derive(Debug)]
pub struct SledStore {
    // Dropped first: it holds the lane too.
    _keeper: Keeper,
    lane: Arc<Lane>,
}

impl SledStore {
    /// Opens the store in a folder, or makes one if the folder is empty or does not exist.
    ///
    /// # Errors
    /// [`OpenError`] says what is wrong and what to do. A damaged store is found here if the damage
    /// is in what opening reads, otherwise when the damaged value is read.
    pub fn open(path: impl AsRef<Path>, options: SledOptions) -> Result<SledStore, OpenError> {
        SledStore::open_with_disk(path.as_ref(), options, Arc::new(SystemDisk))
    }

    /// Opens a store whose disk fails when a test says so.
    ///
    /// # Errors
    /// As [`SledStore::open`].
    #[cfg(feature = "testing")]
    pub fn open_on(
        path: impl AsRef<Path>,
        options: SledOptions,
        disk: Arc<dyn Disk>,
    ) -> Result<SledStore, OpenError> {
        SledStore::open_with_disk(path.as_ref(), options, disk)
    }

    fn open_with_disk(
        path: &Path,
        options: SledOptions,
        disk: Arc<dyn Disk>,
    ) -> Result<SledStore, OpenError> {
        let lane = Arc::new(opening::open(path, &options, disk)?);
        let keeper = Keeper::start(Arc::clone(&lane)).map_err(OpenError::io(path))?;
        Ok(SledStore { _keeper: keeper, lane })
    }
}

impl Store for SledStore {
    fn view(&self) -> Result<Box<dyn View>, StoreError> {
        self.lane.refuse_reads_if_failed()?;
        Ok(Box::new(SledView::new(Arc::clone(&self.lane))))
    }

    fn submit(&self, batch: Batch, durability: Durability) -> Result<Box<dyn Commit>, CommitError> {
        check_batch(&batch, &self.limits())?;
        let overlay = self.lane.stage(batch)?;
        let lane = Arc::clone(&self.lane);
        Ok(Box::new(SledCommit { lane, overlay, durability, ended: false }))
    }

    fn sync(&self) -> Result<(), CommitError> {
        self.lane.make_durable(self.lane.applied()).map_err(CommitError::Poisoned)
    }

    fn durable(&self) -> Version {
        self.lane.durable()
    }

    fn outcome(&self, transaction: TransactionId) -> Result<Option<Version>, StoreError> {
        let key = record::outcome_key(transaction);
        let found = self.lane.engine.get(&key).map_err(view::failed)?;
        let found = found.map(|record| record::read_number(&key, &record)).transpose();
        let found = found.map_err(view::damaged)?;
        if found.is_some_and(|version| version <= self.lane.durable()) {
            return Ok(found);
        }
        // Asked after the read: what was found is then either not answered yet, or has been.
        let answered = self.lane.answered();
        // A batch that failed may have been this transaction's, and the disk may hold it.
        self.lane.refuse_reads_if_failed()?;
        Ok(found.filter(|&version| version <= answered))
    }

    fn limits(&self) -> StoreLimits {
        StoreLimits::default()
    }

    fn health(&self) -> Health {
        if let Some(reason) = self.lane.failure() {
            return Health::Poisoned { reason: reason.to_owned() };
        }
        match self.lane.room() {
            Ok((free, floor)) if free < floor => Health::NoSpace { free, floor },
            // The next write finds out what is wrong.
            Ok(_) | Err(_) => Health::Good,
        }
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::SingleWriter
    }
}

/// A batch that is staged, until it is written or dropped.
struct SledCommit {
    lane: Arc<Lane>,
    overlay: Arc<Overlay>,
    durability: Durability,
    ended: bool,
}

impl Commit for SledCommit {
    fn wait(self: Box<Self>) -> Result<Version, CommitError> {
        self.write()?.wait()
    }

    fn write(mut self: Box<Self>) -> Result<Box<dyn Written>, CommitError> {
        let written = self.lane.write(&self.overlay, self.durability);
        self.ended = true;
        written?;
        let (lane, version) = (Arc::clone(&self.lane), self.overlay.version);
        Ok(Box::new(SledWritten { lane, version, durability: self.durability }))
    }
}

/// A batch that sled has.
struct SledWritten {
    lane: Arc<Lane>,
    version: Version,
    durability: Durability,
}

impl Written for SledWritten {
    fn wait(self: Box<Self>) -> Result<Version, CommitError> {
        match self.durability {
            Durability::Durable => self.lane.make_durable(self.version),
            // It rests on what was written before, which may be lost now.
            Durability::Buffered => self.lane.failure().map_or(Ok(()), |why| Err(why.to_owned())),
        }
        .map_err(CommitError::Unknown)?;
        self.lane.answer(self.version);
        Ok(self.version)
    }
}

impl Drop for SledCommit {
    fn drop(&mut self) {
        if !self.ended {
            self.lane.abandon(&self.overlay);
        }
    }
}

/// The thread that keeps the disk from lagging.
#[derive(Debug)]
struct Keeper {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    fn start(lane: Arc<Lane>) -> std::io::Result<Keeper> {
        let (stop, stopped) = mpsc::channel();
        let keep = move || {
            while stopped.recv_timeout(LAG) == Err(RecvTimeoutError::Timeout) {
                lane.keep_up();
            }
        };
        let thread = thread::Builder::new().name("store-keeper".to_owned()).spawn(keep)?;
        Ok(Keeper { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop = None;
        // Joined, so that the folder is free as soon as the last of the store is dropped.
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
