//! What a request is when it comes into being.

use crate::agent_runtime::RequestState;
use crate::status::Status;

/// How many requests one request at the root may lead to.
pub(crate) const MAX_CHILDREN: u32 = 64;

/// The kind of response that is meant where none is said.
pub(crate) const TEXT: &str = "text";

/// The progress of a request that nobody has taken yet.
pub(crate) fn queued() -> RequestState {
    RequestState {
        status: Status::Queued.word().to_owned(),
        attempt: String::new(),
        generation: 0,
        reason: String::new(),
        result: None,
        raw_output: None,
        usage: None,
        started_at: None,
        ended_at: None,
        cancel_requested: false,
        retry_count: 0,
        notification_pending: false,
    }
}
