//! A batch between `submit` and the end of `write`, laid over what sled holds.
//!
//! While a batch is written, sled shows it half. Whoever reads looks here first, and so sees all of
//! it: every key that sled may be changing is answered from here.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use crate::store::checked::KeyRange;
use crate::store::{TransactionId, Version};

/// A key with its new value; `None` when it is deleted.
pub(super) type Write = (Bytes, Option<Bytes>);

/// The batch that is under way.
#[derive(Debug)]
pub(super) struct Overlay {
    /// The version that it makes.
    pub(super) version: Version,
    /// Its transactions.
    pub(super) transactions: Vec<TransactionId>,
    /// In ascending order of keys.
    pub(super) writes: Vec<Write>,
    dropped: AtomicBool,
}

impl Overlay {
    pub(super) fn new(
        version: Version,
        transactions: Vec<TransactionId>,
        writes: Vec<Write>,
    ) -> Overlay {
        Overlay { version, transactions, writes, dropped: AtomicBool::new(false) }
    }

    /// Returns the bytes of the keys and the values.
    pub(super) fn size(&self) -> u64 {
        let sizes =
            self.writes.iter().map(|(key, value)| key.len() + value.as_ref().map_or(0, Bytes::len));
        sizes.sum::<usize>() as u64
    }

    /// Returns what the batch says of a key: nothing, or its new value.
    pub(super) fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        let found = self.writes.binary_search_by(|(written, _)| written.as_ref().cmp(key));
        found.ok().map(|index| &self.writes[index].1)
    }

    /// Returns the writes in a range that does not end before it starts.
    pub(super) fn range(&self, (start, end): KeyRange<'_>) -> &[Write] {
        let before = |key: &[u8]| self.writes.partition_point(|(written, _)| written < key);
        let through = |key: &[u8]| self.writes.partition_point(|(written, _)| written <= key);
        let start = match start {
            Bound::Included(key) => before(key),
            Bound::Excluded(key) => through(key),
            Bound::Unbounded => 0,
        };
        let end = match end {
            Bound::Included(key) => through(key),
            Bound::Excluded(key) => before(key),
            Bound::Unbounded => self.writes.len(),
        };
        &self.writes[start..end]
    }

    /// Takes the batch back. Before another takes its number.
    pub(super) fn drop_batch(&self) {
        self.dropped.store(true, Ordering::Release);
    }

    /// Tells whether the batch was taken back.
    pub(super) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::Acquire)
    }
}
