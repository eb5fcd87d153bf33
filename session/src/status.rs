//! The words for how far calls and decisions are, as they are stored.

use quixos_protocol::CallHandler;
use quixos_runtime::CallError;

/// Recorded, not begun.
pub(crate) const QUEUED: &str = "queued";
/// Handed to whoever runs or answers it; its deadline counts.
pub(crate) const PENDING: &str = "pending";
/// The last try failed, and the next one waits.
pub(crate) const RETRY_SCHEDULED: &str = "retry_scheduled";
/// It ended well.
pub(crate) const COMPLETED: &str = "completed";
/// It ended badly.
pub(crate) const FAILED: &str = "failed";
/// A call that nobody wants any longer.
pub(crate) const VOIDED: &str = "voided";
/// A decision that nobody asks for any longer.
pub(crate) const DROPPED: &str = "dropped";

/// How the log says of a turn that it was cancelled.
pub(crate) const CANCELLED: &str = "cancelled";

/// The kind of a call to a tool.
pub(crate) const TOOL_CALL: &str = "tool_call";
/// The kind of a call to a model.
pub(crate) const LLM_CALL: &str = "llm_call";
/// The kind of a delegation.
pub(crate) const SUB_AGENT: &str = "sub_agent";

/// Run by the engine.
pub(crate) const SERVER: &str = "server";
/// Run by the worker.
pub(crate) const WORKER: &str = "worker";
/// Run by the client.
pub(crate) const CLIENT: &str = "client";

/// Who may least of those that ask.
pub(crate) const FRONTEND: &str = "frontend";
/// A program of the operator.
pub(crate) const MACHINE: &str = "machine";
/// The engine itself.
pub(crate) const SYSTEM: &str = "system";

/// `session.start` waits for its answer.
pub(crate) const START_QUEUED: &str = "queued";
/// `session.start` was answered.
pub(crate) const START_DONE: &str = "started";
/// `session.start` failed for good; the next message of a user asks it again.
pub(crate) const START_FAILED: &str = "failed";

/// Returns who runs a model call, as it is stored.
pub(crate) fn call_handler(word: &str) -> Result<CallHandler, CallError> {
    match word {
        SERVER => Ok(CallHandler::Server),
        WORKER => Ok(CallHandler::Worker),
        _ => Err(CallError::Corrupt { message: format!("a model call is run by `{word}`") }),
    }
}
