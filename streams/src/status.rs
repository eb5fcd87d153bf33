//! How a stream is for whoever asks: there, over and needed by a fork, or over.

use quixos_runtime::CallError;

use crate::refusal::Refusal;

/// It is there.
pub(crate) const OPEN: &str = "open";
/// It is over, and a fork has some of it.
pub(crate) const GONE: &str = "gone";
/// It is over.
pub(crate) const ABSENT: &str = "absent";

/// The mark of a stream that was closed.
pub(crate) const CLOSED: &str = "closed";
/// The mark of a stream that was deleted.
pub(crate) const DELETED: &str = "deleted";

/// Refuses what is only for a stream that is there.
pub(crate) fn require_open(status: &str) -> Result<(), CallError> {
    match status {
        OPEN => Ok(()),
        GONE => Err(Refusal::Gone.into()),
        _ => Err(Refusal::Absent.into()),
    }
}
