//! `registry_send`: delivers a message of one session to another, as a turn of its own.
//!
//! What cannot be delivered is told to the sender and to nobody else.

use quixos_package::agent_runtime::AgentRequestObject;
use quixos_protocol::{DraftMessage, Role};
use quixos_runtime::{CallError, Ref};

use crate::Sessions;
use crate::sessions::registry_send::{Context, Handler, Input, Output};
use crate::sessions::{Receive, SendData, Sent, SessionObject};
use crate::stored;

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let Input { sender, fence, id } = input;
        let live = cx.session(sender).live()?;
        let error = match live.sends.iter().find(|send| send.id == id) {
            Some(send) => deliver(cx, sender, send)?.err(),
            // It is gone already: the step finds nothing to do.
            None => None,
        };
        cx.session(sender).sent(&Sent { fence, id, error })
    }
}

/// Delivers a message, or says why it is not to be delivered.
fn deliver(
    cx: &Context<'_>,
    sender: Ref<SessionObject>,
    send: &SendData,
) -> Result<Result<(), String>, CallError> {
    let message: DraftMessage = stored::read_text(&send.message, "a message")?;
    if message.role != Role::User {
        return Ok(Err("only messages of users are delivered".to_owned()));
    }
    let target = cx.registry(cx.receiver()).sessions_at(&send.session)?.first().copied();
    let Some(target) = target else { return Ok(Err("there is no such session".to_owned())) };
    let (from, to) = (cx.session(sender).binding()?, cx.session(target).binding()?);
    if (&from.tenant, &from.owner_id) != (&to.tenant, &to.owner_id) {
        // Not even that it exists.
        return Ok(Err("there is no such session".to_owned()));
    }
    let cause = cause(cx, sender, send)?;
    let depth = match cause {
        Some(request) => cx.work(request).admission()?.causal_depth.saturating_add(1),
        None => 0,
    };
    let received = cx.session(target).receive(&Receive {
        turn: send.id.clone(),
        message: send.message.clone(),
        request: None,
        sender: cause,
        causal_depth: depth,
        trace: cx.session(sender).data()?.turn.and_then(|turn| turn.trace),
    });
    match received {
        Ok(_) => Ok(Ok(())),
        Err(CallError::Refused { reason }) => Ok(Err(reason)),
        Err(error) => Err(error),
    }
}

/// Returns the request that a session sends from: that of the turn which sent, else that of the active
/// one, else its last one.
fn cause(
    cx: &Context<'_>,
    sender: Ref<SessionObject>,
    send: &SendData,
) -> Result<Option<Ref<AgentRequestObject>>, CallError> {
    if let Some(turn) = &send.turn
        && let Some(request) = cx.session(sender).turns_at(turn)?.first()
    {
        return Ok(Some(*request));
    }
    match cx.session(sender).request()? {
        Some(request) => Ok(Some(request)),
        None => Ok(cx.session(sender).data()?.last),
    }
}
