//! The worker's state and the agent's config, as versions on the tree.
//!
//! A version is anchored at the head that there was when it was written, and what counts is the
//! newest on the way to the head that there is. So a fork sees what the fork point saw.

use quixos_runtime::CallError;
use serde_json::Value;

use crate::past::Past;
use crate::sessions::VersionData;
use crate::{stored, tree};

/// The kind of a version that is the worker's state.
pub(crate) const STATE: &str = "state";
/// The kind of a version that is the agent's config.
pub(crate) const AGENT: &str = "agent";

/// Returns the version that counts at a head.
pub(crate) fn resolve(
    past: &impl Past,
    kind: &str,
    head: Option<&str>,
) -> Result<Option<VersionData>, CallError> {
    // Most often the newest is the one.
    let mut after = place(kind, u64::MAX);
    while let Some(version) = past.version_behind(&after)?.filter(|it| it.kind == kind) {
        if tree::is_on_path(past, head, version.anchor.as_deref())? {
            return Ok(Some(version));
        }
        after = version.place;
    }
    Ok(None)
}

/// Returns where a version stands among all of its session: behind those of its kind that are newer.
pub(crate) fn place(kind: &str, number: u64) -> String {
    format!("{kind}:{:020}", u64::MAX - number)
}

/// Returns the value of a version by its number.
pub(crate) fn numbered(
    past: &impl Past,
    kind: &str,
    number: Option<u64>,
) -> Result<Option<Value>, CallError> {
    let Some(number) = number else { return Ok(None) };
    let found = past.version(&place(kind, number))?;
    let version = found.ok_or_else(|| CallError::Corrupt {
        message: format!("there is no version {number} of `{kind}`"),
    })?;
    stored::read_text(&version.value, "a version").map(Some)
}
