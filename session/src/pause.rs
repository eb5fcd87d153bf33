//! What an open interrupt pauses: every path that goes through the message that it stands at.
//!
//! Whether that is the path to the head is asked many times in each step, so the interrupt says it
//! itself; what it says is looked up again when the head goes elsewhere.

use quixos_runtime::CallError;

use crate::past::Past;
use crate::sessions::InterruptData;
use crate::tree;

/// Says whether the conversation is paused at its head.
pub(crate) fn is_paused(open: &[InterruptData]) -> bool {
    open.iter().any(|interrupt| interrupt.pauses)
}

/// Says whether the path to a message is paused, which may be the head or another.
pub(crate) fn is_paused_at(
    past: &impl Past,
    open: &[InterruptData],
    head: Option<&str>,
    message: Option<&str>,
) -> Result<bool, CallError> {
    if message == head {
        return Ok(is_paused(open));
    }
    for interrupt in open {
        if tree::is_on_path(past, message, interrupt.anchor.as_deref())? {
            return Ok(true);
        }
    }
    Ok(false)
}
