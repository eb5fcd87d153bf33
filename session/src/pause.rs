//! What an open interrupt pauses: every path that goes through the message that it stands at.

use quixos_runtime::CallError;

use crate::past::Past;
use crate::sessions::InterruptData;
use crate::tree;

/// Says whether the path to `head` is paused.
pub(crate) fn is_paused(
    past: &impl Past,
    open: &[InterruptData],
    head: Option<&str>,
) -> Result<bool, CallError> {
    for interrupt in open {
        if tree::is_on_path(past, head, interrupt.anchor.as_deref())? {
            return Ok(true);
        }
    }
    Ok(false)
}
