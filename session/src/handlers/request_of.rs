//! `session_request_of`: the `DecisionRequest` of a decision that is live, as its worker reads it.
//!
//! All of it is what the session was when the decision went live, so that each delivery says the
//! same but for its number and its deadline.

use std::collections::BTreeMap;

use quixos_protocol::{
    AgentConfig, DecisionRequest, Message, MessageTree, TreeNode, WorkerIdentity,
};
use quixos_runtime::CallError;
use serde_json::Value;

use crate::Sessions;
use crate::past::Past;
use crate::propose::{Situation, proposal};
use crate::sessions::session_request_of::{Context, Handler, Input, Output};
use crate::sessions::{Binding, DecisionData, Frozen};
use crate::status::PENDING;
use crate::stored;
use crate::trigger::Scene;
use crate::{messages, retry, versions};

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, id: Input) -> Result<Output, CallError> {
        let (binding, live) = (cx.binding().read()?, cx.live().read()?);
        let decision = live
            .decisions
            .iter()
            .find(|decision| decision.id == id && decision.status == PENDING)
            .ok_or_else(|| CallError::NotFound { what: format!("a live decision `{id}`") })?;
        let frozen = decision.frozen.as_ref().ok_or_else(|| CallError::Corrupt {
            message: format!("decision `{id}` is live, and nothing says what it was made from"),
        })?;
        let head = frozen.head.as_deref();
        let (message_tree, path) = tree(cx, frozen)?;
        let config: Option<AgentConfig> = versions::numbered(cx, "agent", frozen.agent)?
            .map(|config| stored::read(config, "an agent config"))
            .transpose()?;
        let kept = stored::trigger_of(cx, decision)?;
        let configured = kept.configured().cloned();
        let scene = Scene { past: cx, live: &live, head, path: &path };
        let trigger = scene.trigger(kept)?;
        let situation = Situation {
            past: cx,
            decision: &id,
            head,
            path: &path,
            config: config.as_ref(),
            configured: configured.as_ref(),
            model_retry: retry::wire(&frozen.model_retry),
            stream: frozen.stream,
            pending_calls: frozen.pending_calls,
            busy: frozen.busy,
        };
        let proposed = proposal(&situation, &trigger)?;
        let request = DecisionRequest {
            session_id: binding.session_id.clone(),
            decision_id: id.clone(),
            agent_id: binding.agent_id.clone(),
            identity: identity(&binding)?,
            trigger,
            proposed,
            state: versions::numbered(cx, "state", frozen.state)?.unwrap_or(Value::Null),
            agent: config,
            calls: stored::read_text(&frozen.calls, "calls")?,
            pending_calls: usize::try_from(frozen.pending_calls).unwrap_or(usize::MAX),
            messages: path,
            message_tree,
            ancestry: binding.ancestry,
            attempts: decision.attempts,
            deadline: deadline(decision),
            turn_id: decision.turn.clone(),
        };
        stored::json_text(&request)
    }
}

fn deadline(decision: &DecisionData) -> Option<String> {
    decision.deadline.clone()
}

fn identity(binding: &Binding) -> Result<WorkerIdentity, CallError> {
    let metadata: BTreeMap<String, String> = stored::read_text(&binding.metadata, "metadata")?;
    Ok(WorkerIdentity {
        id: Some(binding.owner_id.clone()).filter(|id| !id.is_empty()),
        metadata: Some(metadata).filter(|metadata| !metadata.is_empty()),
    })
}

/// Returns the tree as it was, and the path to the head that it had.
fn tree(past: &impl Past, frozen: &Frozen) -> Result<(MessageTree, Vec<Message>), CallError> {
    let mut nodes = Vec::new();
    let mut places = BTreeMap::new();
    for node in past.nodes()?.into_iter().filter(|node| node.index < frozen.nodes) {
        places.insert(node.id.clone(), nodes.len());
        nodes.push(TreeNode { message: messages::message(&node)?, parent_id: node.parent });
    }
    let mut path = Vec::new();
    let mut next = frozen.head.as_ref();
    while let Some(node) = next.and_then(|id| places.get(id)).and_then(|&at| nodes.get(at)) {
        path.push(node.message.clone());
        next = node.parent_id.as_ref();
    }
    path.reverse();
    Ok((MessageTree { nodes, head_id: frozen.head.clone() }, path))
}
