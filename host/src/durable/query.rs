//! What of a stream is asked for.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;

use crate::error::ApiError;

/// How a reader waits for what comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Live {
    /// For the next answer.
    LongPoll,
    /// On one answer that goes on.
    Sse,
}

/// What of a stream is asked for. What else stands in a query is nobody's.
#[derive(Debug, Default)]
pub(super) struct StreamQuery {
    /// The place from which on; the beginning if nobody says.
    pub(super) offset: Option<String>,
    pub(super) live: Option<Live>,
    /// What the last answer said.
    pub(super) cursor: Option<u64>,
    /// Whose streams, for a program that speaks for an owner.
    pub(super) owner: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for StreamQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let pairs = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let Query(pairs) = pairs.map_err(|_| ApiError::malformed("the query cannot be read"))?;
        let mut query = Self::default();
        for (name, value) in pairs {
            match name.as_str() {
                "offset" if query.offset.is_some() => {
                    return Err(ApiError::malformed("`offset` is there twice"));
                }
                "offset" => query.offset = Some(value),
                "live" => query.live = Some(live(&value)?),
                // What is no cursor of ours is as good as none.
                "cursor" => query.cursor = value.parse().ok(),
                "owner" => query.owner = Some(value),
                _ => {}
            }
        }
        if query.live.is_some() && query.offset.is_none() {
            return Err(ApiError::malformed("`live` needs an `offset`"));
        }
        Ok(query)
    }
}

fn live(word: &str) -> Result<Live, ApiError> {
    match word {
        "long-poll" => Ok(Live::LongPoll),
        "sse" => Ok(Live::Sse),
        _ => Err(ApiError::malformed("`live` is `long-poll` or `sse`")),
    }
}
