//! Messages: replies, whole and in pieces.

mod media;
pub(super) mod request;
mod thinking;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{NativeError, usage};
use crate::llm::{LlmResponse, StreamDelta, ToolCallDelta};
use crate::message::ToolCall;

/// The reason of a reply in which the model refuses.
const REFUSAL: &str = "refusal";

#[derive(Deserialize)]
struct Message {
    model: Option<String>,
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Value>,
}

/// A block of a reply, and what it grows by.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        #[serde(default)]
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    /// Thoughts, and whatever else is no part of a conversation.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockDelta {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    #[serde(other)]
    Other,
}

/// Reads a whole reply.
pub(super) fn response(body: &Value) -> Result<LlmResponse, NativeError> {
    let message = Message::deserialize(body).map_err(|error| NativeError::unreadable(&error))?;
    let blocks = message.content.into_iter().map(|block| Growing { block, input: String::new() });
    let mut pieces = Pieces {
        model: message.model.unwrap_or_default(),
        blocks: (0..).zip(blocks).collect(),
        stop_reason: message.stop_reason,
        is_whole: true,
        ..Pieces::default()
    };
    usage::merge(&mut pieces.usage, message.usage.as_ref());
    pieces.finish()
}

/// Returns the neutral word for why a reply ended.
fn neutral_reason(reason: &str) -> &str {
    match reason {
        "end_turn" | "stop_sequence" => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" | "model_context_window_exceeded" => "length",
        other => other,
    }
}

/// What has come of a reply.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    model: String,
    /// The blocks by index, which is the order that they have in the reply.
    blocks: BTreeMap<u64, Growing>,
    stop_reason: Option<String>,
    usage: Map<String, Value>,
    error: Option<NativeError>,
    is_whole: bool,
}

#[derive(Debug)]
struct Growing {
    block: Block,
    /// The input of a tool call, as text that grows.
    input: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Start,
    },
    ContentBlockStart {
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u64,
        delta: BlockDelta,
    },
    MessageDelta {
        delta: Ending,
        usage: Option<Value>,
    },
    MessageStop,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Start {
    model: Option<String>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Ending {
    stop_reason: Option<String>,
}

impl Pieces {
    pub(super) fn event(&mut self, event: &Value) -> Option<StreamDelta> {
        if let Some(error) = NativeError::said(event) {
            self.error.get_or_insert(error);
            return None;
        }
        match Event::deserialize(event).ok()? {
            Event::MessageStart { message } => {
                self.model = message.model.unwrap_or_default();
                usage::merge(&mut self.usage, message.usage.as_ref());
                None
            }
            Event::ContentBlockStart { index, content_block } => {
                let delta = opened(&content_block);
                self.blocks.insert(index, Growing { block: content_block, input: String::new() });
                delta
            }
            Event::ContentBlockDelta { index, delta } => self.grow(index, delta),
            Event::MessageDelta { delta, usage } => {
                usage::merge(&mut self.usage, usage.as_ref());
                let reason = delta.stop_reason?;
                let finish_reason = Some(neutral_reason(&reason).to_owned());
                self.stop_reason = Some(reason);
                Some(StreamDelta { finish_reason, ..StreamDelta::default() })
            }
            Event::MessageStop => {
                self.is_whole = true;
                None
            }
            Event::Other => None,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_whole || self.error.is_some()
    }

    pub(super) fn finish(self) -> Result<LlmResponse, NativeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.is_whole && self.stop_reason.is_none() {
            return Err(NativeError::Cut);
        }
        let mut text = String::new();
        let mut tool_calls = Vec::new();
        for growing in self.blocks.into_values() {
            match growing.block {
                Block::Text { text: more } => text.push_str(&more),
                Block::ToolUse { id, name, input } => {
                    let arguments = arguments(&input, growing.input);
                    tool_calls.push(ToolCall::function(id, name, arguments));
                }
                Block::Other => {}
            }
        }
        if self.stop_reason.as_deref() == Some(REFUSAL) {
            return Err(NativeError::refused(&text));
        }
        let (usage, cost) = usage::read(Some(&Value::Object(self.usage)));
        Ok(LlmResponse {
            model: self.model,
            content: (!text.is_empty()).then_some(text),
            tool_calls,
            finish_reason: self.stop_reason.map(|reason| neutral_reason(&reason).to_owned()),
            usage,
            cost,
            images: Vec::new(),
        })
    }

    fn grow(&mut self, index: u64, delta: BlockDelta) -> Option<StreamDelta> {
        match (delta, self.blocks.get_mut(&index)) {
            // Thoughts are shown and not kept, so their block does not matter.
            (BlockDelta::ThinkingDelta { thinking }, _) => {
                let reasoning = Some(thinking).filter(|thought| !thought.is_empty());
                Some(StreamDelta { reasoning, ..StreamDelta::default() })
            }
            (BlockDelta::TextDelta { text: more }, Some(growing)) => {
                let Block::Text { text } = &mut growing.block else { return None };
                text.push_str(&more);
                Some(said(more))
            }
            (BlockDelta::InputJsonDelta { partial_json }, Some(growing)) => {
                let Block::ToolUse { id, .. } = &growing.block else { return None };
                growing.input.push_str(&partial_json);
                let arguments = Some(partial_json).filter(|arguments| !arguments.is_empty())?;
                Some(called(ToolCallDelta {
                    id: id.clone(),
                    name: None,
                    arguments: Some(arguments),
                }))
            }
            (BlockDelta::TextDelta { .. } | BlockDelta::InputJsonDelta { .. }, None)
            | (BlockDelta::Other, _) => None,
        }
    }
}

/// Returns what a reply grows by when a block begins.
fn opened(block: &Block) -> Option<StreamDelta> {
    match block {
        Block::Text { text } => Some(said(text.clone())),
        Block::ToolUse { id, name, .. } => {
            let name = Some(name.clone());
            Some(called(ToolCallDelta { id: id.clone(), name, arguments: None }))
        }
        Block::Other => None,
    }
}

fn said(text: String) -> StreamDelta {
    StreamDelta { text: Some(text).filter(|text| !text.is_empty()), ..StreamDelta::default() }
}

fn called(call: ToolCallDelta) -> StreamDelta {
    StreamDelta { tool_calls: vec![call], ..StreamDelta::default() }
}

/// Returns the arguments of a call as text: what grew, else what the block had from the start.
fn arguments(input: &Value, grown: String) -> String {
    if !grown.is_empty() {
        grown
    } else if input.is_null() {
        "{}".to_owned()
    } else {
        input.to_string()
    }
}
