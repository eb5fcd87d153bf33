//! `registry_submit`: submits to a session, which the first input that begins a turn makes.
//!
//! A refusal takes the session with it that would have been made. What was submitted under a key is
//! not submitted again: it is told what came of it then.

use std::collections::BTreeMap;

use quixos_package::agent_runtime::AgentDirectoryCreateThreadInput;
use quixos_runtime::{CallError, Ref};

use crate::Sessions;
use crate::agents;
use crate::instant;
use crate::machine::read_input;
use crate::new_session::{Place, new_session};
use crate::receipt;
use crate::sessions::registry_submit::{Context, CreateReceipt, Handler, Input, Output};
use crate::sessions::{Binding, Once, Outcome, ReceiptData, SessionObject, Submit};
use crate::shelf;

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let Input { by, session_id, metadata, input, followed, trace, once } = input;
        let given = read_input(&input)?;
        let metadata_is_read = serde_json::from_str::<BTreeMap<String, String>>(&metadata);
        if let Err(error) = metadata_is_read {
            return Err(CallError::invalid("metadata", error.to_string()));
        }
        if session_id.trim().is_empty() {
            return Err(CallError::invalid("sessionId", "must not be blank"));
        }
        let place = once.as_ref().map(|once| receipt::place(&by, once)).transpose()?;
        if let (Some(once), Some(place)) = (&once, &place)
            && let Some(output) = taken(cx, once, place)?
        {
            return Ok(output);
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
        if let (Some(Once { digest, .. }), Some(place)) = (once, place) {
            let data = ReceiptData { place, digest, turn: outcome.turn.clone(), asked: None };
            cx.create_receipt(&CreateReceipt { data, registry: cx.receiver(), session })?;
        }
        Ok(Output { session, outcome })
    }
}

/// Returns what came of an input that was submitted before.
fn taken(cx: &Context<'_>, once: &Once, place: &str) -> Result<Option<Output>, CallError> {
    let found = cx.registry(cx.receiver()).receipts_at(place)?;
    let Some(receipt) = found.first().map(|&receipt| cx.receipt(receipt)) else { return Ok(None) };
    let known = receipt.data()?;
    receipt::require_same(&known, once)?;
    let session = receipt.session()?;
    let claim = cx.session(session).data()?.claim;
    let turn = known.turn;
    let outcome = Outcome { turn, applied: false, interrupt: None, claim, wake_at: None };
    Ok(Some(Output { session, outcome }))
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
