//! The rules of admission that need nothing but what was read: the gates behind those that ask
//! who the agent and the thread are, and before the one that reserves a child.

use quixos_runtime::CallError;

use crate::agent_runtime::{AgentSubmission, DirectoryData};
use crate::profiles;
use crate::refusal::Refusal;
use crate::settings::Limits;
use crate::submission::is_interactive;

/// Returns the first of these gates that is shut, in the order in which they stand.
pub(crate) fn gates(
    directory: &DirectoryData,
    limits: &Limits,
    submission: &AgentSubmission,
    optional: bool,
) -> Result<Option<Refusal>, CallError> {
    let unknown_profile = match &submission.profile {
        Some(profile) => !profiles::offers(directory, profile)?,
        None => false,
    };
    let gates = [
        (submission.text.trim().is_empty(), Refusal::Empty),
        (optional && directory.availability == profiles::OFFLINE, Refusal::Unavailable),
        (unknown_profile, Refusal::UnknownProfile),
        (submission.causal_depth > limits.max_causal_depth, Refusal::CausalDepth),
        (is_full(directory, limits, is_interactive(submission), optional), Refusal::Capacity),
    ];
    Ok(gates.into_iter().find_map(|(shut, refusal)| shut.then_some(refusal)))
}

/// Each class of work has its own limit, and keeps out of what is left for the classes above it.
fn is_full(directory: &DirectoryData, limits: &Limits, interactive: bool, optional: bool) -> bool {
    directory.pending >= limits.max_pending
        || (!interactive && directory.ordinary_pending >= limits.max_ordinary_pending)
        || (optional && directory.ordinary_pending >= limits.max_optional_pending)
}
