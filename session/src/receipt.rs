//! Receipts: what a client asked under a key of its own, so that it is asked once however often it
//! is sent.
//!
//! A receipt is written by the very step that it is of. What was refused has none, and its key is
//! free; what was taken is answered from it, and changes nothing again.

use quixos_runtime::CallError;

use crate::refusal::Refusal;
use crate::sessions::{Authority, Once, ReceiptData};
use crate::shelf;

/// The longest key, and the longest digest, in bytes: a receipt is small.
const MOST_BYTES: usize = 255;

/// Returns where the receipt of an owner's key is.
///
/// # Errors
///
/// `invalid`, if it is no key, or no digest.
pub fn place(by: &Authority, once: &Once) -> Result<String, CallError> {
    for (path, text) in [("once.key", &once.key), ("once.digest", &once.digest)] {
        if text.trim().is_empty() || text.len() > MOST_BYTES {
            let message = format!("must not be blank, and at most {MOST_BYTES} bytes");
            return Err(CallError::invalid(path, message));
        }
    }
    Ok(format!("{}{}", shelf::prefix(&by.tenant, &by.owner_id), once.key))
}

/// Refuses what is another thing than was asked under the same key.
///
/// # Errors
///
/// `key-reused`.
pub fn require_same(known: &ReceiptData, once: &Once) -> Result<(), CallError> {
    if known.digest == once.digest { Ok(()) } else { Err(Refusal::KeyReused.into()) }
}
