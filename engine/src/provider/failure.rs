//! Why there is no reply, in the words of the protocol.
//!
//! | what comes | code | again? |
//! | --- | --- | --- |
//! | no connection, a broken, silent, cut or garbled reply, 408, 5xx | `provider_error` | yes |
//! | 429 | `rate_limited` | yes, when the provider says |
//! | a refusal, of the model or of a filter | `refused` | no |
//! | a redirect, any other 4xx, a reply that is too large | `provider_error` | no |

use quixos_protocol::ErrorCode;
use quixos_protocol::native::NativeError;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};
use serde_json::Value;

use super::{Api, ProviderError};
use crate::http::BodyFault;

/// Letters of what a provider says that are passed on.
const MESSAGE_LENGTH: usize = 500;
/// Bytes of a provider's body up to which it is passed on as detail.
const DETAIL_BYTES: usize = 4 << 10;

/// What providers call a filter that held something back.
const FILTERS: [&str; 3] = ["content_filter", "content_policy_violation", "content_policy"];
/// What providers call being asked too often.
const TOO_OFTEN: [&str; 3] = ["rate_limit_error", "rate_limit_exceeded", "rate_limited"];
/// What providers call a request that will never do.
const FINAL: [&str; 8] = [
    "authentication_error",
    "billing_error",
    "context_length_exceeded",
    "insufficient_quota",
    "invalid_request_error",
    "not_found_error",
    "permission_error",
    "request_too_large",
];

pub(super) fn unreachable(text: &str) -> ProviderError {
    provider_error(format!("the provider cannot be reached: {text}"), true)
}

pub(super) fn of_body(fault: &BodyFault) -> ProviderError {
    provider_error(format!("the provider's reply: {fault}"), fault.is_retryable())
}

pub(super) fn no_json(error: &serde_json::Error) -> ProviderError {
    provider_error(format!("the provider's reply is no JSON: {error}"), true)
}

/// Returns why there is no reply in what came with success.
pub(super) fn of_reply(error: &NativeError, api: &Api) -> ProviderError {
    let message = cut(&api.without_key(&error.to_string()));
    match error {
        NativeError::Refused(_) => refused(message),
        NativeError::Failed { kind, .. } => of_kind(kind.as_deref().unwrap_or_default(), message),
        NativeError::Unreadable(_) | NativeError::Cut => provider_error(message, true),
    }
}

/// Returns why a call failed that came back with another status than success.
pub(super) fn of_status(status: StatusCode, headers: &HeaderMap, body: &str) -> ProviderError {
    let detail: Option<Value> = serde_json::from_str(body).ok();
    let said = detail.as_ref().and_then(NativeError::said);
    let message = match &said {
        Some(error) => format!("the provider answers {status}: {}", cut(&error.to_string())),
        None => format!("the provider answers {status}"),
    };
    let is_filtered = matches!(&said, Some(NativeError::Failed { kind: Some(kind), .. })
        if FILTERS.contains(&kind.as_str()));
    let error = if is_filtered && status.is_client_error() {
        refused(message)
    } else {
        of_number(status.as_u16(), message)
    };
    let detail = detail.filter(|_| body.len() <= DETAIL_BYTES);
    let retry_after = retry_after(headers).filter(|_| error.retryable);
    ProviderError { retry_after, detail, ..error }
}

/// Returns what a provider's word for a failure means; it may be the number of a status. Without
/// a word that says otherwise, the next attempt may go better.
fn of_kind(kind: &str, message: String) -> ProviderError {
    if let Ok(status) = kind.parse() {
        of_number(status, message)
    } else if FILTERS.contains(&kind) {
        refused(message)
    } else if TOO_OFTEN.contains(&kind) {
        rate_limited(message)
    } else {
        provider_error(message, !FINAL.contains(&kind))
    }
}

fn of_number(status: u16, message: String) -> ProviderError {
    match status {
        429 => rate_limited(message),
        408 | 500..=599 => provider_error(message, true),
        _ => provider_error(message, false),
    }
}

fn provider_error(message: String, retryable: bool) -> ProviderError {
    let code = ErrorCode::ProviderError;
    ProviderError { message, code, retryable, retry_after: None, detail: None }
}

fn rate_limited(message: String) -> ProviderError {
    ProviderError { code: ErrorCode::RateLimited, ..provider_error(message, true) }
}

fn refused(message: String) -> ProviderError {
    ProviderError { code: ErrorCode::Refused, ..provider_error(message, false) }
}

fn cut(text: &str) -> String {
    text.chars().take(MESSAGE_LENGTH).collect()
}

/// Returns how many seconds the provider asks to wait: a number, or a time, which is read by the
/// provider's own clock.
fn retry_after(headers: &HeaderMap) -> Option<u64> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    let wanted = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = wanted.parse() {
        return Some(seconds);
    }
    let until = httpdate::parse_http_date(wanted).ok()?;
    let now = httpdate::parse_http_date(text(DATE)?).ok()?;
    // A time that has passed asks for no wait.
    Some(until.duration_since(now).map_or(0, |wait| wait.as_secs()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper of tests")]

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_wait_is_seconds_or_a_time_by_the_providers_clock() {
        assert_eq!(retry_after(&headers(&[("retry-after", "7")])), Some(7));
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        let later = ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT");
        let earlier = ("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT");
        assert_eq!(retry_after(&headers(&[date, later])), Some(30));
        assert_eq!(retry_after(&headers(&[date, earlier])), Some(0));
        assert_eq!(retry_after(&headers(&[later])), None);
        assert_eq!(retry_after(&headers(&[("retry-after", "soon")])), None);
    }

    #[test]
    fn each_status_has_its_class() {
        let class = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            let error = of_status(status, &HeaderMap::new(), body);
            (error.code, error.retryable)
        };
        for status in [408, 500, 502, 503, 504, 529] {
            assert_eq!(class(status, ""), (ErrorCode::ProviderError, true), "{status}");
        }
        for status in [301, 307, 400, 401, 403, 404, 413, 422] {
            assert_eq!(class(status, "<html>"), (ErrorCode::ProviderError, false), "{status}");
        }
        assert_eq!(class(429, "{}"), (ErrorCode::RateLimited, true));
        let filtered = r#"{"error": {"message": "no", "code": "content_filter"}}"#;
        assert_eq!(class(400, filtered), (ErrorCode::Refused, false));
    }

    #[test]
    fn a_failure_that_came_with_success_goes_by_its_word() {
        let class = |kind| {
            let error = of_kind(kind, String::new());
            (error.code, error.retryable)
        };
        for kind in ["overloaded_error", "api_error", "503", ""] {
            assert_eq!(class(kind), (ErrorCode::ProviderError, true), "{kind}");
        }
        for kind in ["invalid_request_error", "402"] {
            assert_eq!(class(kind), (ErrorCode::ProviderError, false), "{kind}");
        }
        for kind in ["rate_limit_error", "429"] {
            assert_eq!(class(kind), (ErrorCode::RateLimited, true), "{kind}");
        }
    }
}
