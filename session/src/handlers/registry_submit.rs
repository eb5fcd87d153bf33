//! `registry_submit`: submits to a session, which the first input that begins a turn makes.
//!
//! A refusal takes the session with it that would have been made.

use std::collections::BTreeMap;

use quixos_package::agent_runtime::AgentDirectoryCreateThreadInput;
use quixos_runtime::{CallError, Ref};

use crate::Sessions;
use crate::agents;
use crate::instant;
use crate::machine::read_input;
use crate::new_session::{Place, new_session};
use crate::sessions::registry_submit::{Context, Handler, Input, Output};
use crate::sessions::{Binding, SessionObject, Submit};
use crate::shelf;

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let Input { by, session_id, metadata, input, followed, trace } = input;
        let given = read_input(&input)?;
        let metadata_is_read = serde_json::from_str::<BTreeMap<String, String>>(&metadata);
        if let Err(error) = metadata_is_read {
            return Err(CallError::invalid("metadata", error.to_string()));
        }
        if session_id.trim().is_empty() {
            return Err(CallError::invalid("sessionId", "must not be blank"));
        }
        let known = cx.registry(cx.receiver()).sessions_at(&session_id)?.first().copied();
        let session = match (known, given.agent_id()) {
            (Some(session), _) => session,
            (None, Some(agent_id)) => {
                let binding = Binding {
                    session_id,
                    agent_id: agent_id.to_owned(),
                    tenant: by.tenant.clone(),
                    owner_id: by.owner_id.clone(),
                    metadata,
                    ancestry: Vec::new(),
                    delegation: String::new(),
                    created_at: instant::text(cx.instant()),
                };
                create(cx, binding)?
            }
            (None, None) => {
                return Err(CallError::NotFound { what: format!("a session `{session_id}`") });
            }
        };
        let outcome = cx.session(session).submit(&Submit { by, input, followed, trace })?;
        Ok(Output { session, outcome })
    }
}

fn create(cx: &Context<'_>, binding: Binding) -> Result<Ref<SessionObject>, CallError> {
    if binding.owner_id.trim().is_empty() {
        return Err(CallError::invalid("by.ownerId", "must not be blank"));
    }
    let directory = cx.registry(cx.receiver()).directory()?;
    let agents = cx.directory(directory).agents()?;
    let agent = agents::named(&binding.agent_id, agents, |it| Ok(cx.agent(it).data()?.name))??;
    let thread = cx.directory(directory).create_thread(&AgentDirectoryCreateThreadInput {
        agent,
        title: String::new(),
        kind: "session".to_owned(),
        created_at: binding.created_at.clone(),
        contexts: Vec::new(),
    })?;
    let shelved = shelf::prefix(&binding.tenant, &binding.owner_id);
    let place = Place { registry: cx.receiver(), agent, thread, parent: None };
    let session = cx.create_session(&new_session(binding, place))?;
    cx.threads().connect(&cx.reference_text(thread), session)?;
    cx.owned().connect(&format!("{shelved}{}", shelf::place(session)), session)?;
    Ok(session)
}
