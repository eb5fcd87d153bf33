//! What a request is answered with when it fails: a status, a stable code, and words.

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use quixos_engine::EngineError;
use quixos_protocol::ParseError;
use quixos_runtime::CallError;
use quixos_session::Refusal;
use schemars::JsonSchema;
use serde::Serialize;

use crate::credential::NotLetIn;
use crate::limits::TooMuch;
use crate::tokens::TokenError;

/// Seconds after which it is worth trying again where the host has no room.
const RETRY_SECONDS: u64 = 1;

/// Why a request failed. Nothing was changed then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    status: StatusCode,
    body: ErrorBody,
    /// Seconds after which it is worth trying again, if it is.
    retry_after: Option<u64>,
}

/// The body of such an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ErrorBody {
    /// What went wrong, for people.
    pub(crate) error: String,
    /// The same as a word that does not change.
    pub(crate) code: String,
    /// The turn that is in the way, if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) turn_id: Option<String>,
}

impl ApiError {
    /// Returns a failure.
    pub(crate) fn new(status: StatusCode, code: &str, error: impl Into<String>) -> Self {
        let body = ErrorBody { error: error.into(), code: code.to_owned(), turn_id: None };
        let is_over = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
        let retry_after = is_over.contains(&status).then_some(RETRY_SECONDS);
        Self { status, body, retry_after }
    }

    /// A session that is not there.
    pub(crate) fn no_session(id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", format!("there is no session `{id}`"))
    }

    /// The host is told to stop; another one, or this one in a moment, does it.
    pub(crate) fn stopping() -> Self {
        let error = "the host is about to stop";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", error)
    }

    /// Something of the request is well formed, and cannot be.
    pub(crate) fn invalid(error: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", error)
    }

    /// Something of the request cannot be read.
    pub(crate) fn malformed(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", error)
    }

    /// Says whether there were more bytes than are taken.
    pub(crate) fn is_too_large(&self) -> bool {
        self.status == StatusCode::PAYLOAD_TOO_LARGE
    }

    /// Tells whether the body took too long to come.
    pub(crate) fn is_too_slow(&self) -> bool {
        self.status == StatusCode::REQUEST_TIMEOUT
    }

    fn internal(code: &str) -> Self {
        let error = "the host failed; its log says how";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, code, error)
    }
}

impl From<TooMuch> for ApiError {
    fn from(error: TooMuch) -> Self {
        let retry_after = Some(error.seconds());
        let code = match error {
            TooMuch::Requests { .. } => "requests",
            TooMuch::Streams => "streams",
        };
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, code, error.to_string());
        Self { retry_after, ..error }
    }
}

impl From<NotLetIn> for ApiError {
    fn from(error: NotLetIn) -> Self {
        match error {
            NotLetIn::Unknown => {
                Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", error.to_string())
            }
            NotLetIn::TooMuch(error) => error.into(),
        }
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::malformed(rejection.body_text())
    }
}

impl From<PathRejection> for ApiError {
    fn from(rejection: PathRejection) -> Self {
        Self::malformed(rejection.body_text())
    }
}

impl From<ParseError> for ApiError {
    fn from(error: ParseError) -> Self {
        let text = error.to_string();
        match error {
            ParseError::TooLarge { .. } => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", text)
            }
            ParseError::Malformed { .. } => Self::malformed(text),
            ParseError::Shape { .. } => Self::invalid(text),
        }
    }
}

impl From<TokenError> for ApiError {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Blank | TokenError::Ttl => Self::invalid(error.to_string()),
            TokenError::Secret => Self::internal("secret"),
            TokenError::Invalid => NotLetIn::Unknown.into(),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::CONFLICT);
        let mut error = Self::new(status, refusal.word(), format!("refused: {refusal}"));
        match refusal {
            Refusal::TurnAlreadyActive(turn) => error.body.turn_id = Some(turn),
            Refusal::NotAdmitted(reason) => error.body.code = reason,
            Refusal::Interrupted
            | Refusal::Cancelled
            | Refusal::NotOwner
            | Refusal::WrongTenant
            | Refusal::WrongAgent
            | Refusal::NotPrivileged
            | Refusal::WrongHandler
            | Refusal::UnknownCall
            | Refusal::UnknownAction(_)
            | Refusal::NotPending
            | Refusal::AttemptMismatch
            | Refusal::NoActiveTurn
            | Refusal::Role
            | Refusal::UnknownAgent
            | Refusal::AmbiguousAgent
            | Refusal::KeyReused => {}
        }
        error
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        let text = error.to_string();
        match error {
            EngineError::Refused(refusal) => refusal.into(),
            EngineError::Invalid { .. } => Self::invalid(text),
            EngineError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not-found", text),
            EngineError::Call(error) => of_call(&error),
        }
    }
}

impl From<CallError> for ApiError {
    fn from(error: CallError) -> Self {
        EngineError::from(error).into()
    }
}

fn of_call(error: &CallError) -> ApiError {
    let text = error.to_string();
    match error {
        CallError::Conflict { .. }
        | CallError::StaleFence { .. }
        | CallError::StaleVersion { .. } => ApiError::new(StatusCode::CONFLICT, error.code(), text),
        CallError::Busy { .. } | CallError::Unavailable { .. } => {
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, error.code(), text)
        }
        CallError::Limit { .. } => ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "limit", text),
        CallError::Invalid { .. } | CallError::Refused { .. } => ApiError::invalid(text),
        CallError::NotFound { .. } => ApiError::new(StatusCode::NOT_FOUND, error.code(), text),
        // A full disk, or one that failed: another host does it, or this one when it is mended.
        CallError::Storage { .. } => {
            tracing::error!(%error, "a request failed");
            let error = "the store cannot be used now; the host's log says why";
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "storage", error)
        }
        CallError::Capability(_) | CallError::Corrupt { .. } => {
            tracing::error!(%error, "a request failed");
            ApiError::internal(error.code())
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(error: impl Into<ApiError>) -> (u16, bool) {
        let response = error.into().into_response();
        (response.status().as_u16(), response.headers().contains_key(RETRY_AFTER))
    }

    #[test]
    fn what_may_be_tried_again_says_when() {
        let refused = |reason: &str| Refusal::NotAdmitted(reason.to_owned());
        assert_eq!(status(refused("capacity")), (429, true));
        assert_eq!(status(refused("agent-disabled")), (503, true));
        assert_eq!(status(refused("thread-archived")), (409, false));
        assert_eq!(status(CallError::Busy { message: String::new() }), (503, true));
        assert_eq!(status(CallError::Unavailable { message: String::new() }), (503, true));
        assert_eq!(status(CallError::Storage { message: String::new() }), (503, true));
    }

    #[test]
    fn what_failed_inside_is_not_told_outside() {
        let message = || "the text of a prompt".to_owned();
        let corrupt = ApiError::from(CallError::Corrupt { message: message() });
        assert_eq!(corrupt.status, StatusCode::INTERNAL_SERVER_ERROR);
        let storage = ApiError::from(CallError::Storage { message: message() });
        assert!([corrupt, storage].iter().all(|it| !it.body.error.contains("prompt")));
    }
}
