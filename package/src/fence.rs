//! Who holds a request: the fence, an attempt with the generation of its claim.
//!
//! Only a running or waiting request is held, and only by the fence that is stored in its
//! progress. Whoever acts for an attempt says which; a stale fence never changes anything.

use quixos_runtime::{CallError, Fence};

use crate::agent_runtime::RequestState;
use crate::status::Status;

/// Says whether `fence` holds the request.
pub(crate) fn holds(progress: &RequestState, fence: &Fence) -> Result<bool, CallError> {
    Ok(Status::of(progress)?.is_held() && stored(progress) == *fence)
}

/// Refuses a stale fence, where the output of an operation cannot say so.
pub(crate) fn require(progress: &RequestState, fence: &Fence) -> Result<(), CallError> {
    if holds(progress, fence)? { Ok(()) } else { Err(stale(fence, &stored(progress))) }
}

/// Refuses what bears another fence than the one that it came with.
pub(crate) fn require_same(given: &Fence, held: &Fence) -> Result<(), CallError> {
    if given == held { Ok(()) } else { Err(stale(given, held)) }
}

/// Returns the fence as stored, whether or not the request is still held.
pub(crate) fn stored(progress: &RequestState) -> Fence {
    Fence { attempt: progress.attempt.clone(), generation: progress.generation }
}

/// Refuses an attempt without a name, which would be the one that holds a queued request.
pub(crate) fn check_attempt(attempt: &str) -> Result<(), CallError> {
    if attempt.is_empty() {
        return Err(CallError::invalid("attempt", "must not be empty"));
    }
    Ok(())
}

fn stale(given: &Fence, held: &Fence) -> CallError {
    CallError::StaleFence { given: given.clone(), held: held.clone() }
}
