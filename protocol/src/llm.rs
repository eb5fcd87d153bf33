//! Model calls in the neutral form, which no provider has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{DraftMessage, MediaUrl, ToolCall};
use crate::presence;
use crate::whole;

/// What a model is asked. Whether the reply is streamed is not part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlmRequest {
    /// The model.
    pub model: String,
    /// The whole prompt, system messages included.
    pub messages: Vec<DraftMessage>,
    /// The tools that the model is offered; absent when there are none.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "presence::or_default"
    )]
    #[schemars(with = "Option<Vec<LlmTool>>")]
    pub tools: Vec<LlmTool>,
    /// Sampling temperature. Default: the provider's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The most tokens that a reply may have. Default: the provider's.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    pub max_completion_tokens: Option<u64>,
    /// How much the model thinks before it replies. Default: the provider's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningConfig>,
}

/// A tool as the model is offered it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlmTool {
    /// The name that the model calls.
    pub name: String,
    /// What the model is told about it.
    pub description: String,
    /// JSON Schema of the arguments. Omitted: no arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// JSON Schema that results must satisfy. The model does not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

/// How much a model thinks before it replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReasoningConfig {
    /// How hard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The most tokens that it may think.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    pub max_tokens: Option<u64>,
    /// Whether what it thinks is left out of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude: Option<bool>,
    /// Whether it thinks at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// How hard a model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// As hard as it can.
    Xhigh,
    /// Hard.
    High,
    /// In between.
    Medium,
    /// A little.
    Low,
    /// As little as it can.
    Minimal,
    /// Not at all.
    None,
}

/// What a model replies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlmResponse {
    /// The model that replied.
    pub model: String,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The tools that it calls, in order.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "presence::or_default"
    )]
    #[schemars(with = "Option<Vec<ToolCall>>")]
    pub tool_calls: Vec<ToolCall>,
    /// Why it ended: `stop`, `tool_calls`, or `length` for a reply that was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// Tokens by name. Numbers are summed per turn and per session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// What it cost: dollars, as a decimal string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// The pictures that it made.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "presence::or_default"
    )]
    #[schemars(with = "Option<Vec<MediaUrl>>")]
    pub images: Vec<MediaUrl>,
}

/// What a reply grew by while it was streamed. Deltas are shown live and not recorded; the reply
/// is what the `llm.result` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamDelta {
    /// Text to append.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Thoughts to append.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Tool calls that begin or grow.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "presence::or_default"
    )]
    #[schemars(with = "Option<Vec<ToolCallDelta>>")]
    pub tool_calls: Vec<ToolCallDelta>,
    /// Why the reply ended, in the last delta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
}

/// What a tool call grew by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallDelta {
    /// The call.
    pub id: String,
    /// Its name, when it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Text to append to its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
}
