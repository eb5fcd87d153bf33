//! The tree of messages: what is above a message.
//!
//! A node is written once and never moves, so whatever is said here about a node holds for good.

use quixos_runtime::CallError;

use crate::past::Past;
use crate::sessions::NodeData;

/// Returns the messages from the root down to `head`, the conversation that it ends.
pub(crate) fn path(past: &impl Past, head: Option<&str>) -> Result<Vec<NodeData>, CallError> {
    below(past, None, head)
}

/// Returns the messages below `from`, or from the root on, down to `to`.
///
/// # Errors
///
/// `corrupt` if `from` is not above `to`, or a node leads to one that is not there.
pub(crate) fn below(
    past: &impl Past,
    from: Option<&str>,
    to: Option<&str>,
) -> Result<Vec<NodeData>, CallError> {
    let mut found = Vec::new();
    let mut next = to.map(str::to_owned);
    while let Some(id) = next.filter(|id| Some(id.as_str()) != from) {
        let node = node(past, &id)?;
        next = node.parent.clone();
        if next.is_none() && from.is_some() {
            let message = format!("message `{id}` is not below `{}`", from.unwrap_or_default());
            return Err(CallError::Corrupt { message });
        }
        found.push(node);
    }
    found.reverse();
    Ok(found)
}

/// Says whether `anchor` is on the path from the root to `head`. None is above everything.
pub(crate) fn is_on_path(
    past: &impl Past,
    head: Option<&str>,
    anchor: Option<&str>,
) -> Result<bool, CallError> {
    let Some(anchor) = anchor else { return Ok(true) };
    let Some(head) = head else { return Ok(false) };
    let depth = node(past, anchor)?.depth;
    let mut at = node(past, head)?;
    while at.depth > depth {
        let Some(parent) = at.parent else { return Ok(false) };
        at = node(past, &parent)?;
    }
    Ok(at.id == anchor)
}

/// Returns a message that something in the store leads to.
fn node(past: &impl Past, id: &str) -> Result<NodeData, CallError> {
    past.node(id)?.ok_or_else(|| CallError::Corrupt {
        message: format!("the tree leads to a message `{id}` that is not in it"),
    })
}
