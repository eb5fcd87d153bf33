//! The events of AG-UI 1.0, as far as this host says them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// An event of AG-UI.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "AgUiEvent")]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub(crate) enum Event {
    /// A run begins. The first event.
    RunStarted {
        /// The thread, as the client calls it.
        thread_id: String,
        /// The run, as the client calls it.
        run_id: String,
        /// The version of AG-UI that is spoken.
        protocol_version: &'static str,
    },
    /// Something that AG-UI has no event for.
    Custom {
        /// What: `quixos.request`.
        name: &'static str,
        /// The request and the thread, by the ids that the other routes know them by.
        value: Request,
    },
    /// A text of the agent begins.
    TextMessageStart {
        /// The message.
        message_id: String,
        /// `assistant`.
        role: &'static str,
    },
    /// It goes on.
    TextMessageContent {
        /// The message.
        message_id: String,
        /// Text to append.
        delta: String,
    },
    /// It has ended.
    TextMessageEnd {
        /// The message.
        message_id: String,
    },
    /// Thoughts of the model begin.
    ReasoningStart {
        /// The thoughts.
        message_id: String,
    },
    /// A text of them begins.
    ReasoningMessageStart {
        /// The thoughts.
        message_id: String,
        /// `reasoning`.
        role: &'static str,
    },
    /// It goes on.
    ReasoningMessageContent {
        /// The thoughts.
        message_id: String,
        /// Text to append.
        delta: String,
    },
    /// It has ended.
    ReasoningMessageEnd {
        /// The thoughts.
        message_id: String,
    },
    /// The thoughts have ended.
    ReasoningEnd {
        /// The thoughts.
        message_id: String,
    },
    /// A tool call begins.
    ToolCallStart {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_call_name: String,
        /// The message that it is part of.
        parent_message_id: String,
    },
    /// Its arguments go on.
    ToolCallArgs {
        /// The call.
        tool_call_id: String,
        /// Text to append to their JSON.
        delta: String,
    },
    /// Its arguments are complete.
    ToolCallEnd {
        /// The call.
        tool_call_id: String,
    },
    /// A tool that is not the client's has ended.
    ToolCallResult {
        /// The message that says how.
        message_id: String,
        /// The call.
        tool_call_id: String,
        /// How, for people.
        content: String,
        /// `tool`.
        role: &'static str,
    },
    /// The run is over.
    RunFinished {
        /// The thread, as the client calls it.
        thread_id: String,
        /// The run, as the client calls it.
        run_id: String,
        /// What it came to.
        outcome: Outcome,
        /// What models used, if it is known.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<Usage>,
    },
    /// The run has failed.
    RunError {
        /// What went wrong, for people.
        message: String,
        /// The same as a word.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

/// The ids by which the other routes know a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "AgUiRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The request, which can be aborted.
    pub(crate) request_id: String,
    /// The thread, which can be read.
    pub(crate) thread_id: String,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "AgUiOutcome")]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(crate) enum Outcome {
    /// It is done, or waits for tools of the client.
    Success {
        /// The tool calls that it waits for.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pending_tool_call_ids: Vec<String>,
    },
    /// It waits for answers to questions.
    Interrupt {
        /// The questions.
        interrupts: Vec<Interrupt>,
    },
    /// It was aborted.
    Cancelled,
}

/// A question, which the next run on the thread answers by `resume`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "AgUiInterrupt")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Interrupt {
    /// What the answer names.
    pub(crate) id: String,
    /// What kind of question: `confirmation`, `input_required`, or `quixos:` and what the agent
    /// calls it.
    pub(crate) reason: String,
    /// The question, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    /// The form of an answer, if the agent says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response_schema: Option<Map<String, Value>>,
    /// What the agent says about it.
    pub(crate) metadata: Map<String, Value>,
}

/// What models used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "AgUiUsage")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    /// Tokens that were read.
    pub(crate) input_tokens: u64,
    /// Tokens that were written.
    pub(crate) output_tokens: u64,
}
