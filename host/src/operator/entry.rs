//! Who is let in, under which name, and what browsers are told of every answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use super::Inside;
use crate::credential::{NotLetIn, credential};
use crate::error::ApiError;
use crate::keys::KeyHash;

/// The header with the operator's name.
const OPERATOR: &str = "x-operator";
/// Who it is when nobody says.
const NOBODY: &str = "operator";
/// Bytes of a name.
const LONGEST: usize = 128;

/// The name that the history gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorName(String);

impl OperatorName {
    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn of(headers: &HeaderMap) -> Result<Self, ApiError> {
        let Some(value) = headers.get(OPERATOR) else { return Ok(Self(NOBODY.to_owned())) };
        let name = std::str::from_utf8(value.as_bytes()).unwrap_or_default().trim();
        // The host and its engine write their own entries: `host`, `engine:…`.
        let is_taken = name == "host" || name.contains(':');
        if name.is_empty() || name.len() > LONGEST || is_taken || name.contains(char::is_control) {
            let error = format!(
                "`X-Operator` is a name of at most {LONGEST} bytes, without `:`, and not `host`"
            );
            return Err(ApiError::malformed(error));
        }
        Ok(Self(name.to_owned()))
    }
}

/// Lets in whoever has the token.
pub(super) async fn let_in(
    State(inside): State<Arc<Inside>>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let token = credential(request.headers()).ok_or(NotLetIn::Unknown)?;
    if !KeyHash::of(token).is(&inside.token) {
        return Err(NotLetIn::Unknown.into());
    }
    let name = OperatorName::of(request.headers())?;
    request.extensions_mut().insert(name);
    Ok(next.run(request).await)
}

/// Tells browsers to keep nothing and to let no other page near, where a route says nothing else.
pub(super) async fn close_to_browsers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
