//! Workers: who decides. A worker is asked by a [`DecisionRequest`] and answers what is to be done.
//!
//! It may be a Rust value in this process, or an endpoint that speaks HTTP, in any language.

pub mod http;
mod local;

use async_trait::async_trait;
use quixos_protocol::DecisionRequest;
use serde_json::Value;

use crate::live::Sink;

pub use local::Local;

/// Who decides for the agents of one configuration.
#[async_trait]
pub trait Worker: Send + Sync {
    /// Answers a decision, with the JSON of a `DecisionResponse`, or null for an empty one.
    ///
    /// What a streaming `llm.execute` produces on the way goes to `sink`. Each delivery that shows
    /// life calls [`Sink::alive`], so that its deadline moves on. To be asked the same twice, or to
    /// be dropped half-way, must do no harm: what matters is told under the call's id and attempt.
    ///
    /// # Errors
    ///
    /// Why there is no answer, and whether to ask again may help.
    async fn decide(&self, request: Delivery<'_>, sink: &Sink) -> Result<Value, DeliveryError>;
}

/// A decision on its way to a worker.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'d> {
    /// What is asked.
    pub request: &'d DecisionRequest,
    /// The same as the JSON that is sent and signed.
    pub body: &'d str,
    /// The trace that the delivery belongs to, as a `traceparent` header.
    pub traceparent: &'d str,
}

/// Why a delivery brought no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DeliveryError {
    /// What went wrong, for the log and the turn. Never a secret, never a prompt.
    pub message: String,
    /// Whether the same delivery may succeed later.
    pub retryable: bool,
}
