//! What a directory counts of its queue.
//!
//! A request counts as pending from when it enters until it has ended, and as ordinary too
//! unless it is interactive. Whoever moves the numbers moves the edge `pending` with them.

use quixos_runtime::CallError;

use crate::agent_runtime::DirectoryData;
use crate::counter;

/// Counts a request that enters, and returns its sequence.
pub(crate) fn enter(directory: &mut DirectoryData, interactive: bool) -> Result<u64, CallError> {
    directory.sequence = counter::next("directory.sequence", directory.sequence)?;
    directory.pending = counter::up("directory.pending", directory.pending)?;
    if !interactive {
        let ordinary = &mut directory.ordinary_pending;
        *ordinary = counter::up("directory.ordinaryPending", *ordinary)?;
    }
    Ok(directory.sequence)
}

/// Counts a request that has ended.
pub(crate) fn leave(directory: &mut DirectoryData, interactive: bool) -> Result<(), CallError> {
    directory.pending = counter::down("directory.pending", directory.pending)?;
    if !interactive {
        let ordinary = &mut directory.ordinary_pending;
        *ordinary = counter::down("directory.ordinaryPending", *ordinary)?;
    }
    Ok(())
}
