//! `registry_adopt`: takes up a request that reached a thread by another door than a session's.
//!
//! A thread without a session gets one, under the thread's own id. The request is its turn, and the
//! request's id the turn's, so that to adopt it twice is to adopt it once.

use quixos_package::agent_runtime::{AgentRequestObject, AgentThreadObject};
use quixos_protocol::DraftMessage;
use quixos_runtime::{CallError, Ref};

use crate::Sessions;
use crate::instant;
use crate::new_session::{Place, new_session};
use crate::reference::object_id;
use crate::sessions::registry_adopt::{Context, Handler, Input, Output};
use crate::sessions::{Binding, Receive, SessionObject};
use crate::stored;

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let Input { agent_id, tenant, request } = input;
        let thread = cx.work(request).thread()?;
        let name = cx.reference_text(thread);
        let session = match cx.threads().get(&name)? {
            Some(session) => session,
            None => create(cx, thread, &name, agent_id, tenant)?,
        };
        let turn = object_id(&cx.reference_text(request)).to_owned();
        let is_new = !is_known(cx, session, request, &turn)?;
        if is_new && cx.work(request).progress()?.status == "queued" {
            let admission = cx.work(request).admission()?;
            cx.session(session).receive(&Receive {
                turn,
                message: stored::json_text(&DraftMessage::user(admission.text))?,
                request: Some(request),
                sender: None,
                causal_depth: admission.causal_depth,
                trace: None,
            })?;
        }
        Ok(session)
    }
}

/// Says whether a request is a turn of a session already, under whichever id.
fn is_known(
    cx: &Context<'_>,
    session: Ref<SessionObject>,
    request: Ref<AgentRequestObject>,
    turn: &str,
) -> Result<bool, CallError> {
    let session = cx.session(session);
    Ok(session.request()? == Some(request)
        || session.waiting_contains(request)?
        || !session.turns_at(turn)?.is_empty())
}

fn create(
    cx: &Context<'_>,
    thread: Ref<AgentThreadObject>,
    name: &str,
    agent_id: String,
    tenant: String,
) -> Result<Ref<SessionObject>, CallError> {
    let session_id = object_id(name).to_owned();
    if !cx.registry(cx.receiver()).sessions_at(&session_id)?.is_empty() {
        let message = format!("a session `{session_id}` of another thread is there already");
        return Err(CallError::Conflict { message });
    }
    let binding = Binding {
        owner_id: String::new(),
        session_id,
        agent_id,
        tenant,
        metadata: "{}".to_owned(),
        ancestry: Vec::new(),
        delegation: String::new(),
        created_at: instant::text(cx.instant()),
    };
    let agent = cx.conversation(thread).agent()?;
    let place = Place { registry: cx.receiver(), agent, thread, parent: None };
    let session = cx.create_session(&new_session(binding, place))?;
    cx.threads().connect(name, session)?;
    Ok(session)
}
