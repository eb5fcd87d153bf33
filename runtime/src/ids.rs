//! Where the ids of new objects come from: ULIDs that only grow within a store.
//!
//! An id holds the transaction's instant and 80 bits from the store's [`IdSource`]. A second id
//! within one millisecond, or one after the clock went backward, is the last id plus one; so ids
//! sort by creation, also over restarts, since the last one is kept in the store.

use ulid::Ulid;

use crate::error::CallError;

/// Gives the random part of ids.
pub trait IdSource: Send + Sync {
    /// Returns bits for an id; the lower 80 are used. A transaction that is run again with the
    /// same commit number asks for the same `(commit, index)`, and may be given other bits.
    fn bits(&self, commit: u64, index: u32) -> u128;
}

/// Bits from the operating system, which nobody can foresee.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn bits(&self, commit: u64, index: u32) -> u128 {
        let mut bytes = [0; 16];
        match getrandom::fill(&mut bytes) {
            Ok(()) => u128::from_le_bytes(bytes),
            // Ids have to differ, not to be secret, and growing they do.
            Err(_) => SeededIds::new(0).bits(commit, index),
        }
    }
}

/// Bits that are the same for the same seed, commit and index: a history replays to the same
/// bytes.
#[derive(Clone, Copy, Debug)]
pub struct SeededIds(u64);

impl SeededIds {
    /// Returns the source of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
}

impl IdSource for SeededIds {
    fn bits(&self, commit: u64, index: u32) -> u128 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0.to_le_bytes());
        hasher.update(&commit.to_le_bytes());
        hasher.update(&index.to_le_bytes());
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        u128::from_le_bytes(bytes)
    }
}

/// Returns the next id of a store.
pub(crate) fn next(last: Ulid, millis: u64, bits: u128) -> Result<Ulid, CallError> {
    if millis > last.timestamp_ms() {
        return Ok(Ulid::from_parts(millis, bits));
    }
    last.increment().or_else(|_| {
        // The millisecond is used up: go on in the next.
        let millis = last.timestamp_ms() + 1;
        if millis < 1 << 48 {
            Ok(Ulid::from_parts(millis, 0))
        } else {
            Err(CallError::Limit { message: "no ids are left in this store".into() })
        }
    })
}
