//! `registry_spawn`: makes the session that a sub-agent's call asks for, and tells the call.
//!
//! To ask twice is the same as to ask once: a session that is there and is the parent's child
//! counts as made.

use quixos_package::agent_runtime::AgentDirectoryCreateThreadInput;
use quixos_runtime::{CallError, Ref};

use crate::Sessions;
use crate::agents;
use crate::instant;
use crate::new_session::{Place, new_session};
use crate::refusal::Refusal;
use crate::sessions::registry_spawn::{Context, Handler, Input, Output};
use crate::sessions::{Binding, CallData, CallFailure, SessionObject, Spawned};
use crate::status::{PENDING, SUB_AGENT};
use crate::stored::{self, StoredCall};

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let Input { parent, fence, call } = input;
        let error = match waiting(cx, parent, &call)? {
            Some((session_id, agent_id)) => make(cx, parent, &call, session_id, agent_id)?,
            // The call is over, or its session is there: the step finds nothing to do.
            None => None,
        };
        cx.session(parent).spawned(&Spawned { fence, call, error })
    }
}

/// Returns the session and the agent that a call waits for.
fn waiting(
    cx: &Context<'_>,
    parent: Ref<SessionObject>,
    id: &str,
) -> Result<Option<(String, String)>, CallError> {
    let live = cx.session(parent).live()?;
    let waits = |call: &&CallData| {
        call.id == id && call.kind == SUB_AGENT && call.status == PENDING && !call.started
    };
    let Some(call) = live.calls.iter().find(waits) else { return Ok(None) };
    let event = cx.session(parent).events(call.requested, 1)?.pop();
    let payload = event.map(|event| event.payload).unwrap_or_default();
    match stored::read_text(&payload, "a call")? {
        StoredCall::SubAgent { session_id, agent_id } => Ok(Some((session_id, agent_id))),
        StoredCall::ToolCall { .. } | StoredCall::LlmCall { .. } => Ok(None),
    }
}

/// Makes the session, or says why it cannot be made.
fn make(
    cx: &Context<'_>,
    parent: Ref<SessionObject>,
    call: &str,
    session_id: String,
    agent_id: String,
) -> Result<Option<CallFailure>, CallError> {
    let above = cx.session(parent).binding()?;
    let there = cx.registry(cx.receiver()).sessions_at(&session_id)?.first().copied();
    if let Some(there) = there {
        let is_child = cx.session(there).binding()?.ancestry.last() == Some(&above.session_id);
        return Ok((!is_child).then(|| failure("the session belongs to another conversation")));
    }
    let directory = cx.registry(cx.receiver()).directory()?;
    let agents = cx.directory(directory).agents()?;
    let agent = match agents::named(&agent_id, agents, |it| Ok(cx.agent(it).data()?.name))? {
        Ok(agent) => agent,
        Err(Refusal::AmbiguousAgent) => {
            return Ok(Some(failure("several agents have this name")));
        }
        Err(_) => return Ok(Some(failure("there is no such agent"))),
    };
    let mut ancestry = above.ancestry;
    ancestry.push(above.session_id);
    let binding = Binding {
        session_id,
        agent_id,
        tenant: above.tenant,
        owner_id: above.owner_id,
        metadata: above.metadata,
        ancestry,
        delegation: call.to_owned(),
        created_at: instant::text(cx.instant()),
    };
    let thread = cx.directory(directory).create_thread(&AgentDirectoryCreateThreadInput {
        agent,
        title: String::new(),
        kind: "session".to_owned(),
        created_at: binding.created_at.clone(),
        contexts: Vec::new(),
    })?;
    let place = Place { registry: cx.receiver(), agent, thread, parent: Some(parent) };
    let session = cx.create_session(&new_session(binding, place))?;
    cx.threads().connect(&cx.reference_text(thread), session)?;
    Ok(None)
}

fn failure(message: &str) -> CallFailure {
    CallFailure {
        message: message.to_owned(),
        retryable: false,
        code: None,
        detail: None,
        retry_after: None,
    }
}
