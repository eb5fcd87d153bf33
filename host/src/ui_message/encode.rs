//! A turn as a UI message stream: events of agents in, chunks out, and nothing else.
//!
//! A turn is one message, also where it goes on after an answer of the client; a reply of the model is
//! a step of it. What the agent asks (an approval, an input) is a tool call of that name, so that a
//! front end shows and answers it as it does all others.
//!
//! A result of a call that did not begin in this stream is one that the client has given: it is not
//! told again.

use std::collections::BTreeMap;

use quixos_protocol::agent::{
    AgentEvent, ContinuationEvent, DoneEvent, EventStage, FinishReason, MetadataEvent,
    ResultStatus, TextEvent, ToolCallEvent, ToolResultEvent,
};
use serde_json::{Map, Value, json};

use super::chunk::{Chunk, FinishedBy, Ids};

/// The kind of a continuation that is a tool of the client's.
const TOOL: &str = "tool";
/// The kind of a continuation that is answered with yes or no.
const APPROVAL: &str = "approval";

/// An approval that the client has just given or denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Approval {
    /// The action.
    pub(crate) id: String,
    /// Whether it was given.
    pub(crate) approved: bool,
}

/// Turns the events of one stream into chunks.
pub(crate) struct Encoder {
    approvals: Vec<Approval>,
    /// The message whose step is open.
    step: Option<String>,
    /// How many blocks are open. A step does not end while there are any.
    open: usize,
    /// The tool calls that began here, by block.
    calls: BTreeMap<String, Call>,
}

struct Call {
    id: String,
    tool: String,
    /// Its arguments, as the model writes them.
    text: String,
}

impl Encoder {
    /// Returns an encoder for a stream that begins with answers of the client, if there are some.
    pub(crate) fn new(approvals: Vec<Approval>) -> Self {
        Self { approvals, step: None, open: 0, calls: BTreeMap::new() }
    }

    /// Returns what an event is in a UI message stream.
    pub(crate) fn encode(&mut self, event: AgentEvent) -> Vec<Chunk> {
        match event {
            AgentEvent::Metadata(event) => self.started(event),
            AgentEvent::Text(event) => self.text(event, false),
            AgentEvent::Thinking(event) => self.text(event, true),
            AgentEvent::ToolCall(event) => self.tool_call(event),
            AgentEvent::ToolResult(event) => self.tool_result(event).into_iter().collect(),
            AgentEvent::Continuation(event) => self.continuation(event),
            AgentEvent::Done(event) => self.done(&event),
            AgentEvent::Error(event) => {
                let mut chunks = vec![Chunk::Error { error_text: event.message }];
                self.end_step(&mut chunks);
                chunks.push(finish(FinishedBy::Error, Map::new()));
                chunks
            }
            AgentEvent::Aborted(_) => vec![Chunk::Abort { reason: "the turn was aborted" }],
        }
    }

    fn started(&mut self, event: MetadataEvent) -> Vec<Chunk> {
        let MetadataEvent { request_id, thread_id, .. } = event;
        let message_metadata = Ids { request_id: request_id.clone(), thread_id };
        let mut chunks = vec![Chunk::Start { message_id: request_id, message_metadata }];
        chunks.extend(self.approvals.drain(..).map(|approval| {
            let tool_call_id = approval.id;
            if approval.approved {
                let output = json!({ "approved": true });
                Chunk::ToolOutputAvailable { tool_call_id, output, provider_executed: true }
            } else {
                Chunk::ToolOutputDenied { tool_call_id }
            }
        }));
        chunks
    }

    /// Begins the step of a message, unless it is open or something else still is.
    fn step(&mut self, message: &str, chunks: &mut Vec<Chunk>) {
        let is_other = self.step.as_deref().is_none_or(|step| step != message);
        if is_other && self.open == 0 {
            self.end_step(chunks);
            self.step = Some(message.to_owned());
            chunks.push(Chunk::StartStep);
        }
    }

    fn end_step(&mut self, chunks: &mut Vec<Chunk>) {
        if self.step.take().is_some() {
            chunks.push(Chunk::FinishStep);
        }
    }

    fn text(&mut self, event: TextEvent, is_thought: bool) -> Vec<Chunk> {
        let id = event.block_id;
        let mut chunks = Vec::new();
        match event.stage {
            EventStage::Start => {
                self.step(&event.message_id, &mut chunks);
                self.open += 1;
                chunks.push(if is_thought {
                    Chunk::ReasoningStart { id }
                } else {
                    Chunk::TextStart { id }
                });
            }
            EventStage::Delta => {
                let delta = event.delta.filter(|delta| !delta.is_empty());
                chunks.extend(delta.map(|delta| match is_thought {
                    true => Chunk::ReasoningDelta { id, delta },
                    false => Chunk::TextDelta { id, delta },
                }));
            }
            EventStage::Stop => {
                self.open = self.open.saturating_sub(1);
                chunks.push(if is_thought {
                    Chunk::ReasoningEnd { id }
                } else {
                    Chunk::TextEnd { id }
                });
            }
        }
        chunks
    }

    fn tool_call(&mut self, event: ToolCallEvent) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        match event.stage {
            EventStage::Start => {
                self.step(&event.message_id, &mut chunks);
                self.open += 1;
                let id = event.tool_call_id.unwrap_or_else(|| event.block_id.clone());
                let tool = event.tool.unwrap_or_default();
                let (tool_call_id, tool_name) = (id.clone(), tool.clone());
                chunks.push(Chunk::ToolInputStart { tool_call_id, tool_name });
                self.calls.insert(event.block_id, Call { id, tool, text: String::new() });
            }
            EventStage::Delta => {
                let call = self.calls.get_mut(&event.block_id);
                let delta = event.delta.filter(|delta| !delta.is_empty());
                if let (Some(call), Some(input_text_delta)) = (call, delta) {
                    call.text.push_str(&input_text_delta);
                    let tool_call_id = call.id.clone();
                    chunks.push(Chunk::ToolInputDelta { tool_call_id, input_text_delta });
                }
            }
            EventStage::Stop => {
                self.open = self.open.saturating_sub(1);
                let call = self.calls.get_mut(&event.block_id);
                chunks.extend(call.map(|call| whole(call, event.args)));
            }
        }
        chunks
    }

    fn tool_result(&self, event: ToolResultEvent) -> Option<Chunk> {
        let tool_call_id = event.tool_call_id.filter(|_| event.stage == EventStage::Stop)?;
        if self.calls.values().all(|call| call.id != tool_call_id) {
            return None;
        }
        let provider_executed = true;
        Some(match event.status {
            Some(ResultStatus::Error) => {
                let error_text = event.summary.unwrap_or_else(|| "the tool failed".to_owned());
                Chunk::ToolOutputError { tool_call_id, error_text, provider_executed }
            }
            Some(ResultStatus::Success) | None => {
                let output = event.summary.into();
                Chunk::ToolOutputAvailable { tool_call_id, output, provider_executed }
            }
        })
    }

    /// Shows what the turn waits for, unless a reply of the model has shown it.
    fn continuation(&mut self, event: ContinuationEvent) -> Vec<Chunk> {
        let ContinuationEvent { action_id, kind, mut payload, .. } = event;
        let is_tool = kind == TOOL;
        if is_tool && self.calls.values().any(|call| call.id == action_id) {
            return Vec::new();
        }
        let mut chunks = Vec::new();
        // It belongs to the step that is open. Only where there is none, it is one of its own.
        if self.step.is_none() {
            self.step(&action_id, &mut chunks);
        }
        let tool_call_id = action_id.clone();
        if is_tool {
            let mut call = payload.remove("payload").unwrap_or_default();
            let tool_name = call["tool"].as_str().unwrap_or(TOOL).to_owned();
            let input = call.get_mut("args").map(Value::take).unwrap_or_else(|| json!({}));
            chunks.push(Chunk::ToolInputAvailable {
                tool_call_id,
                tool_name,
                input,
                dynamic: false,
            });
            return chunks;
        }
        let is_approval = kind == APPROVAL;
        let input = Value::Object(payload);
        chunks.push(Chunk::ToolInputAvailable {
            tool_call_id,
            tool_name: kind,
            input,
            dynamic: true,
        });
        if is_approval {
            let (approval_id, tool_call_id) = (action_id.clone(), action_id);
            chunks.push(Chunk::ToolApprovalRequest { approval_id, tool_call_id });
        }
        chunks
    }

    fn done(&mut self, event: &DoneEvent) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        self.end_step(&mut chunks);
        let by = match event.finish_reason {
            FinishReason::Stop => FinishedBy::Stop,
            FinishReason::Length => FinishedBy::Length,
            FinishReason::ActionRequired => FinishedBy::ToolCalls,
            FinishReason::Error => FinishedBy::Error,
        };
        let usage = event.usage.map(|usage| {
            let counts = json!({
                "promptTokens": usage.prompt_tokens,
                "completionTokens": usage.completion_tokens,
            });
            ("usage".to_owned(), counts)
        });
        chunks.push(finish(by, usage.into_iter().collect()));
        chunks
    }
}

/// Returns the whole of a tool call, or why it is none.
fn whole(call: &mut Call, args: Option<Map<String, Value>>) -> Chunk {
    let (tool_call_id, tool_name) = (call.id.clone(), call.tool.clone());
    match args {
        Some(args) => {
            let input = Value::Object(args);
            Chunk::ToolInputAvailable { tool_call_id, tool_name, input, dynamic: false }
        }
        None => Chunk::ToolInputError {
            tool_call_id,
            tool_name,
            input: std::mem::take(&mut call.text).into(),
            error_text: "the model wrote no JSON object".to_owned(),
        },
    }
}

fn finish(finish_reason: FinishedBy, message_metadata: Map<String, Value>) -> Chunk {
    Chunk::Finish { finish_reason, message_metadata }
}

#[cfg(test)]
mod tests;
