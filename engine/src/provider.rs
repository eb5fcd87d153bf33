//! Providers: where the engine's own model calls go.

pub mod anthropic;
mod api;
mod call;
mod failure;
pub mod openai;
pub mod scripted;

pub use api::{Api, ApiError};

use async_trait::async_trait;
use quixos_protocol::{ErrorCode, LlmRequest, LlmResponse};
use serde_json::Value;

use crate::live::Sink;

/// A place where models run.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Makes one call of a model. If `stream`, what the model says goes to `sink` as it comes; each
    /// byte shows life ([`Sink::alive`]).
    ///
    /// # Errors
    ///
    /// Why there is no reply, and whether another attempt may bring one.
    async fn complete(
        &self,
        request: &LlmRequest,
        stream: bool,
        sink: &Sink,
    ) -> Result<LlmResponse, ProviderError>;
}

/// Why a model call failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What went wrong, as the worker and the log are told. Never a key, never a prompt.
    pub message: String,
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// Whether another attempt may succeed.
    pub retryable: bool,
    /// Seconds that the provider asked to wait.
    pub retry_after: Option<u64>,
    /// What the provider said, if it is JSON and small.
    pub detail: Option<Value>,
}
