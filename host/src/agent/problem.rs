//! What is wrong before a stream has begun: a status, and an `error` event as its body.
//!
//! What clients are told is in here alone. An inner error goes to the log, under the id that the
//! body names as the request.

use std::borrow::Cow;

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use quixos_engine::EngineError;
use quixos_protocol::agent::{AgentEvent, ErrorCode, ErrorEvent, RequestError};
use quixos_runtime::{CallError, Clock as _, SystemClock};
use quixos_session::Refusal;
use ulid::Ulid;

use super::log::instant;
use crate::credential::NotLetIn;
use crate::limits::TooMuch;

/// Seconds after which it is worth trying again where the host has no room.
const RETRY_SECONDS: u64 = 1;

/// Why a request failed. Nothing was changed then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    status: StatusCode,
    code: Option<ErrorCode>,
    /// Words of ours; made up for this request, they may quote it.
    message: Cow<'static, str>,
    retryable: bool,
    retry_after: Option<u64>,
}

impl Problem {
    /// Returns what a code stands for.
    pub(crate) fn coded(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        let retryable = code.is_retryable();
        Self {
            status: StatusCode::from_u16(code.status()).unwrap_or(StatusCode::BAD_REQUEST),
            code: Some(code),
            message: message.into(),
            retryable,
            retry_after: (code == ErrorCode::RateLimitExceeded).then_some(RETRY_SECONDS),
        }
    }

    /// Something that cannot be as things stand.
    pub(crate) fn conflict(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status: StatusCode::CONFLICT,
            code: None,
            message: message.into(),
            retryable: false,
            retry_after: None,
        }
    }

    /// A body that took too long to come.
    pub(crate) fn too_slow() -> Self {
        let status = StatusCode::REQUEST_TIMEOUT;
        Self { status, retryable: true, ..Self::conflict("the body took too long to come") }
    }

    /// Something else under a key that is taken.
    fn key_reused() -> Self {
        let message = "something else was sent under this key before: take another one";
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, ..Self::conflict(message) }
    }

    /// What would begin a turn once the host is told to stop.
    pub(crate) fn stopping() -> Self {
        Self::unavailable("the host is about to stop")
    }

    /// Something that may be later.
    pub(crate) fn unavailable(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            code: None,
            message: message.into(),
            retryable: true,
            retry_after: Some(RETRY_SECONDS),
        }
    }

    /// Something of the request is not as it has to be.
    pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::coded(ErrorCode::InvalidMessageFormat, message)
    }

    /// A thread that is not there.
    pub(crate) fn no_thread(id: &str) -> Self {
        Self::coded(ErrorCode::ThreadNotFound, format!("there is no thread `{id}`"))
    }

    /// A turn that is not there.
    pub(crate) fn no_request(id: &str) -> Self {
        Self::coded(ErrorCode::ThreadNotFound, format!("there is no request `{id}`"))
    }

    /// An agent that is not there, or that the client may not use.
    pub(crate) fn no_agent(name: &str) -> Self {
        Self::coded(ErrorCode::ThreadNotFound, format!("there is no agent `{name}`"))
    }

    /// Returns the status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the seconds after which it is worth trying again, if it is.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.retry_after
    }

    /// Returns it as an event, and notes in the host's log under which id. Words that may quote
    /// what a client sent are for that client alone.
    pub(crate) fn event(&self) -> ErrorEvent {
        let request_id = Ulid::generate().to_string();
        let reason = match &self.message {
            Cow::Borrowed(words) => Some(*words),
            Cow::Owned(_) => None,
        };
        tracing::info!(
            request = %request_id,
            status = self.status.as_u16(),
            code = ?self.code,
            reason,
            "a request was refused"
        );
        ErrorEvent {
            request_id,
            message: self.message.clone().into_owned(),
            code: self.code,
            retryable: Some(self.retryable),
            timestamp: instant(SystemClock.now()),
        }
    }

    fn internal(error: &CallError) -> Self {
        tracing::error!(%error, "a request failed");
        Self::coded(ErrorCode::InternalError, "the host failed; its log says how")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = AgentEvent::Error(self.event());
        let mut response = (self.status(), Json(body)).into_response();
        if let Some(seconds) = self.retry_after() {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<TooMuch> for Problem {
    fn from(error: TooMuch) -> Self {
        let retry_after = Some(error.seconds());
        Self { retry_after, ..Self::coded(ErrorCode::RateLimitExceeded, error.to_string()) }
    }
}

impl From<NotLetIn> for Problem {
    fn from(error: NotLetIn) -> Self {
        match error {
            NotLetIn::Unknown => Self::coded(ErrorCode::AuthFailed, error.to_string()),
            NotLetIn::TooMuch(error) => error.into(),
        }
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::invalid(rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::invalid(rejection.body_text())
    }
}

impl From<RequestError> for Problem {
    fn from(error: RequestError) -> Self {
        Self::coded(error.code(), error.to_string())
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::TurnAlreadyActive(_) => Self::conflict("the thread has a turn running"),
            Refusal::Interrupted => {
                Self::conflict("the thread is paused: what it waits for comes first, alone")
            }
            Refusal::Cancelled => Self::conflict("the thread is closed, for good"),
            Refusal::WrongAgent => Self::conflict("the thread belongs to another agent"),
            Refusal::AmbiguousAgent => Self::conflict("there are several agents of that name"),
            Refusal::NotPending | Refusal::AttemptMismatch | Refusal::NoActiveTurn => {
                Self::conflict("the thread has gone on meanwhile")
            }
            Refusal::NotOwner
            | Refusal::WrongTenant
            | Refusal::NotPrivileged
            | Refusal::WrongHandler => {
                Self::coded(ErrorCode::ThreadAccessDenied, "the thread is another owner's")
            }
            Refusal::UnknownCall => {
                Self::coded(ErrorCode::InvalidActionId, "nothing of that name is waited for")
            }
            Refusal::UnknownAction(action) => Self::coded(
                ErrorCode::InvalidActionId,
                format!("`{action}` is not waited for, or no longer"),
            ),
            Refusal::UnknownAgent => {
                Self::coded(ErrorCode::ThreadNotFound, "there is no such agent")
            }
            Refusal::Role => Self::invalid("only users write messages"),
            Refusal::KeyReused => Self::key_reused(),
            Refusal::NotAdmitted(reason) => match reason.as_str() {
                "capacity" => {
                    Self::coded(ErrorCode::RateLimitExceeded, "there is too much to do already")
                }
                "agent-disabled" => Self::unavailable("the agent is disabled"),
                "unavailable" => Self::unavailable("the agent is not available"),
                "thread-archived" => Self::conflict("the thread is archived"),
                "unknown-agent" | "wrong-thread" => {
                    Self::conflict("the thread belongs to another agent")
                }
                other => Self::invalid(format!("the turn was not admitted: {other}")),
            },
        }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Refused(refusal) => refusal.into(),
            EngineError::Invalid { path, message } => Self::invalid(format!("`{path}`: {message}")),
            EngineError::NotFound(_) => {
                Self::coded(ErrorCode::ThreadNotFound, "there is no such thread")
            }
            EngineError::Call(error) => of_call(&error),
        }
    }
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        EngineError::from(error).into()
    }
}

fn of_call(error: &CallError) -> Problem {
    match error {
        CallError::Conflict { .. }
        | CallError::StaleFence { .. }
        | CallError::StaleVersion { .. } => Problem::conflict("the thread has gone on meanwhile"),
        CallError::Busy { .. } | CallError::Unavailable { .. } => {
            Problem::unavailable("the host is busy")
        }
        CallError::Limit { .. } => {
            Problem::coded(ErrorCode::MessageTooLarge, "that is more than fits")
        }
        CallError::Invalid { .. } | CallError::Refused { .. } | CallError::NotFound { .. } => {
            Problem::invalid("that cannot be")
        }
        // A full disk, or one that failed: another host does it, or this one when it is mended.
        CallError::Storage { .. } => {
            tracing::error!(%error, "a request failed");
            Problem::unavailable("the store cannot be used now; the host's log says why")
        }
        CallError::Capability(_) | CallError::Corrupt { .. } => Problem::internal(error),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper of tests")]

    use super::*;

    fn told(problem: impl Into<Problem>) -> (u16, Option<ErrorCode>, bool, bool) {
        let problem = problem.into();
        let event = problem.event();
        let has_later = problem.retry_after().is_some();
        (problem.status().as_u16(), event.code, event.retryable.unwrap(), has_later)
    }

    #[test]
    fn each_code_has_its_status_and_may_be_tried_again_or_not() {
        for code in ErrorCode::ALL {
            let (status, told, retryable, later) = told(Problem::coded(code, ""));
            assert_eq!((status, told), (code.status(), Some(code)));
            assert_eq!(retryable, [429, 504].contains(&status));
            assert_eq!(later, status == 429);
        }
    }

    #[test]
    fn refusals_have_the_statuses_of_the_protocol() {
        let refused = |reason: &str| Refusal::NotAdmitted(reason.to_owned());
        let of = |code| Some(code);
        for (refusal, expected) in [
            (Refusal::TurnAlreadyActive("t".into()), (409, None, false, false)),
            (Refusal::Interrupted, (409, None, false, false)),
            (Refusal::WrongAgent, (409, None, false, false)),
            (Refusal::KeyReused, (422, None, false, false)),
            (refused("thread-archived"), (409, None, false, false)),
            (refused("agent-disabled"), (503, None, true, true)),
            (refused("unavailable"), (503, None, true, true)),
            (refused("capacity"), (429, of(ErrorCode::RateLimitExceeded), true, true)),
            (Refusal::NotOwner, (403, of(ErrorCode::ThreadAccessDenied), false, false)),
            (Refusal::WrongTenant, (403, of(ErrorCode::ThreadAccessDenied), false, false)),
            (Refusal::UnknownAgent, (404, of(ErrorCode::ThreadNotFound), false, false)),
            (
                Refusal::UnknownAction("a".into()),
                (400, of(ErrorCode::InvalidActionId), false, false),
            ),
        ] {
            assert_eq!(told(refusal.clone()), expected, "{refusal}");
        }
    }

    #[test]
    fn what_failed_inside_is_not_told_outside() {
        let problem = Problem::from(CallError::Corrupt { message: "the text of a prompt".into() });
        assert_eq!(told(problem.clone()).0, 500);
        assert!(!problem.event().message.contains("prompt"));
    }
}
