//! How much one transaction may do.
//!
//! Reaching a limit is the error `limit`, and the call leaves no trace. What a failed nested call
//! wrote counts too: a limit bounds work, not results.

use crate::store::StoreLimits;

/// How much one transaction may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Calls within calls, the outermost counted.
    pub depth: usize,
    /// Keys written, each time counted.
    pub writes: usize,
    /// Bytes written, keys and values together.
    pub bytes: usize,
    /// Bytes of one value: state, event, output.
    pub value: usize,
    /// Bytes of the input of a call.
    pub input: usize,
    /// Bytes of a key of an edge or a cursor's name.
    pub key: usize,
    /// Calls that wait for the writing lane; one more is answered `busy`.
    pub queue: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 32,
            writes: 100_000,
            bytes: 16 << 20,
            value: 4 << 20,
            input: 4 << 20,
            key: 1024,
            queue: 4096,
        }
    }
}

impl Limits {
    /// Returns the limits, lowered to what a store takes.
    #[must_use]
    pub(crate) fn within(self, store: StoreLimits) -> Self {
        Self {
            bytes: self.bytes.min(store.batch.saturating_sub(OVERHEAD)),
            value: self.value.min(store.value.saturating_sub(64)),
            key: self.key.min(store.key.saturating_sub(64) / 2),
            ..self
        }
    }
}

/// Bytes that the history and a named transaction's answer may add to what a transaction wrote.
pub(crate) const OVERHEAD: usize = 6 << 20;
