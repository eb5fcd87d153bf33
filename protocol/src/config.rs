//! The config of an agent: its model, its tools, and who runs what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::presence;
use crate::whole;

/// What an agent is made of. It is set as a whole: a new one replaces the old one, field by field
/// nothing is merged.
///
/// Two configs are the same if their JSON is: an absent list and an empty one are not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentConfig {
    /// The model, by the name that its provider knows. The only required field.
    pub model: String,
    /// The system prompt: put in front of a prompt that the engine composes, never of one that an
    /// `llm.call` brings along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Whether replies are streamed. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// Who runs model calls. Default: the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<CallHandler>,
    /// The provider's own wire format, in which model calls reach the worker. Only with handler
    /// `worker`. Default: the neutral `LlmRequest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// How model calls are retried. Default: the engine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// The tools that the model is offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<AgentTool>>,
    /// The agents that the model may delegate to; each is offered as a tool of its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_agents: Option<Vec<SubAgent>>,
}

impl AgentConfig {
    /// Returns a config that names a model and nothing else.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), ..Self::default() }
    }

    /// Returns the tools; none if the field is absent.
    pub fn tools(&self) -> &[AgentTool] {
        self.tools.as_deref().unwrap_or_default()
    }

    /// Returns the sub-agents; none if the field is absent.
    pub fn sub_agents(&self) -> &[SubAgent] {
        self.sub_agents.as_deref().unwrap_or_default()
    }
}

/// A tool that the model is offered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentTool {
    /// The name that the model calls. Tools and sub-agents share their names.
    pub name: String,
    /// What the model is told about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the arguments. Omitted: no arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// JSON Schema that results must satisfy; one that does not settles as a final error. The
    /// model does not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Who runs it. Default: the worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<ToolHandler>,
}

/// An agent that the model may delegate to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubAgent {
    /// The agent to spawn, and the name of the tool that the model sees.
    pub id: String,
    /// What the model is told about it. Default: a sentence with its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Who runs a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Handler {
    /// The engine itself.
    Server,
    /// The worker, asked by a `tool.execute` or `llm.execute`.
    Worker,
    /// The client, who sees the request on the event stream.
    Client,
}

/// Who runs a model call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CallHandler {
    /// The engine's provider. The default.
    #[default]
    Server,
    /// The worker, asked by an `llm.execute`.
    Worker,
}

impl From<CallHandler> for Handler {
    fn from(handler: CallHandler) -> Self {
        match handler {
            CallHandler::Server => Self::Server,
            CallHandler::Worker => Self::Worker,
        }
    }
}

/// Who runs a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolHandler {
    /// The worker, asked by a `tool.execute`. The default.
    #[default]
    Worker,
    /// The client, who sees the request on the event stream. No trigger tells the worker of it.
    Client,
}

impl From<ToolHandler> for Handler {
    fn from(handler: ToolHandler) -> Self {
        match handler {
            ToolHandler::Worker => Self::Worker,
            ToolHandler::Client => Self::Client,
        }
    }
}

/// A provider's wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The body of Chat Completions.
    Openai,
    /// The body of Messages.
    Anthropic,
}

/// How often and how long a call is tried. All four fields are required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct RetryPolicy {
    /// How long one try may take, from when it is handed out; `null`: as long as it likes.
    #[serde(deserialize_with = "whole::optional")]
    #[schemars(schema_with = "presence::stated_schema::<u64>")]
    pub timeout_secs: Option<u64>,
    /// Tries after the first: 0 is one try, 3 are at most four.
    #[serde(deserialize_with = "whole::number")]
    pub max_retries: u32,
    /// The base of the delay: before retry n it is this to the n-th, in seconds.
    #[serde(deserialize_with = "whole::number")]
    pub backoff_base_secs: u64,
    /// The longest delay.
    #[serde(deserialize_with = "whole::number")]
    pub backoff_max_secs: u64,
}
