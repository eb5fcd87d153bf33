//! `session_agenda`: what an engine has to do for a session, and when to look again.

use quixos_runtime::CallError;

use crate::Sessions;
use crate::clock;
use crate::machine::is_awake;
use crate::sessions::session_agenda::{Context, Handler, Input, Output};
use crate::sessions::{Agenda, CallData, Due, Live};
use crate::status::{LLM_CALL, PENDING, SERVER, SUB_AGENT};
use crate::stored::{self, StoredCall};

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, _input: Input) -> Result<Output, CallError> {
        let (binding, data, live) = (cx.binding().read()?, cx.data().read()?, cx.live().read()?);
        Ok(Agenda {
            due: due(cx, &live)?,
            wake_at: clock::wake_at(&live)?,
            awake: is_awake(&data, &live),
            claim: data.claim,
            session_id: binding.session_id,
            turn: data.turn.as_ref().map(|turn| turn.id.clone()),
            trace: data.turn.and_then(|turn| turn.trace),
            agent_id: binding.agent_id,
            tenant: binding.tenant,
            events: cx.events().len()?,
        })
    }
}

fn due(cx: &Context<'_>, live: &Live) -> Result<Vec<Due>, CallError> {
    let decisions = live.decisions.iter().filter(|decision| decision.status == PENDING);
    let mut due: Vec<Due> = decisions
        .map(|decision| Due {
            kind: "deliver".to_owned(),
            id: decision.id.clone(),
            attempt: decision.attempts,
            deadline: decision.deadline.clone(),
        })
        .collect();
    let calls = live.calls.iter().filter(|call| call.status == PENDING);
    due.extend(calls.filter_map(of_call));
    for send in &live.sends {
        if is_there(cx, live, &send.session)? {
            due.push(Due {
                kind: "send".to_owned(),
                id: send.id.clone(),
                attempt: 1,
                deadline: None,
            });
        }
    }
    Ok(due)
}

/// Returns what the engine has to do for a call, if it is the engine's.
fn of_call(call: &CallData) -> Option<Due> {
    let kind = match call.kind.as_str() {
        LLM_CALL if call.handler == SERVER => "model",
        SUB_AGENT if !call.started => "spawn",
        _ => return None,
    };
    Some(Due {
        kind: kind.to_owned(),
        id: call.id.clone(),
        attempt: call.attempt,
        deadline: call.deadline.clone(),
    })
}

/// Says whether a message can go to a session: it waits while that is still to be made.
fn is_there(cx: &Context<'_>, live: &Live, session: &str) -> Result<bool, CallError> {
    for call in live.calls.iter().filter(|call| call.kind == SUB_AGENT && !call.started) {
        if let StoredCall::SubAgent { session_id, .. } = stored::call_of(cx, call)?
            && session_id == session
        {
            return Ok(false);
        }
    }
    Ok(true)
}
