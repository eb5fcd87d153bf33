//! The agent event protocol: what a client asks of an agent, and the events that it is answered
//! with.
//!
//! An [`AgentRequest`] begins a turn on a thread, or answers what a turn waits for. What follows is
//! a stream of [`AgentEvent`]s: `metadata`, then blocks (each a `start`, some `delta`s and a
//! `stop`), then one terminal event. Over SSE and over NDJSON the events are the same JSON.
//!
//! Names and fields are those of the published types of the protocol, in camel case. What applies
//! to all types of this crate applies here, with one difference: an event names itself under
//! `event`.

mod content;
mod error;
mod event;
mod request;

pub use content::{
    AssistantContentBlock, AssistantText, InputMessage, ResultStatus, ToolOutcome, ToolUse,
    UserContentBlock, UserText,
};
pub use error::ErrorCode;
pub use event::{
    AbortedEvent, AgentEvent, ContinuationEvent, DoneEvent, ErrorEvent, EventStage, FinishReason,
    MetadataEvent, TextEvent, TokenUsage, ToolCallEvent, ToolResultEvent,
};
pub use request::{ActionResult, AgentRequest, RequestContext, RequestError, RequestLimits};
