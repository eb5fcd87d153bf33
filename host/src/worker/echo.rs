//! A worker that does what the engine proposes, and runs no tools.

use async_trait::async_trait;
use quixos_engine::live::Sink;
use quixos_engine::worker::{Delivery, DeliveryError, Worker};
use serde_json::Value;

/// A worker that answers each decision with what the engine proposes.
#[derive(Clone, Copy, Debug)]
pub struct EchoWorker;

#[async_trait]
impl Worker for EchoWorker {
    async fn decide(&self, delivery: Delivery<'_>, _sink: &Sink) -> Result<Value, DeliveryError> {
        serde_json::to_value(&delivery.request.proposed)
            .map_err(|error| DeliveryError { message: error.to_string(), retryable: false })
    }
}
