//! The chunks of a UI message stream (version 1 of the AI SDK's), as far as this host says them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// A chunk of a UI message stream.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "UiMessageChunk")]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(crate) enum Chunk {
    /// A message begins, or goes on after an answer of the client.
    Start {
        /// The message, which is the whole turn.
        message_id: String,
        /// By which ids the other routes know it.
        message_metadata: Ids,
    },
    /// A reply of the model begins.
    StartStep,
    /// A text begins.
    TextStart {
        /// The text.
        id: String,
    },
    /// It goes on.
    TextDelta {
        /// The text.
        id: String,
        /// What to append.
        delta: String,
    },
    /// It has ended.
    TextEnd {
        /// The text.
        id: String,
    },
    /// Thoughts begin.
    ReasoningStart {
        /// The thoughts.
        id: String,
    },
    /// They go on.
    ReasoningDelta {
        /// The thoughts.
        id: String,
        /// What to append.
        delta: String,
    },
    /// They have ended.
    ReasoningEnd {
        /// The thoughts.
        id: String,
    },
    /// A tool call begins.
    ToolInputStart {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    },
    /// Its input goes on.
    ToolInputDelta {
        /// The call.
        tool_call_id: String,
        /// Text to append to the JSON of the input.
        input_text_delta: String,
    },
    /// Its input is complete.
    ToolInputAvailable {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// The input.
        input: Value,
        /// Whether it is no tool that the client may know, but a question.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dynamic: bool,
    },
    /// Its input is not what tools take.
    ToolInputError {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// What the model wrote.
        input: Value,
        /// What is wrong with it.
        error_text: String,
    },
    /// A call needs a yes or a no.
    ToolApprovalRequest {
        /// What the answer names.
        approval_id: String,
        /// The call.
        tool_call_id: String,
    },
    /// A call has ended well.
    ToolOutputAvailable {
        /// The call.
        tool_call_id: String,
        /// What it brought, for people.
        output: Value,
        /// `true`: it is not the client's to run.
        provider_executed: bool,
    },
    /// A call has failed.
    ToolOutputError {
        /// The call.
        tool_call_id: String,
        /// What went wrong.
        error_text: String,
        /// `true`: it is not the client's to run.
        provider_executed: bool,
    },
    /// A call was answered with no.
    ToolOutputDenied {
        /// The call.
        tool_call_id: String,
    },
    /// A reply of the model has ended.
    FinishStep,
    /// The message is over, or waits for the client.
    Finish {
        /// Why.
        finish_reason: FinishedBy,
        /// What is known only now.
        #[serde(skip_serializing_if = "Map::is_empty")]
        message_metadata: Map<String, Value>,
    },
    /// Something went wrong.
    Error {
        /// What, for people.
        error_text: String,
    },
    /// The turn was aborted.
    Abort {
        /// Why.
        reason: &'static str,
    },
}

/// By which ids other routes know a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "UiMessageIds")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ids {
    /// The request, which can be aborted.
    pub(crate) request_id: String,
    /// The thread, which can be read.
    pub(crate) thread_id: String,
}

/// Why a message is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "UiMessageFinishReason")]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FinishedBy {
    /// It is done.
    Stop,
    /// It was cut off.
    Length,
    /// It waits for the client.
    ToolCalls,
    /// It has failed.
    Error,
}
