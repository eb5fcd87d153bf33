//! Who asks, as routes are handed it: known before anything else of a request is looked at, so that a
//! stranger learns nothing of what is wrong with it.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;
use crate::keys::KeyHash;
use crate::limits::TooMuch;
use crate::state::State;
use crate::tokens::Bearer;

/// A client: the bearer of a token, who has not asked too often.
pub(crate) struct Client(pub(crate) Bearer);

/// A program: the tenant that its key is of.
pub(crate) struct Machine(pub(crate) String);

/// Why somebody is not let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotLetIn {
    /// Nobody, or nobody that is known.
    #[error("this needs `Authorization: Bearer …` with a valid credential")]
    Unknown,
    /// Somebody who asks too often.
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
}

impl FromRequestParts<Arc<State>> for Client {
    type Rejection = NotLetIn;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<State>) -> Result<Self, NotLetIn> {
        state.client(&parts.headers).map(Self)
    }
}

impl FromRequestParts<Arc<State>> for Machine {
    type Rejection = NotLetIn;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<State>) -> Result<Self, NotLetIn> {
        state.machine(&parts.headers).map(Self)
    }
}

impl IntoResponse for NotLetIn {
    fn into_response(self) -> Response {
        ApiError::from(self).into_response()
    }
}

impl State {
    /// Returns the client that a token is of, and counts that it asks.
    pub(crate) fn client(&self, headers: &HeaderMap) -> Result<Bearer, NotLetIn> {
        let token = credential(headers).ok_or(NotLetIn::Unknown)?;
        let bearer = self.tokens.verify(token).map_err(|_| NotLetIn::Unknown)?;
        if !self.tenants.iter().any(|(tenant, _)| *tenant == bearer.tenant) {
            return Err(NotLetIn::Unknown);
        }
        self.limiter.admit(&bearer, self.now())?;
        Ok(bearer)
    }

    /// Returns the tenant that a key is of. Each hash is looked at, so that the time tells nothing.
    pub(crate) fn machine(&self, headers: &HeaderMap) -> Result<String, NotLetIn> {
        let key = KeyHash::of(credential(headers).ok_or(NotLetIn::Unknown)?);
        let hashes = self
            .tenants
            .iter()
            .flat_map(|(tenant, hashes)| hashes.iter().map(move |hash| (tenant, hash)));
        let found = hashes
            .fold(None, |found, (tenant, hash)| if hash.is(&key) { Some(tenant) } else { found });
        found.cloned().ok_or(NotLetIn::Unknown)
    }
}

/// Returns the bearer's credential of a request.
pub(crate) fn credential(headers: &HeaderMap) -> Option<&str> {
    let (scheme, credential) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    Some(credential.trim()).filter(|it| scheme.eq_ignore_ascii_case("bearer") && !it.is_empty())
}
