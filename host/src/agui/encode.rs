//! A turn as AG-UI tells it: events of agents in, events of AG-UI out, and nothing else.
//!
//! Ids of messages are unique in a conversation of AG-UI, where a message has one text: the first text
//! of a message goes by the message's id, so that its tool calls are attached to it, any other by its
//! block's. Thoughts and results are messages of their own, and go by their blocks'.
//!
//! A result of a call that did not begin in this run is one that the client has given: it is not
//! told again.

use std::collections::{BTreeMap, BTreeSet};

use quixos_protocol::agent::{
    AgentEvent, ContinuationEvent, DoneEvent, ErrorEvent, EventStage, FinishReason, MetadataEvent,
    ResultStatus, TextEvent, ToolCallEvent, ToolResultEvent,
};
use serde_json::{Map, Value, json};

use super::event::{Event, Interrupt, Outcome, Request, Usage};

/// The version of AG-UI that is spoken.
const PROTOCOL_VERSION: &str = "1.0";
/// The kind of a continuation that is a tool of the client's.
const TOOL: &str = "tool";
/// The event that says by which ids other routes know the run.
const REQUEST: &str = "quixos.request";

/// Turns the events of one stream into those of one run.
pub(crate) struct Encoder {
    thread_id: String,
    run_id: String,
    /// The messages whose id a text has.
    named: BTreeSet<String>,
    /// The texts that are open, by block, and the ids that they go by.
    texts: BTreeMap<String, String>,
    /// The tool calls that began here, by block.
    calls: BTreeMap<String, String>,
    pending: Vec<String>,
    interrupts: Vec<Interrupt>,
}

impl Encoder {
    /// Returns an encoder for a run, by the ids that the client has for it.
    pub(crate) fn new(thread_id: impl Into<String>, run_id: impl Into<String>) -> Self {
        Self {
            thread_id: thread_id.into(),
            run_id: run_id.into(),
            named: BTreeSet::new(),
            texts: BTreeMap::new(),
            calls: BTreeMap::new(),
            pending: Vec::new(),
            interrupts: Vec::new(),
        }
    }

    /// Returns what an event is in AG-UI.
    pub(crate) fn encode(&mut self, event: AgentEvent) -> Vec<Event> {
        match event {
            AgentEvent::Metadata(event) => self.started(event),
            AgentEvent::Text(event) => self.text(event).into_iter().collect(),
            AgentEvent::Thinking(event) => thoughts(event),
            AgentEvent::ToolCall(event) => self.tool_call(event).into_iter().collect(),
            AgentEvent::ToolResult(event) => self.tool_result(event).into_iter().collect(),
            AgentEvent::Continuation(event) => self.continuation(event),
            AgentEvent::Done(event) => vec![self.done(&event)],
            AgentEvent::Error(event) => vec![failed(event)],
            AgentEvent::Aborted(_) => vec![self.finished(Outcome::Cancelled, Vec::new())],
        }
    }

    fn started(&self, event: MetadataEvent) -> Vec<Event> {
        let MetadataEvent { request_id, thread_id, .. } = event;
        vec![
            Event::RunStarted {
                thread_id: self.thread_id.clone(),
                run_id: self.run_id.clone(),
                protocol_version: PROTOCOL_VERSION,
            },
            Event::Custom { name: REQUEST, value: Request { request_id, thread_id } },
        ]
    }

    fn text(&mut self, event: TextEvent) -> Option<Event> {
        match event.stage {
            EventStage::Start => {
                let is_first = self.named.insert(event.message_id.clone());
                let message_id = if is_first { event.message_id } else { event.block_id.clone() };
                self.texts.insert(event.block_id, message_id.clone());
                Some(Event::TextMessageStart { message_id, role: "assistant" })
            }
            EventStage::Delta => {
                let message_id = self.texts.get(&event.block_id)?.clone();
                Some(Event::TextMessageContent { message_id, delta: said(event.delta)? })
            }
            EventStage::Stop => {
                let message_id = self.texts.remove(&event.block_id)?;
                Some(Event::TextMessageEnd { message_id })
            }
        }
    }

    fn tool_call(&mut self, event: ToolCallEvent) -> Option<Event> {
        match event.stage {
            EventStage::Start => {
                let tool_call_id = event.tool_call_id?;
                self.calls.insert(event.block_id, tool_call_id.clone());
                Some(Event::ToolCallStart {
                    tool_call_id,
                    tool_call_name: event.tool.unwrap_or_default(),
                    parent_message_id: event.message_id,
                })
            }
            EventStage::Delta => {
                let tool_call_id = self.calls.get(&event.block_id)?.clone();
                Some(Event::ToolCallArgs { tool_call_id, delta: said(event.delta)? })
            }
            EventStage::Stop => {
                let tool_call_id = self.calls.get(&event.block_id)?.clone();
                Some(Event::ToolCallEnd { tool_call_id })
            }
        }
    }

    fn tool_result(&self, event: ToolResultEvent) -> Option<Event> {
        let tool_call_id = event.tool_call_id.filter(|_| event.stage == EventStage::Stop)?;
        if self.calls.values().all(|call| *call != tool_call_id) {
            return None;
        }
        let content = event.summary.unwrap_or_else(|| match event.status {
            Some(ResultStatus::Error) => "failed".to_owned(),
            Some(ResultStatus::Success) | None => "done".to_owned(),
        });
        Some(Event::ToolCallResult {
            message_id: event.block_id,
            tool_call_id,
            content,
            role: "tool",
        })
    }

    /// Notes what the run waits for. A call that no message of the model shows is shown here.
    fn continuation(&mut self, event: ContinuationEvent) -> Vec<Event> {
        let ContinuationEvent { action_id, kind, payload, .. } = event;
        if kind != TOOL {
            self.interrupts.push(interrupt(action_id, &kind, payload));
            return Vec::new();
        }
        self.pending.push(action_id.clone());
        if self.calls.values().any(|call| *call == action_id) {
            return Vec::new();
        }
        let call = payload.get("payload").unwrap_or(&Value::Null);
        let tool_call_name = call["tool"].as_str().unwrap_or(TOOL).to_owned();
        let delta = call.get("args").unwrap_or(&json!({})).to_string();
        self.calls.insert(action_id.clone(), action_id.clone());
        let start = Event::ToolCallStart {
            tool_call_id: action_id.clone(),
            tool_call_name,
            parent_message_id: action_id.clone(),
        };
        let args = Event::ToolCallArgs { tool_call_id: action_id.clone(), delta };
        vec![start, args, Event::ToolCallEnd { tool_call_id: action_id }]
    }

    fn done(&mut self, event: &DoneEvent) -> Event {
        let usage = event.usage.map(|usage| Usage {
            input_tokens: usage.prompt_tokens,
            output_tokens: usage.completion_tokens,
        });
        let interrupts = std::mem::take(&mut self.interrupts);
        let outcome = match event.finish_reason {
            FinishReason::ActionRequired if !interrupts.is_empty() => {
                Outcome::Interrupt { interrupts }
            }
            FinishReason::ActionRequired
            | FinishReason::Stop
            | FinishReason::Length
            | FinishReason::Error => {
                Outcome::Success { pending_tool_call_ids: std::mem::take(&mut self.pending) }
            }
        };
        self.finished(outcome, usage.into_iter().collect())
    }

    fn finished(&self, outcome: Outcome, usage: Vec<Usage>) -> Event {
        let (thread_id, run_id) = (self.thread_id.clone(), self.run_id.clone());
        Event::RunFinished { thread_id, run_id, outcome, usage }
    }
}

/// Returns text, if there is some: an empty delta says nothing.
fn said(delta: Option<String>) -> Option<String> {
    delta.filter(|delta| !delta.is_empty())
}

fn thoughts(event: TextEvent) -> Vec<Event> {
    let message_id = event.block_id;
    match event.stage {
        EventStage::Start => vec![
            Event::ReasoningStart { message_id: message_id.clone() },
            Event::ReasoningMessageStart { message_id, role: "reasoning" },
        ],
        EventStage::Delta => {
            let delta = said(event.delta);
            let content = delta.map(|delta| Event::ReasoningMessageContent { message_id, delta });
            content.into_iter().collect()
        }
        EventStage::Stop => vec![
            Event::ReasoningMessageEnd { message_id: message_id.clone() },
            Event::ReasoningEnd { message_id },
        ],
    }
}

fn interrupt(id: String, kind: &str, mut payload: Map<String, Value>) -> Interrupt {
    let reason = match kind {
        "approval" => "confirmation".to_owned(),
        "input" => "input_required".to_owned(),
        other => format!("quixos:{other}"),
    };
    let message = payload.get("reason").and_then(Value::as_str).filter(|it| !it.is_empty());
    let message = message.map(str::to_owned);
    let schema = payload.get("payload").and_then(|payload| payload.get("responseSchema"));
    let response_schema = schema.and_then(Value::as_object).cloned();
    payload.insert("kind".to_owned(), kind.into());
    Interrupt { id, reason, message, response_schema, metadata: payload }
}

/// Returns how a failure is told: also one from before there is a run.
pub(super) fn failed(event: ErrorEvent) -> Event {
    let code = event.code.and_then(|code| serde_json::to_value(code).ok());
    let code = code.and_then(|code| code.as_str().map(str::to_owned));
    Event::RunError { message: event.message, code }
}

#[cfg(test)]
mod tests;
