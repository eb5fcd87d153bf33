//! What stands in a thread: the kinds of item that have rules, and the first item of a request.

use quixos_runtime::{CallError, Fence};

use crate::agent_runtime::ItemData;
use crate::{fence, timestamp};

/// The kind of what is said to a request while it runs. Such an item is created and never touched
/// again by an upsert.
pub(crate) const STEER: &str = "steer";

/// The phase of an item that is complete.
pub(crate) const FINAL: &str = "final";

/// The key of the first item of each request.
const PROMPT: &str = "prompt";

/// The kind of what a request was asked.
const INPUT: &str = "input";

/// An item that is complete from the beginning.
pub(crate) fn complete(key: &str, kind: &str, text: &str, created_at: &str) -> ItemData {
    ItemData {
        key: key.to_owned(),
        kind: kind.to_owned(),
        text: text.to_owned(),
        phase: FINAL.to_owned(),
        activity: None,
        presentation: None,
        sequence: 0,
        version: 1,
        created_at: created_at.to_owned(),
        updated_at: created_at.to_owned(),
        control: None,
    }
}

/// The first item of a request: what was asked.
pub(crate) fn prompt(text: &str, created_at: &str, sequence: u64) -> ItemData {
    ItemData { sequence, ..complete(PROMPT, INPUT, text, created_at) }
}

/// Checks the form of an item in the input of an operation; `prefix` is the way to it.
pub(crate) fn check(prefix: &str, data: &ItemData) -> Result<(), CallError> {
    timestamp::parse(&format!("{prefix}createdAt"), &data.created_at)?;
    timestamp::parse(&format!("{prefix}updatedAt"), &data.updated_at)?;
    Ok(())
}

/// Refuses an item that says it was written by another attempt than the one that brings it.
pub(crate) fn require_control(data: &ItemData, held: &Fence) -> Result<(), CallError> {
    control_fence(data).map_or(Ok(()), |given| fence::require_same(&given, held))
}

/// Returns the fence that an item says it was written under, if it says so.
pub(crate) fn control_fence(data: &ItemData) -> Option<Fence> {
    let control = data.control.as_ref()?;
    Some(Fence { attempt: control.attempt.clone(), generation: control.generation })
}
