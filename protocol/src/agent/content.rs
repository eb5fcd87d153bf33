//! What is said on either side: blocks of content.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::tagged::tagged;

/// A block of what a user says. Text is all there is so far; another type is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum UserContentBlock {
    /// A text.
    Text(UserText),
}

tagged!(UserContentBlock { "text" => Text(UserText), });

/// A text of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct UserText {
    /// The text.
    pub text: String,
}

impl UserContentBlock {
    /// Returns a block that is a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(UserText { text: text.into() })
    }

    /// Returns the text of the block.
    pub fn as_text(&self) -> &str {
        let Self::Text(UserText { text }) = self;
        text
    }
}

/// A message of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputMessage {
    /// What is said, in order.
    pub content: Vec<UserContentBlock>,
}

/// A block of what an agent says, thinks and does.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AssistantContentBlock {
    /// What it says.
    Text(AssistantText),
    /// What it thinks.
    Thinking(AssistantText),
    /// A tool that it calls.
    ToolUse(ToolUse),
    /// How a tool call ended.
    ToolResult(ToolOutcome),
}

tagged!(AssistantContentBlock {
    "text" => Text(AssistantText),
    "thinking" => Thinking(AssistantText),
    "tool_use" => ToolUse(ToolUse),
    "tool_result" => ToolResult(ToolOutcome),
});

/// Text, or thoughts, of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct AssistantText {
    /// The text.
    pub text: String,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct ToolUse {
    /// The call, which its result names.
    pub tool_call_id: String,
    /// The tool.
    pub tool: String,
    /// What it is called with; empty where the model wrote no JSON object.
    pub args: Map<String, Value>,
}

/// How a tool call ended. What it brought is not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutcome {
    /// The call.
    pub tool_call_id: String,
    /// The tool.
    pub tool: String,
    /// How.
    pub status: ResultStatus,
    /// The same for people, if there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Whether something went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResultStatus {
    /// It did.
    Success,
    /// It did not.
    Error,
}

impl AssistantContentBlock {
    /// Returns a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(AssistantText { text: text.into() })
    }

    /// Returns a thought.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::Thinking(AssistantText { text: text.into() })
    }
}
