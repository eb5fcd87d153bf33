//! The body of an answer, as it comes.

use std::time::Duration;

use tokio::time::timeout;

use super::{Limits, describe};
use crate::live::Sink;

/// A body that is being read. Each piece of it shows life.
pub(crate) struct Body<'s> {
    response: reqwest::Response,
    sink: &'s Sink,
    idle: Duration,
    limit: usize,
    taken: usize,
}

/// Why a body did not come whole.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyFault {
    /// The connection broke, or what came cannot be decompressed.
    #[error("the answer broke off: {0}")]
    Broken(String),
    /// Nothing came for too long.
    #[error("nothing came for {} s", .0.as_secs_f64())]
    Silent(Duration),
    /// It is larger than what is taken.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
}

impl BodyFault {
    /// Says whether to ask again may help. What was too large once will be again.
    pub(crate) fn is_retryable(&self) -> bool {
        match self {
            Self::Broken(_) | Self::Silent(_) => true,
            Self::TooLarge(_) => false,
        }
    }
}

impl<'s> Body<'s> {
    /// Returns the body of an answer, of which at most `limit` bytes are taken.
    pub(crate) fn new(
        response: reqwest::Response,
        limit: usize,
        limits: Limits,
        sink: &'s Sink,
    ) -> Self {
        Self { response, sink, idle: limits.idle, limit, taken: 0 }
    }

    /// Returns the next piece, or none at the end.
    pub(crate) async fn piece(&mut self) -> Result<Option<bytes::Bytes>, BodyFault> {
        let piece = timeout(self.idle, self.response.chunk()).await;
        let piece = piece.map_err(|_| BodyFault::Silent(self.idle))?;
        let Some(piece) = piece.map_err(|error| BodyFault::Broken(describe(error)))? else {
            return Ok(None);
        };
        self.sink.alive();
        self.taken = self.taken.saturating_add(piece.len());
        if self.taken > self.limit {
            return Err(BodyFault::TooLarge(self.limit));
        }
        Ok(Some(piece))
    }

    /// Returns all of it.
    pub(crate) async fn whole(mut self) -> Result<Vec<u8>, BodyFault> {
        let mut whole = Vec::new();
        while let Some(piece) = self.piece().await? {
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }
}
