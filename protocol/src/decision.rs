//! One question to a worker, and its answer.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::action::Action;
use crate::config::{AgentConfig, Handler};
use crate::message::{DraftMessage, Message, MessageTree};
use crate::presence;
use crate::trigger::Trigger;

/// What a worker is asked. A redelivery has the same content but for `attempts` and `deadline`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionRequest {
    /// The conversation.
    pub session_id: String,
    /// This question. Only the first answer counts.
    pub decision_id: String,
    /// The agent that is asked; a worker may host several.
    pub agent_id: String,
    /// Whose session it is, which a worker may trust.
    pub identity: WorkerIdentity,
    /// Why it is asked.
    pub trigger: Trigger,
    /// What the engine would answer; empty when it has nothing to propose. It is never applied by
    /// itself.
    pub proposed: DecisionResponse,
    /// The state that was last answered on this branch; `null` if none was.
    pub state: Value,
    /// The config that was last answered on this branch; `null` if none was.
    #[serde(deserialize_with = "presence::stated")]
    #[schemars(schema_with = "presence::stated_schema::<AgentConfig>")]
    pub agent: Option<AgentConfig>,
    /// The calls in flight, by id.
    pub calls: Vec<Call>,
    /// How many tool and sub-agent calls are in flight, or finished and not yet told. While there
    /// are some, the model should not be prompted with what is there.
    pub pending_calls: usize,
    /// The conversation on the active branch, from the root to the head.
    pub messages: Vec<Message>,
    /// The conversation on all branches.
    pub message_tree: MessageTree,
    /// The sessions above a sub-agent's, the root first.
    pub ancestry: Vec<String>,
    /// How often this question was asked, this time included.
    pub attempts: u32,
    /// When this delivery ends, if it does.
    #[serde(deserialize_with = "presence::stated")]
    #[schemars(schema_with = "presence::stated_schema::<String>")]
    pub deadline: Option<String>,
    /// The turn, which is the idempotency key of its submit; `null` outside a turn.
    #[serde(deserialize_with = "presence::stated")]
    #[schemars(schema_with = "presence::stated_schema::<String>")]
    pub turn_id: Option<String>,
}

/// Whose session it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerIdentity {
    /// The owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What else is known about the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<BTreeMap<String, String>>,
}

/// A call in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// Its id. A sub-agent's is the model's tool call that was delegated.
    pub id: String,
    /// What is called.
    pub kind: CallKind,
    /// How far it is.
    pub status: CallStatus,
    /// From 1; one more after each recorded failure.
    pub attempt: u32,
    /// When this attempt ends, if it has begun and does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// The message at which it was requested; absent before the first. A branch that leaves this
    /// message out voids the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// The tool, of a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The arguments as they were written, of a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// Who runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<Handler>,
    /// Whether the reply is streamed, of a model call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// The agent, of a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The child's session, of a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// A tool.
    ToolCall,
    /// A model.
    LlmCall,
    /// Another agent, in a session of its own.
    SubAgent,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Handed to who runs it; its deadline counts.
    Pending,
    /// It succeeded.
    Completed,
    /// It failed for good.
    Failed,
    /// The last attempt failed, the next one waits.
    RetryScheduled,
    /// Requested, not yet begun.
    Queued,
}

/// What a worker answers. `null` is an answer too: the empty one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct DecisionResponse {
    /// Messages to record: from the first that the tree does not know on, each is written, and the
    /// last one becomes the head. Omitted is not the same as `[]`: an `llm.call` without messages
    /// of its own prompts with these if they are there, and with the current path if not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<DraftMessage>>,
    /// What the engine does next, in order.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "presence::or_default"
    )]
    #[schemars(with = "Option<Vec<Action>>")]
    pub actions: Vec<Action>,
    /// The new state. Omitted or `null` keeps the current one; `{}` clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// The new config, as a whole. Omitted or `null` keeps the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentConfig>,
}

impl DecisionResponse {
    /// Returns whether this is the empty answer.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Serialize for DecisionResponse {
    fn serialize<S: Serializer>(&self, target: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, target)
    }
}

impl<'de> Deserialize<'de> for DecisionResponse {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(ResponseVisitor)
    }
}

struct ResponseVisitor;

impl<'de> Visitor<'de> for ResponseVisitor {
    type Value = DecisionResponse;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a decision or null")
    }

    fn visit_unit<E: Error>(self) -> Result<DecisionResponse, E> {
        Ok(DecisionResponse::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<DecisionResponse, A::Error> {
        DecisionResponse::deserialize(MapAccessDeserializer::new(fields))
    }
}
