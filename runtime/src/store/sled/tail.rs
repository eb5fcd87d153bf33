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
//! How much a batch takes of the log is not known before it is there: sled writes whole pages now and
//! then, and moves others. So it is estimated from the batch's records ([`share`]), by as much more as
//! the last ones have come to, and what it has come to is counted once it is flushed. It remains an
//! estimate; sled itself must write nothing beside the batches (`Engine::open`).

use std::sync::atomic::{AtomicU64, Ordering};

use super::engine::SEGMENT_BYTES;

/// How much sled may write for a byte of a batch.
pub(super) const AMPLIFICATION: u64 = 4;

/// Bytes that sled may write for a record besides.
const WRITE_BYTES: u64 = 2 << 10;

/// Bytes from which on it is looked at what batches have come to: of a small one a page or two make
/// many times as much as it was counted as, and are little all the same.
const TELLING_BYTES: u64 = SEGMENT_BYTES as u64 / 8;

/// The scale of [`Tail::factor`].
const ONE: u64 = 1 << 10;

/// Returns how much of the log a record is counted as, with its key. Of ten changes to a page one has
/// all of the page written, which is some twenty records of the kind; so a part that is removed is
/// counted like one that is written.
pub(super) fn share(record: usize) -> u64 {
    (record as u64).saturating_mul(AMPLIFICATION).saturating_add(WRITE_BYTES)
}

/// Counts what was ever applied, and how much of it is flushed and synced, in bytes of the log.
#[derive(Debug)]
pub(super) struct Tail {
    applied: AtomicU64,
    flushed: AtomicU64,
    synced: AtomicU64,
    /// By how much more than their shares batches have come to of late, at most: [`ONE`] and more.
    factor: AtomicU64,
}

impl Tail {
    pub(super) fn new() -> Tail {
        Tail {
            applied: AtomicU64::new(0),
            flushed: AtomicU64::new(0),
            synced: AtomicU64::new(0),
            factor: AtomicU64::new(ONE),
        }
    }

    /// Tells whether a batch must wait until all before it is synced, if it is not.
    pub(super) fn is_full_for(&self, share: u64) -> bool {
        let applied = self.applied.load(Ordering::SeqCst);
        let unsynced = applied - self.synced.load(Ordering::SeqCst).min(applied);
        let factor = self.factor.load(Ordering::SeqCst);
        let expected = share.saturating_mul(factor) / ONE;
        unsynced.saturating_add(expected) > SEGMENT_BYTES as u64
    }

    /// Notes that sled has taken a batch.
    pub(super) fn apply(&self, share: u64) {
        self.applied.fetch_add(share, Ordering::SeqCst);
    }

    /// Returns what a flush that is about to begin covers.
    pub(super) fn before_flush(&self) -> u64 {
        self.applied.load(Ordering::SeqCst)
    }

    /// Notes that a flush is done which covers so much, and by how many bytes the log has grown with
    /// it.
    pub(super) fn flush(&self, covered: u64, grown: u64) {
        let counted = covered - self.flushed.load(Ordering::SeqCst).min(covered);
        let more = grown.saturating_sub(counted);
        // Whoever flushes at the same time may count the same once more, which does no harm.
        self.applied.fetch_add(more, Ordering::SeqCst);
        self.flushed.fetch_max(covered + more, Ordering::SeqCst);
        if counted.max(grown) < TELLING_BYTES {
            return;
        }
        if let Some(factor) = grown.saturating_mul(ONE).checked_div(counted) {
            let faded = self.factor.load(Ordering::SeqCst) * 15 / 16;
            self.factor.store(factor.max(faded).max(ONE), Ordering::SeqCst);
        }
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
