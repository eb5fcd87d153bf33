//! Under which keys long values may lie, so that the others are overwritten without a look.
//!
//! A long value leaves parts, which go when it is overwritten; to know of them costs a read of each
//! key that is written. Keys are told apart by their first byte, their kind: values of most kinds
//! are never long.
//!
//! Invariant: a key under which parts lie is never denied. It may be affirmed for no reason: what
//! was once found or added stays until the store is opened again.

use std::ops::Bound;

use super::engine::{Engine, Failure};
use super::record;
use crate::store::RESERVED;

/// The first bytes of keys under which long values may lie.
#[derive(Debug)]
pub(super) struct LongValues([bool; RESERVED as usize]);

impl LongValues {
    /// Finds those that are in the store.
    pub(super) fn find(engine: &Engine) -> Result<LongValues, Failure> {
        let mut found = [false; RESERVED as usize];
        for (first, found) in (0..RESERVED).zip(&mut found) {
            let (start, end) = record::parts_between(first);
            let part = engine.scan(Bound::Included(&start), Bound::Excluded(&end)).next();
            *found = part.transpose()?.is_some();
        }
        Ok(LongValues(found))
    }

    /// Tells whether a long value may lie under a key.
    pub(super) fn may_be_under(&self, key: &[u8]) -> bool {
        key.first().and_then(|first| self.0.get(usize::from(*first))).is_some_and(|may| *may)
    }

    /// Remembers that a long value is about to lie under a key.
    pub(super) fn add(&mut self, key: &[u8]) {
        if let Some(may) = key.first().and_then(|first| self.0.get_mut(usize::from(*first))) {
            *may = true;
        }
    }
}
