//! What time makes due: deadlines of what is handed out, and tries that wait.
//!
//! All of it is stored as instants, so that a timer is nothing but the earliest of them.

use quixos_runtime::CallError;

use crate::instant;
use crate::sessions::{CallData, DecisionData, Live};
use crate::status::{PENDING, RETRY_SCHEDULED};

/// Returns when the session has to be looked at again, at the latest.
pub(crate) fn wake_at(live: &Live) -> Result<Option<String>, CallError> {
    let instants = live.calls.iter().filter_map(call_due);
    let instants = instants.chain(live.decisions.iter().filter_map(decision_due));
    let mut earliest = None;
    for text in instants {
        let at = instant::parse(text)?;
        if earliest.is_none_or(|earliest| at < earliest) {
            earliest = Some(at);
        }
    }
    Ok(earliest.map(instant::text))
}

/// Returns when something is due about a call.
pub(crate) fn call_due(call: &CallData) -> Option<&str> {
    due(&call.status, call.deadline.as_deref(), call.retry_at.as_deref())
}

/// Returns when something is due about a decision.
pub(crate) fn decision_due(decision: &DecisionData) -> Option<&str> {
    due(&decision.status, decision.deadline.as_deref(), decision.retry_at.as_deref())
}

fn due<'a>(status: &str, deadline: Option<&'a str>, retry_at: Option<&'a str>) -> Option<&'a str> {
    match status {
        PENDING => deadline,
        RETRY_SCHEDULED => retry_at,
        _ => None,
    }
}
