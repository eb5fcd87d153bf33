//! Agents by name: a session is bound to the one agent of its directory that has the name.

use quixos_package::agent_runtime::AgentObject;
use quixos_runtime::{CallError, Ref};

use crate::refusal::Refusal;

/// Returns the one of some agents that has a name, or why none is meant.
pub(crate) fn named(
    name: &str,
    agents: Vec<Ref<AgentObject>>,
    name_of: impl Fn(Ref<AgentObject>) -> Result<String, CallError>,
) -> Result<Result<Ref<AgentObject>, Refusal>, CallError> {
    let mut found = None;
    for agent in agents {
        if name_of(agent)? == name && found.replace(agent).is_some() {
            return Ok(Err(Refusal::AmbiguousAgent));
        }
    }
    Ok(found.ok_or(Refusal::UnknownAgent))
}
