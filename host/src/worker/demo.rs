//! The worker of the demo: it does what the engine proposes, knows the weather, signs nothing before
//! the user has said yes, and fails if it is asked to.

use async_trait::async_trait;
use quixos_engine::live::Sink;
use quixos_engine::provider::scripted::Scripted;
use quixos_engine::worker::{Delivery, DeliveryError, Worker};
use quixos_protocol::action::{Done, Failure, Interrupt, ToolResult};
use quixos_protocol::trigger::{ClientMessages, InterruptResumed, ToolExecute};
use quixos_protocol::{
    Action, DecisionRequest, DecisionResponse, DraftMessage, Message, Role, Trigger,
};
use serde_json::{Value, json};

use super::EchoWorker;

/// What a user says who wants something signed.
const SIGN: &str = "sign";
/// What a user says who wants to see a turn fail.
const FAIL: &str = "fail";

/// The worker of the demo.
#[derive(Clone, Copy, Debug)]
pub struct DemoWorker;

#[async_trait]
impl Worker for DemoWorker {
    async fn decide(&self, delivery: Delivery<'_>, sink: &Sink) -> Result<Value, DeliveryError> {
        let request = delivery.request;
        let answer = match &request.trigger {
            Trigger::ToolExecute(call) => {
                DecisionResponse { actions: vec![run(call)], ..DecisionResponse::default() }
            }
            Trigger::ClientMessages(input) if says(input, SIGN) => ask(request),
            Trigger::ClientMessages(input) if says(input, FAIL) => {
                let message = "the demo fails when it is asked to".to_owned();
                return Err(DeliveryError { message, retryable: false });
            }
            Trigger::InterruptResumed(answer) => sign(request, answer),
            Trigger::SessionStart
            | Trigger::ClientMessages(_)
            | Trigger::ClientAction(_)
            | Trigger::ToolFinished(_)
            | Trigger::LlmExecute(_)
            | Trigger::LlmFinished(_)
            | Trigger::SubAgentFinished(_) => return EchoWorker.decide(delivery, sink).await,
        };
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

fn says(input: &ClientMessages, word: &str) -> bool {
    let last = input.messages.last().filter(|last| last.role == Role::User);
    let text = last.and_then(|last| last.content.as_ref()).map(|content| content.text());
    text.is_some_and(|text| text.to_lowercase().contains(word))
}

/// Records what the user said, and asks.
fn ask(request: &DecisionRequest) -> DecisionResponse {
    let interrupt = Interrupt {
        interrupt_id: None,
        reason: "May I sign it in your name?".to_owned(),
        payload: Some(json!({ "kind": "approval" })),
    };
    DecisionResponse {
        messages: request.proposed.messages.clone(),
        actions: vec![Action::Interrupt(interrupt)],
        ..DecisionResponse::default()
    }
}

/// Does what the user answered, and says so.
fn sign(request: &DecisionRequest, answer: &InterruptResumed) -> DecisionResponse {
    let approved = match &answer.payload {
        Some(Value::Object(answer)) => answer.get("approved").and_then(Value::as_bool),
        Some(Value::Bool(approved)) => Some(*approved),
        Some(Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_)) | None => None,
    };
    let said = if approved == Some(true) { "It is signed." } else { "Then it stays unsigned." };
    let recorded = request.messages.iter().cloned().map(Message::into_draft);
    let messages = recorded.chain([DraftMessage::assistant(said)]).collect();
    DecisionResponse {
        messages: Some(messages),
        actions: vec![Action::Done(Done::default())],
        ..DecisionResponse::default()
    }
}
