//! The worker of the demo: it does what the engine proposes, and knows the weather.

use async_trait::async_trait;
use quixos_engine::live::Sink;
use quixos_engine::provider::scripted::Scripted;
use quixos_engine::worker::{Delivery, DeliveryError, Worker};
use quixos_protocol::trigger::ToolExecute;
use quixos_protocol::{Action, DecisionResponse, Trigger, action::Failure, action::ToolResult};
use serde_json::Value;

use super::EchoWorker;

/// The worker of the demo.
#[derive(Clone, Copy, Debug)]
pub struct DemoWorker;

#[async_trait]
impl Worker for DemoWorker {
    async fn decide(&self, delivery: Delivery<'_>, sink: &Sink) -> Result<Value, DeliveryError> {
        let Trigger::ToolExecute(call) = &delivery.request.trigger else {
            return EchoWorker.decide(delivery, sink).await;
        };
        let answer = DecisionResponse { actions: vec![run(call)], ..DecisionResponse::default() };
        serde_json::to_value(&answer)
            .map_err(|error| DeliveryError { message: error.to_string(), retryable: false })
    }
}

/// Runs a tool. What it says depends on the call alone, so that a redelivery says the same.
fn run(call: &ToolExecute) -> Action {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    match (call.name.as_str(), arguments.get("city").and_then(Value::as_str)) {
        (Scripted::WEATHER, Some(city)) => {
            let result = format!("12 degrees and light rain in {city}").into();
            Action::ToolResult(ToolResult { id: None, attempt: None, result })
        }
        (name, _) => {
            let error = format!("there is no tool `{name}` that takes these arguments");
            Action::ToolError(Failure { error, ..Failure::default() })
        }
    }
}
