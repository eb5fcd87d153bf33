//! Messages and their blocks, and how a block is told.

use quixos_protocol::agent::{
    AgentEvent, AssistantContentBlock, EventStage, ResultStatus, TextEvent, ToolCallEvent,
    ToolOutcome, ToolResultEvent, ToolUse,
};
use serde_json::{Map, Value};

use super::Turn;

/// A message of the agent.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) id: String,
    pub(super) blocks: Vec<Block>,
    /// Whether it is the reply of a model call.
    is_reply: bool,
    /// Whether it stands in the conversation.
    pub(super) is_recorded: bool,
    /// Whether the worker has said what becomes of it.
    pub(super) is_answered: bool,
    /// Whether the model may still say something.
    pub(super) is_under_way: bool,
    /// Whether the call was called off.
    pub(super) is_void: bool,
}

impl Talk {
    pub(super) fn new(id: &str, is_reply: bool) -> Self {
        Self {
            id: id.to_owned(),
            blocks: Vec::new(),
            is_reply,
            is_recorded: false,
            is_answered: false,
            is_under_way: false,
            is_void: false,
        }
    }

    /// Says whether it is known that nothing of it is kept.
    pub(super) fn is_dropped(&self) -> bool {
        self.is_reply && !self.is_recorded && (self.is_answered || self.is_void)
    }
}

/// A block.
#[derive(Debug)]
pub(super) struct Block {
    index: u32,
    pub(super) kind: Kind,
    /// Which block of which attempt says it, if it is streamed.
    pub(super) source: Option<(u32, u32)>,
    /// When it began.
    began: String,
    pub(super) is_open: bool,
    /// What it says, once that is known.
    pub(super) text: Option<String>,
    /// Whether it is part of the content at the end.
    pub(super) counts: bool,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
    ToolCall { id: String, tool: String },
    ToolResult { id: String, tool: String, status: ResultStatus, summary: String },
}

/// A block as whoever tells more of it knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockRef {
    message_id: String,
    /// Its id.
    pub(crate) id: String,
    growth: Growth,
    /// Which block of which attempt of the call says it, if it is streamed. The call is the message.
    source: Option<(u32, u32)>,
}

/// Who says a block while it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source<'b> {
    /// The model call.
    pub(crate) call: &'b str,
    /// Which attempt of it.
    pub(crate) attempt: u32,
    /// Which block of the attempt.
    pub(crate) index: u32,
}

/// What a block grows by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    Text,
    Thinking,
    Arguments,
    Nothing,
}

impl Block {
    pub(super) fn new(index: usize, kind: Kind, source: Option<(u32, u32)>, began: &str) -> Self {
        Self {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            kind,
            source,
            began: began.to_owned(),
            is_open: true,
            text: None,
            counts: true,
        }
    }

    /// Returns the call that the block makes, and its tool.
    pub(super) fn called(&self) -> Option<(&str, &str)> {
        match &self.kind {
            Kind::ToolCall { id, tool } => Some((id, tool)),
            Kind::Text | Kind::Thinking | Kind::ToolResult { .. } => None,
        }
    }

    /// Returns the call whose end the block tells.
    pub(super) fn resulted(&self) -> Option<&str> {
        match &self.kind {
            Kind::ToolResult { id, .. } => Some(id),
            Kind::Text | Kind::Thinking | Kind::ToolCall { .. } => None,
        }
    }

    pub(super) fn reference(&self, talk: &Talk) -> BlockRef {
        BlockRef {
            message_id: talk.id.clone(),
            id: self.id(talk),
            growth: match self.kind {
                Kind::Text => Growth::Text,
                Kind::Thinking => Growth::Thinking,
                Kind::ToolCall { .. } => Growth::Arguments,
                Kind::ToolResult { .. } => Growth::Nothing,
            },
            source: self.source,
        }
    }

    fn id(&self, talk: &Talk) -> String {
        format!("{}#{}", talk.id, self.index)
    }

    /// Returns how its begin is told, which is the same whenever it is.
    pub(super) fn start(&self, turn: &Turn, talk: &Talk) -> AgentEvent {
        self.told(turn, talk, EventStage::Start, &self.began)
    }

    /// Returns how its end is told.
    pub(super) fn stop(&self, turn: &Turn, talk: &Talk, instant: &str) -> AgentEvent {
        self.told(turn, talk, EventStage::Stop, instant)
    }

    fn told(&self, turn: &Turn, talk: &Talk, stage: EventStage, instant: &str) -> AgentEvent {
        let request_id = turn.request_id.clone();
        let (message_id, block_id) = (talk.id.clone(), self.id(talk));
        let block_index = (stage == EventStage::Start).then_some(self.index);
        let is_end = stage == EventStage::Stop;
        let timestamp = instant.to_owned();
        let text = |block_index, timestamp| TextEvent {
            request_id: request_id.clone(),
            message_id: message_id.clone(),
            block_id: block_id.clone(),
            block_index,
            stage,
            delta: None,
            delta_index: None,
            timestamp,
        };
        match &self.kind {
            Kind::Text => AgentEvent::Text(text(block_index, timestamp)),
            Kind::Thinking => AgentEvent::Thinking(text(block_index, timestamp)),
            Kind::ToolCall { id, tool } => AgentEvent::ToolCall(ToolCallEvent {
                request_id,
                message_id,
                block_id,
                block_index,
                stage,
                tool_call_id: Some(id.clone()),
                tool: Some(tool.clone()),
                delta: None,
                delta_index: None,
                args: self.text.as_deref().filter(|_| is_end).and_then(object),
                timestamp,
            }),
            Kind::ToolResult { id, tool, status, summary } => {
                AgentEvent::ToolResult(ToolResultEvent {
                    request_id,
                    message_id,
                    block_id,
                    block_index,
                    stage,
                    tool_call_id: Some(id.clone()),
                    tool: Some(tool.clone()),
                    status: is_end.then_some(*status),
                    summary: is_end.then(|| summary.clone()),
                    timestamp,
                })
            }
        }
    }

    /// Returns the block as content.
    pub(super) fn content(&self) -> AssistantContentBlock {
        let text = || self.text.clone().unwrap_or_default();
        match &self.kind {
            Kind::Text => AssistantContentBlock::text(text()),
            Kind::Thinking => AssistantContentBlock::thinking(text()),
            Kind::ToolCall { id, tool } => AssistantContentBlock::ToolUse(ToolUse {
                tool_call_id: id.clone(),
                tool: tool.clone(),
                args: object(&text()).unwrap_or_default(),
            }),
            Kind::ToolResult { id, tool, status, summary } => {
                AssistantContentBlock::ToolResult(ToolOutcome {
                    tool_call_id: id.clone(),
                    tool: tool.clone(),
                    status: *status,
                    summary: Some(summary.clone()),
                })
            }
        }
    }
}

impl BlockRef {
    /// Returns who says the block, if it is streamed.
    pub(crate) fn source(&self) -> Option<Source<'_>> {
        let (attempt, index) = self.source?;
        Some(Source { call: &self.message_id, attempt, index })
    }

    /// Returns a piece of what the block says, as it is told. A block that does not grow has none.
    pub(crate) fn delta(
        &self,
        turn: &Turn,
        delta: String,
        index: u32,
        timestamp: String,
    ) -> Option<AgentEvent> {
        let request_id = turn.request_id.clone();
        let (message_id, block_id) = (self.message_id.clone(), self.id.clone());
        let (stage, delta, delta_index) = (EventStage::Delta, Some(delta), Some(index));
        let block_index = None;
        Some(match self.growth {
            Growth::Text | Growth::Thinking => {
                let event = TextEvent {
                    request_id,
                    message_id,
                    block_id,
                    block_index,
                    stage,
                    delta,
                    delta_index,
                    timestamp,
                };
                if self.growth == Growth::Text {
                    AgentEvent::Text(event)
                } else {
                    AgentEvent::Thinking(event)
                }
            }
            Growth::Arguments => AgentEvent::ToolCall(ToolCallEvent {
                request_id,
                message_id,
                block_id,
                block_index,
                stage,
                tool_call_id: None,
                tool: None,
                delta,
                delta_index,
                args: None,
                timestamp,
            }),
            Growth::Nothing => return None,
        })
    }
}

/// Returns the JSON object that a text is.
pub(super) fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}
