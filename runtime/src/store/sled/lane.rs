//! One batch at a time: who writes, how far it has come, and what stops it for good.
//!
//! Five numbers, never out of this order:
//! `recorded` (in the progress file) ≤ `durable` ≤ `flushed` (written to the log, whether the disk
//! has it or not) ≤ `applied` (whole in sled) ≤ `applying`.
//!
//! While the disk works on one batch, the next is applied, unless both together are large: see
//! [`tail`](super::tail). It is not applied while one is flushed: sled does only one of both at a
//! time, and would have readers wait as well.
//!
//! Invariants:
//! - `applying` is raised before the first byte of a batch reaches sled, so that whoever has read
//!   sled and then finds `applying` no higher than its version has read that version.
//! - A number is used again only when its batch was dropped before it touched sled.
//! - After a failure that leaves in doubt what the disk holds, nothing is written and no sync begins
//!   again: see [`Lane::fail`]. One that was under way may still end well.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::cache::Cache;
use super::disk::Disk;
use super::engine::{Engine, Failure};
use super::folder::Folder;
use super::long::LongValues;
use super::overlay::Overlay;
use super::progress::Progress;
use super::tail::{AMPLIFICATION, Tail};
use super::writing::{Encoded, encode};
use crate::store::{Batch, CommitError, Durability, StoreError, Version};

/// Everything that is open, shared by the store, its views and its commit.
#[derive(Debug)]
pub(super) struct Lane {
    // In this order they are dropped: sled's files are ours until sled is closed.
    pub(super) engine: Engine,
    pub(super) cache: Cache,
    folder: Folder,
    disk: Arc<dyn Disk>,
    free_space_floor: u64,
    /// The batch that is taken, and not yet written.
    staged: Mutex<Option<Arc<Overlay>>>,
    /// Told when no batch is staged any longer, and when the lane fails.
    freed: Condvar,
    /// Held while a batch is encoded.
    long: Mutex<LongValues>,
    applying: AtomicU64,
    applied: AtomicU64,
    flushed: AtomicU64,
    durable: AtomicU64,
    tail: Tail,
    /// The newest version that somebody was told is as durable as asked.
    answered: AtomicU64,
    /// Held while the disk is made to follow.
    progress: Mutex<Progress>,
    record_due: AtomicBool,
    failure: OnceLock<String>,
}

/// What a lane is opened with.
pub(super) struct Opened {
    pub(super) engine: Engine,
    pub(super) cache: Cache,
    pub(super) folder: Folder,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) progress: Progress,
    pub(super) long: LongValues,
    pub(super) newest: Version,
    pub(super) free_space_floor: u64,
}

/// Nobody holds a lock while it can panic with the value half changed.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lane {
    /// Starts where the store ends. All of it must be durable.
    pub(super) fn start(opened: Opened) -> Lane {
        let Opened { engine, cache, folder, disk, progress, long, newest, free_space_floor } =
            opened;
        Lane {
            engine,
            cache,
            folder,
            disk,
            free_space_floor,
            staged: Mutex::default(),
            freed: Condvar::new(),
            long: Mutex::new(long),
            applying: AtomicU64::new(newest),
            applied: AtomicU64::new(newest),
            flushed: AtomicU64::new(newest),
            durable: AtomicU64::new(newest),
            tail: Tail::new(),
            answered: AtomicU64::new(newest),
            progress: Mutex::new(progress),
            record_due: AtomicBool::new(false),
            failure: OnceLock::new(),
        }
    }

    /// Returns the newest version, and the batch that makes it, while that is not yet written.
    pub(super) fn newest(&self) -> (Version, Option<Arc<Overlay>>) {
        let staged = held(&self.staged);
        let version = staged.as_ref().map_or_else(|| self.applied(), |overlay| overlay.version);
        (version, staged.clone())
    }

    /// Takes a batch once the one before is out of the way.
    pub(super) fn stage(&self, batch: Batch) -> Result<Arc<Overlay>, CommitError> {
        let mut staged = held(&self.staged);
        loop {
            self.refuse_if_failed()?;
            if staged.is_none() {
                break;
            }
            staged = self.freed.wait(staged).unwrap_or_else(PoisonError::into_inner);
        }
        let applied = self.applied();
        if batch.read_version > applied {
            return Err(CommitError::Conflict);
        }
        let overlay = Arc::new(Overlay::new(applied + 1, batch.transactions, batch.writes));
        *staged = Some(Arc::clone(&overlay));
        Ok(overlay)
    }

    /// Writes the staged batch, as far as the next must wait for it. Whatever the answer, that may
    /// be staged then.
    pub(super) fn write(
        &self,
        overlay: &Overlay,
        durability: Durability,
    ) -> Result<(), CommitError> {
        let encoded = self.refuse_if_failed().and_then(|()| self.refuse_if_full(overlay));
        let encoded = encoded.and_then(|()| {
            let cannot = |failure: Failure| CommitError::Poisoned(self.fail(failure.to_string()));
            encode(&self.engine, &mut held(&self.long), overlay).map_err(cannot)
        });
        let Encoded { batch, share } = match encoded {
            Ok(encoded) => encoded,
            Err(error) => {
                self.abandon(overlay);
                return Err(error);
            }
        };
        if self.tail.is_full_for(share)
            && let Err(reason) = self.make_durable(self.applied())
        {
            self.abandon(overlay);
            return Err(CommitError::Poisoned(reason));
        }
        self.applying.store(overlay.version, Ordering::SeqCst);
        let written = self.engine.apply(batch).map_err(|failure| self.fail(failure.to_string()));
        let written = written.and_then(|()| {
            for (key, value) in &overlay.writes {
                self.cache.replace(key, value);
            }
            self.tail.apply(share);
            self.applied.store(overlay.version, Ordering::SeqCst);
            match durability {
                Durability::Durable => self.flush(overlay.version).map(drop),
                Durability::Buffered => Ok(()),
            }
        });
        self.free_turn();
        written.map_err(CommitError::Unknown)
    }

    /// Takes the staged batch back, before anything of it was written.
    pub(super) fn abandon(&self, overlay: &Overlay) {
        if self.applying() >= overlay.version {
            // Only a panic in the middle of `write` comes here.
            self.fail("a batch was broken off while it was written".to_owned());
        }
        overlay.drop_batch();
        self.free_turn();
    }

    fn free_turn(&self) {
        *held(&self.staged) = None;
        self.freed.notify_all();
    }

    /// Waits until the disk holds a version that was applied. The text says why the store has
    /// failed.
    pub(super) fn make_durable(&self, version: Version) -> Result<(), String> {
        let mut progress = held(&self.progress);
        let followed = self.follow(&mut progress, version);
        // What the disk holds it goes on to hold, whatever has failed besides.
        if self.durable() >= version { Ok(()) } else { followed }
    }

    /// Has a version that was applied written to the log. Returns up to which version that holds.
    fn flush(&self, version: Version) -> Result<Version, String> {
        let flushed = self.flushed.load(Ordering::SeqCst);
        if flushed >= version {
            return Ok(flushed);
        }
        let (applied, covered) = (self.applied(), self.tail.before_flush());
        let grown = self.engine.flush().map_err(|failure| self.fail(failure.to_string()))?;
        self.flushed.fetch_max(applied, Ordering::SeqCst);
        self.tail.flush(covered, grown);
        Ok(applied)
    }

    /// Does what is to be done about once a second: makes durable what was buffered, and has the
    /// progress file written, here or at the end of the flush that is under way.
    pub(super) fn keep_up(&self) {
        self.record_due.store(true, Ordering::SeqCst);
        match self.progress.try_lock() {
            // Failures are kept, and told to the next who wants to write.
            Ok(mut progress) => drop(self.follow(&mut progress, self.applied())),
            // Wakes the one under way, should sled have forgotten it.
            Err(_) => drop(self.engine.flush()),
        }
    }

    /// One at a time, hence the file that it is done under: a failed sync is reported once, and the
    /// next one may succeed without the data.
    fn follow(&self, progress: &mut Progress, version: Version) -> Result<(), String> {
        if let Some(reason) = self.failure() {
            return Err(reason.to_owned());
        }
        if self.durable() < version {
            let flushed = self.flush(version)?;
            let covered = self.tail.before_sync();
            let synced = self.disk.sync(self.engine.log());
            synced.map_err(|error| self.fail(format!("cannot sync the disk: {error}")))?;
            self.tail.sync(covered);
            self.durable.store(flushed, Ordering::SeqCst);
        }
        if self.record_due.swap(false, Ordering::SeqCst) {
            let recorded = progress.record(self.durable(), self.disk.as_ref());
            recorded.map_err(|error| self.fail(format!("cannot record the progress: {error}")))?;
        }
        Ok(())
    }

    pub(super) fn answered(&self) -> Version {
        self.answered.load(Ordering::SeqCst)
    }

    /// Notes that somebody is told that a version is as durable as asked.
    pub(super) fn answer(&self, version: Version) {
        self.answered.fetch_max(version, Ordering::SeqCst);
    }

    pub(super) fn applying(&self) -> Version {
        self.applying.load(Ordering::SeqCst)
    }

    pub(super) fn applied(&self) -> Version {
        self.applied.load(Ordering::SeqCst)
    }

    pub(super) fn durable(&self) -> Version {
        self.durable.load(Ordering::SeqCst)
    }

    /// Takes no more writes, for the reason given or an earlier one, which it returns. What is in
    /// sled's memory may never reach the disk, so that nothing is read from it any longer either.
    pub(super) fn fail(&self, reason: String) -> String {
        let reason = self.failure.get_or_init(|| {
            tracing::error!(folder = %self.folder.path().display(), reason, "the store has failed");
            reason
        });
        let reason = reason.clone();
        // Not between the check and the sleep of one who waits for its turn.
        drop(held(&self.staged));
        self.freed.notify_all();
        reason
    }

    /// Returns why the store has failed, if it has.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    pub(super) fn refuse_reads_if_failed(&self) -> Result<(), StoreError> {
        self.failure().map_or(Ok(()), |reason| Err(StoreError::Closed(reason.to_owned())))
    }

    fn refuse_if_failed(&self) -> Result<(), CommitError> {
        self.failure().map_or(Ok(()), |reason| Err(CommitError::Poisoned(reason.to_owned())))
    }

    /// Returns how much room there is, and how much there must be.
    pub(super) fn room(&self) -> std::io::Result<(u64, u64)> {
        Ok((self.disk.free(self.folder.path())?, self.free_space_floor))
    }

    /// sled does not survive a full disk, so it must never meet one.
    fn refuse_if_full(&self, overlay: &Overlay) -> Result<(), CommitError> {
        let (free, floor) = self.room().map_err(|error| {
            let reason = format!("cannot tell how much room there is: {error}");
            CommitError::Poisoned(self.fail(reason))
        })?;
        let floor = floor.saturating_add(overlay.size().saturating_mul(AMPLIFICATION));
        if free < floor { Err(CommitError::NoSpace { free, floor }) } else { Ok(()) }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.record_due.store(true, Ordering::SeqCst);
        // Nobody is left to be told of a failure; whoever opens the store next finds out.
        drop(self.make_durable(self.applied()));
    }
}
