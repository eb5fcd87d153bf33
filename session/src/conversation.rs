//! A session's messages with the calls that were made at each, for whoever reads a conversation
//! afterwards.
//!
//! A call hangs on the message that the conversation had come to when it was requested: a model's
//! on what it answers, a tool's on the reply that asked for it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use quixos_protocol::Message;
use quixos_runtime::CallError;
use serde::Serialize;
use serde_json::Value;

use crate::clock;
use crate::messages;
use crate::reader::Reader;
use crate::sessions::{CallData, NodeData};
use crate::stored::{self, StoredCall, StoredOutcome};

/// A conversation, or the newest part of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Conversation {
    /// Where it stands.
    pub head: Option<String>,
    /// How many messages were written before these.
    pub earlier: usize,
    /// The messages, in the order in which they were written.
    pub messages: Vec<Said>,
    /// Calls that hang on no message, or on none of these.
    pub calls: Vec<Called>,
}

/// A message.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Said {
    /// The message.
    pub message: Message,
    /// The one above it.
    pub parent: Option<String>,
    /// When it was written.
    pub at: DateTime<Utc>,
    /// Whether it is on the way to where the conversation stands.
    pub on_path: bool,
    /// The calls that were requested here, in their order.
    pub calls: Vec<Called>,
}

/// A call.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Called {
    /// The call.
    pub id: String,
    /// `tool_call`, `llm_call` or `sub_agent`.
    pub kind: String,
    /// Who runs it: `server`, `worker` or `client`.
    pub handler: String,
    /// `queued`, `pending`, `retry_scheduled`, `completed`, `failed` or `voided`.
    pub status: String,
    /// Which attempt it is, or was, at.
    pub attempt: u32,
    /// The tool, the model, or the sub-agent.
    pub name: String,
    /// The arguments of a tool.
    pub arguments: Option<String>,
    /// The session of a sub-agent.
    pub session: Option<String>,
    /// When it was requested.
    pub requested: Option<DateTime<Utc>>,
    /// When it ended.
    pub ended: Option<DateTime<Utc>>,
    /// When time runs out for it, or the next try is made.
    pub due: Option<String>,
    /// What came of it: a result, a reply's text, or an error.
    pub outcome: Option<String>,
    /// What the model counted.
    pub usage: Option<Value>,
    /// What it cost.
    pub cost: Option<String>,
}

impl Reader<'_> {
    /// Returns the last `limit` messages that were written, with their calls.
    ///
    /// # Errors
    /// That the store cannot be read.
    pub fn conversation(&self, limit: usize) -> Result<Conversation, CallError> {
        let (data, live) = (self.data()?, self.live()?);
        let mut nodes = self.messages()?;
        let path = path(&nodes, data.head.as_deref());
        let earlier = nodes.len().saturating_sub(limit);
        let nodes = nodes.split_off(earlier);
        let shown: BTreeSet<&str> = nodes.iter().map(|(node, _)| node.id.as_str()).collect();

        let mut calls: BTreeMap<String, Vec<CallData>> = BTreeMap::new();
        let mut loose = Vec::new();
        let under_way = live.calls.len();
        let ended = self.ended_calls()?.into_iter();
        for (number, call) in live.calls.into_iter().chain(ended).enumerate() {
            match call.anchor.clone() {
                Some(anchor) if shown.contains(anchor.as_str()) => {
                    calls.entry(anchor).or_default().push(call);
                }
                // Of what has ended only what belongs to these messages is told.
                None if earlier == 0 => loose.push(call),
                Some(_) | None if number < under_way => loose.push(call),
                Some(_) | None => {}
            }
        }
        let messages = nodes.iter().map(|(node, at)| {
            Ok(Said {
                message: messages::message(node)?,
                parent: node.parent.clone(),
                at: *at,
                on_path: path.contains(&node.id),
                calls: self.called(calls.remove(&node.id).unwrap_or_default())?,
            })
        });
        let messages = messages.collect::<Result<_, CallError>>()?;
        Ok(Conversation { head: data.head, earlier, messages, calls: self.called(loose)? })
    }

    fn called(&self, mut calls: Vec<CallData>) -> Result<Vec<Called>, CallError> {
        calls.sort_by_key(|call| call.requested);
        calls.iter().map(|call| self.call(call)).collect()
    }

    fn call(&self, call: &CallData) -> Result<Called, CallError> {
        let (name, arguments, session) = match stored::call_of(self, call)? {
            StoredCall::ToolCall { name, arguments } => (name, Some(arguments), None),
            StoredCall::LlmCall { model, .. } => (model, None, None),
            StoredCall::SubAgent { session_id, agent_id } => (agent_id, None, Some(session_id)),
        };
        let (outcome, usage, cost) = match stored::outcome_of(self, call)? {
            Some(StoredOutcome::Result { result }) => (Some(result), None, None),
            Some(StoredOutcome::Error { error, .. }) => (Some(error), None, None),
            Some(StoredOutcome::Reply { message, usage, cost, .. }) => {
                let text = message.content.map(|content| content.text().into_owned());
                (Some(text.unwrap_or_default()), usage, cost)
            }
            None => (None, None, None),
        };
        Ok(Called {
            id: call.id.clone(),
            kind: call.kind.clone(),
            handler: call.handler.clone(),
            status: call.status.clone(),
            attempt: call.attempt,
            name,
            arguments,
            session,
            requested: self.instant(call.requested)?,
            ended: call.ended.map(|ended| self.instant(ended)).transpose()?.flatten(),
            due: clock::call_due(call).map(str::to_owned),
            outcome,
            usage,
            cost,
        })
    }

    fn instant(&self, offset: u64) -> Result<Option<DateTime<Utc>>, CallError> {
        Ok(self.log(offset, 1)?.first().map(|logged| logged.instant))
    }
}

/// Returns the messages on the way from the first one to a head.
fn path(nodes: &[(NodeData, DateTime<Utc>)], head: Option<&str>) -> BTreeSet<String> {
    let parents: BTreeMap<&str, Option<&str>> =
        nodes.iter().map(|(node, _)| (node.id.as_str(), node.parent.as_deref())).collect();
    let mut path = BTreeSet::new();
    let mut next = head;
    while let Some(id) = next {
        // A tree that leads in a circle is for `verify` to find, not to go around in.
        if !path.insert(id.to_owned()) {
            break;
        }
        next = parents.get(id).copied().flatten();
    }
    path
}
