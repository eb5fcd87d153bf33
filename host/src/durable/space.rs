//! Whose streams somebody may use, and under which key a stream is kept.
//!
//! A client has those of its owner; a program those of its tenant, and with `owner` in its query
//! those of an owner of the tenant. Who has no credential has none, or, if the config says so, those
//! that all such share. A space is in the key of each of its streams, so nobody can name another's.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use quixos_runtime::{Caller, Session};

use super::PREFIX;
use super::failure::Failure;
use super::query::StreamQuery;
use crate::error::ApiError;
use crate::state::State;
use crate::tokens::Bearer;

/// Bytes of a stream's path.
const LONGEST: usize = 512;
/// The first word of paths that the protocol keeps for itself.
const RESERVED: &str = "__ds";
/// The first word of paths that lead to objects of the runtime.
pub(super) const OBJECTS: &str = "objects";

/// Whose streams.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// Those of an owner.
    Owner { tenant: String, owner: String },
    /// Those of a tenant.
    Tenant(String),
    /// Those of whoever has no credential.
    Open,
}

/// What is asked for, and by whom. Who may not ask is told so before anything else is looked at.
pub(super) struct Asked {
    /// Whose streams it may be about.
    pub(super) space: Space,
    /// The client who asks, if it is one.
    pub(super) client: Option<Bearer>,
    pub(super) query: StreamQuery,
}

impl FromRequestParts<Arc<State>> for Asked {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<State>) -> Result<Self, Failure> {
        let headers = &parts.headers;
        if state.durable.config.open && !headers.contains_key(header::AUTHORIZATION) {
            let query = StreamQuery::from_request_parts(parts, state).await?;
            return Ok(Self { space: Space::Open, client: None, query });
        }
        if let Ok(tenant) = state.machine(headers) {
            let query = StreamQuery::from_request_parts(parts, state).await?;
            let space = match query.owner.clone() {
                Some(owner) => Space::Owner { tenant, owner },
                None => Space::Tenant(tenant),
            };
            return Ok(Self { space, client: None, query });
        }
        let bearer = state.client(headers)?;
        let query = StreamQuery::from_request_parts(parts, state).await?;
        let (tenant, owner) = (bearer.tenant.clone(), bearer.identity.id.clone());
        Ok(Self { space: Space::Owner { tenant, owner }, client: Some(bearer), query })
    }
}

impl Space {
    /// Returns the key of a stream of this space.
    pub(super) fn key(&self, path: &str) -> Result<String, ApiError> {
        match path.split('/').next().unwrap_or_default() {
            OBJECTS => {
                let error = "streams of objects are read, and nothing else";
                return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "read-only", error));
            }
            RESERVED => {
                let error = format!("paths that begin with `{RESERVED}` are no streams");
                return Err(ApiError::new(StatusCode::NOT_FOUND, "reserved", error));
            }
            _ => {}
        }
        if path.is_empty() || path.len() > LONGEST || path.chars().any(char::is_control) {
            let error = format!("a path has from 1 to {LONGEST} bytes, and no control characters");
            return Err(ApiError::malformed(error));
        }
        let words = match self {
            Self::Owner { tenant, owner } => vec![tenant.as_str(), owner, path],
            Self::Tenant(tenant) => vec![tenant, path],
            Self::Open => vec![path],
        };
        // As JSON, since any of them may have any letter.
        serde_json::to_string(&words).map_err(|error| ApiError::malformed(error.to_string()))
    }

    /// Returns the key of the stream that a path of a URL names.
    pub(super) fn key_of_url(&self, url: &str) -> Result<String, ApiError> {
        let path = url.strip_prefix(PREFIX);
        let path = path.ok_or_else(|| ApiError::malformed("a fork is of `/v1/stream/…`"))?;
        self.key(&decoded(path)?)
    }

    /// Returns who does what is asked for, by a name for the history.
    pub(super) fn caller(&self, state: &State) -> Session {
        let actor = match self {
            Self::Owner { tenant, owner } => format!("streams:{tenant}/{owner}"),
            Self::Tenant(tenant) => format!("streams:{tenant}"),
            Self::Open => "streams".to_owned(),
        };
        state.engine.runtime().session(Caller::operator(actor))
    }

    /// Tells whether what is answered is somebody's own.
    pub(super) fn is_private(&self) -> bool {
        *self != Self::Open
    }
}

/// Takes the percent signs out of a path.
fn decoded(path: &str) -> Result<String, ApiError> {
    let wrong = || ApiError::malformed("the path of the fork's source cannot be read");
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        if *byte == b'%' {
            let (digits, behind) = rest.split_at_checked(2).ok_or_else(wrong)?;
            let is_number = digits.iter().all(u8::is_ascii_hexdigit);
            let digits = std::str::from_utf8(digits).ok().filter(|_| is_number);
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            bytes.push(byte.ok_or_else(wrong)?);
            rest = behind;
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_spaces_share_a_key() {
        let owner = |owner: &str| Space::Owner { tenant: "t".to_owned(), owner: owner.to_owned() };
        let key = |space: &Space, path: &str| space.key(path).unwrap();
        let keys = [
            key(&owner("a"), "b/c"),
            key(&owner("a/b"), "c"),
            key(&owner("a\",\"b"), "c"),
            key(&Space::Tenant("t".to_owned()), "a/b/c"),
            key(&Space::Open, "t/a/b/c"),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[at + 1..].contains(key), "{key}");
        }
    }

    #[test]
    fn a_source_is_named_by_the_path_of_its_url() {
        let space = Space::Open;
        assert_eq!(space.key_of_url("/v1/stream/a%20b/c").unwrap(), space.key("a b/c").unwrap());
        for wrong in ["/v1/stream/", "/a", "/v1/stream/%2", "/v1/stream/%zz", "/v1/stream/%ff"] {
            assert!(space.key_of_url(wrong).is_err(), "{wrong}");
        }
        assert!(space.key("__ds/subscriptions/a").is_err());
    }
}
