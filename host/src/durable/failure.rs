//! Why a request for a stream failed: as everywhere, with the headers that the protocol adds.

use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use quixos_runtime::CallError;
use quixos_streams::Refusal;

use super::headers;
use crate::credential::NotLetIn;
use crate::error::ApiError;

/// Why a request failed.
#[derive(Debug)]
pub(super) struct Failure {
    error: ApiError,
    headers: Box<HeaderMap>,
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self { error, headers: Box::default() }
    }
}

impl From<NotLetIn> for Failure {
    fn from(error: NotLetIn) -> Self {
        ApiError::from(error).into()
    }
}

impl From<PathRejection> for Failure {
    fn from(rejection: PathRejection) -> Self {
        ApiError::from(rejection).into()
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::CONFLICT);
        let mut found = HeaderMap::new();
        let mut say = |name: HeaderName, value: String| {
            if let Ok(value) = HeaderValue::try_from(value) {
                found.insert(name, value);
            }
        };
        match &refusal {
            Refusal::Closed(end) => {
                say(headers::CLOSED, headers::TRUE.to_owned());
                say(headers::NEXT_OFFSET, end.clone());
            }
            Refusal::StaleEpoch(epoch) => say(headers::PRODUCER_EPOCH, epoch.to_string()),
            Refusal::Gap { expected, received } => {
                say(headers::EXPECTED_SEQUENCE, expected.to_string());
                say(headers::RECEIVED_SEQUENCE, received.to_string());
            }
            Refusal::Absent
            | Refusal::Gone
            | Refusal::Taken
            | Refusal::ContentType
            | Refusal::Sequence
            | Refusal::EpochStart
            | Refusal::Position
            | Refusal::NoSource
            | Refusal::SourceGone
            | Refusal::ForkPoint
            | Refusal::Lineage => {}
        }
        let error = ApiError::new(status, refusal.word(), words(&refusal));
        Self { error, headers: Box::new(found) }
    }
}

/// Says a refusal to people.
fn words(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Absent => "there is no such stream",
        Refusal::Gone => "the stream is over, and only its forks have it",
        Refusal::Closed(_) => "the stream is closed",
        Refusal::Taken => "another stream is there, or one with other settings",
        Refusal::ContentType => "the content type is not that of the stream",
        Refusal::Sequence => "`Stream-Seq` is not behind the last one",
        Refusal::StaleEpoch(_) => "a newer epoch of the producer has written",
        Refusal::EpochStart => "an epoch begins with `Producer-Seq: 0`",
        Refusal::Gap { .. } => "something that the producer sent before is missing",
        Refusal::Position => "the offset is behind the end of the stream",
        Refusal::NoSource => "there is no stream to fork",
        Refusal::SourceGone => "the stream to fork is over",
        Refusal::ForkPoint => "a fork cannot begin there",
        Refusal::Lineage => "too many streams are ahead of the fork",
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused { reason } => match reason.parse::<Refusal>() {
                Ok(refusal) => refusal.into(),
                Err(_) => ApiError::from(CallError::Refused { reason }).into(),
            },
            // The protocol has one status for whatever is wrong with a request.
            CallError::Invalid { path, message } => {
                ApiError::malformed(format!("`{path}`: {message}")).into()
            }
            error @ (CallError::Conflict { .. }
            | CallError::Busy { .. }
            | CallError::StaleFence { .. }
            | CallError::StaleVersion { .. }
            | CallError::NotFound { .. }
            | CallError::Capability(_)
            | CallError::Limit { .. }
            | CallError::Unavailable { .. }
            | CallError::Storage { .. }
            | CallError::Corrupt { .. }) => ApiError::from(error).into(),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.error.into_response();
        response.headers_mut().extend(*self.headers);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}
