//! What is submitted for admission, before anyone asks whether it may come in.

use quixos_runtime::CallError;

use crate::agent_runtime::AgentSubmission;
use crate::timestamp;

/// The source of a request behind which somebody sits and waits.
const INTERACTIVE: &str = "user";

/// The longest title that is made of a text, in characters.
const TITLE: usize = 80;

/// Checks the form of a submission. Each operation that takes one checks it itself, so that the
/// path in the error is that of its own input; `prefix` is `submission.` where it stands in one.
pub(crate) fn check(prefix: &str, submission: &AgentSubmission) -> Result<(), CallError> {
    timestamp::parse(&format!("{prefix}createdAt"), &submission.created_at).map(drop)
}

/// Says whether somebody sits and waits for the answer.
pub(crate) fn is_interactive(submission: &AgentSubmission) -> bool {
    submission.source_kind == INTERACTIVE
}

/// Returns the title of a thread that is begun for a text: its first line, cut if it is long.
/// That line is taken as it stands, also when it is blank.
pub(crate) fn title(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(TITLE).collect()
}
