//! How much of sled's log the disk may lack.
//!
//! sled writes into the head of each segment up to where its log is written, and after a power cut
//! looks for a torn place only from the segment on in which the newest such mark lies. To sled all
//! that is flushed is written, synced or not. So whoever begins a segment while a whole one and more
//! is not synced hides a tear from it, and the store is corrupt. What is not synced must be less than
//! a segment, except for the batch that was written last, whose beginning sled keeps in mind.
//! (sled 0.34.7: `pagecache/iterator.rs`, `check_contiguity_in_unstable_tail`; `pagecache/iobuf.rs`,
//! `StabilityIntervals`.)
//!
//! How much a batch takes of the log is not known before it is there. It is counted as more than most
//! take: see [`share`].

use std::sync::atomic::{AtomicU64, Ordering};

use super::engine::SEGMENT_BYTES;

/// How much sled may write for a byte of a batch.
pub(super) const AMPLIFICATION: u64 = 4;

/// Bytes that sled may write for a record besides.
const WRITE_BYTES: u64 = 2 << 10;

/// Returns how much of the log a record is counted as, with its key. Of ten changes to a page, one has
/// all of the page written, which is some twenty records; so one that is removed counts as much as
/// it was long.
pub(super) fn share(record: usize) -> u64 {
    (record as u64).saturating_mul(AMPLIFICATION).saturating_add(WRITE_BYTES)
}

/// Counts what was ever applied, and how much of it is flushed and synced, in bytes of the log.
#[derive(Debug, Default)]
pub(super) struct Tail {
    applied: AtomicU64,
    flushed: AtomicU64,
    synced: AtomicU64,
}

impl Tail {
    /// Tells whether a batch must wait until all before it is synced, if it is not.
    pub(super) fn is_full_for(&self, share: u64) -> bool {
        let applied = self.applied.load(Ordering::SeqCst);
        let unsynced = applied - self.synced.load(Ordering::SeqCst).min(applied);
        unsynced.saturating_add(share) > SEGMENT_BYTES as u64
    }

    /// Notes that sled has taken a batch.
    pub(super) fn apply(&self, share: u64) {
        self.applied.fetch_add(share, Ordering::SeqCst);
    }

    /// Returns what a flush that is about to begin covers.
    pub(super) fn before_flush(&self) -> u64 {
        self.applied.load(Ordering::SeqCst)
    }

    /// Notes that a flush is done which covers so much.
    pub(super) fn flush(&self, covered: u64) {
        self.flushed.fetch_max(covered, Ordering::SeqCst);
    }

    /// Returns what a sync that is about to begin covers.
    pub(super) fn before_sync(&self) -> u64 {
        self.flushed.load(Ordering::SeqCst)
    }

    /// Notes that a sync is done which covers so much.
    pub(super) fn sync(&self, covered: u64) {
        self.synced.fetch_max(covered, Ordering::SeqCst);
    }
}
