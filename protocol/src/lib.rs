//! The wire types of the decision protocol: what an engine asks a worker, what the worker answers,
//! and what a client may submit; and those of the agent event protocol ([`agent`]), which is what a
//! client sees of a turn.
//!
//! A [`DecisionRequest`] carries a [`Trigger`] and a snapshot of its session; a
//! [`DecisionResponse`] carries messages to record, a state, a config and [`Action`]s; a
//! [`ClientInput`] opens or continues a turn. Nothing here does I/O or decides anything.
//!
//! Rules of the wire, which hold for every type:
//!
//! - a choice is an object with its name under `type`; an unknown name is refused and the known
//!   ones are listed; unknown fields are ignored;
//! - an optional field is left out when there is nothing to say, and `null` reads as left out. A
//!   field of any type that is handed through (`args`, `payload`, `data`, `detail` and the like)
//!   keeps a `null` that was written;
//! - a field that is always there says `null` when it is empty, and is missed when left out;
//! - fields are written in the order in which they are declared; values of any type keep the order
//!   of their keys, and are equal in any order.
//!
//! Bytes come in through [`parse()`]. [`schema::document`] is the whole as JSON Schema, and
//! [`schema::agent_document`] the agent event protocol.
//!
//! In reading order: `message.rs`, `config.rs`, `llm.rs`, `trigger.rs`, `action.rs`, `decision.rs`,
//! `input.rs`, `frame.rs`, `native.rs`; `agent.rs`; then `parse.rs` and `schema.rs`; below them
//! `strict.rs` (objects), `tagged.rs` (choices) and `presence.rs` (what `null` and absence mean).

pub mod action;
pub mod agent;
mod config;
mod decision;
mod frame;
pub mod input;
mod llm;
mod message;
pub mod native;
mod parse;
mod presence;
pub mod schema;
mod strict;
mod tagged;
mod text;
pub mod trigger;
pub mod whole;

pub use action::Action;
pub use config::{
    AgentConfig, AgentTool, CallHandler, Format, Handler, RetryPolicy, SubAgent, ToolHandler,
};
pub use decision::{Call, CallKind, CallStatus, DecisionRequest, DecisionResponse, WorkerIdentity};
pub use frame::{DecisionError, Frame, FrameError};
pub use input::ClientInput;
pub use llm::{
    Effort, LlmRequest, LlmResponse, LlmTool, ReasoningConfig, StreamDelta, ToolCallDelta,
};
pub use message::{
    AudioData, Content, ContentPart, DraftMessage, FileData, FunctionCall, MediaUrl, Message,
    MessageTree, Role, ToolCall, TreeNode,
};
pub use parse::{ParseError, parse, parse_value};
pub use text::text_of;
pub use trigger::{ClientContext, ErrorCode, ToolInput, Trigger};
