//! `registry_respond`: a client's answers to what a session waits for, and to what sub-agents below
//! it wait for, which is shown with it. All are taken, or none; under a key, once.

use quixos_runtime::{CallError, Ref};

use crate::Sessions;
use crate::receipt;
use crate::refusal::Refusal;
use crate::sessions::registry_respond::{Context, CreateReceipt, Handler, Input, Output};
use crate::sessions::{ActionAnswer, Live, Once, ReceiptData, Respond, SessionObject};
use crate::status::{CLIENT, PENDING, SUB_AGENT};
use crate::stored::{self, StoredCall};

/// What a session is sent that has no new messages.
const NOTHING_NEW: &str = "[]";

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let Input { session_id, respond, once } = input;
        let place = once.as_ref().map(|once| receipt::place(&respond.by, once)).transpose()?;
        if let (Some(once), Some(place)) = (&once, &place)
            && let Some(output) = taken(cx, once, place)?
        {
            return Ok(output);
        }
        let Some(session) = find(cx, &session_id)? else {
            return Err(CallError::NotFound { what: format!("a session `{session_id}`") });
        };
        let mut own = Vec::new();
        let mut others: Vec<(Ref<SessionObject>, ActionAnswer)> = Vec::new();
        for answer in respond.answers {
            match home(cx, session, &answer.action)? {
                Some(below) if below != session => others.push((below, answer)),
                // Who waits for nothing of this name says so.
                Some(_) | None => own.push(answer),
            }
        }
        let active = cx.session(session).data()?.turn;
        let asked = active.as_ref().and_then(|turn| turn.asked);
        let mut turn = active.map(|turn| turn.id);
        if !others.is_empty() && respond.messages.trim() != NOTHING_NEW {
            // The messages are for this session, in which nothing was answered that they follow.
            return Err(turn.map_or(Refusal::NoActiveTurn, Refusal::TurnAlreadyActive).into());
        }
        let has_others = !others.is_empty();
        for (below, answer) in others {
            cx.session(below).respond(&Respond {
                by: respond.by.clone(),
                answers: vec![answer],
                messages: NOTHING_NEW.to_owned(),
                client: "{}".to_owned(),
                stream: None,
                // An answer begins no turn.
                trace: None,
            })?;
        }
        if !own.is_empty() || !has_others {
            let respond = Respond { answers: own, ..respond };
            turn = cx.session(session).respond(&respond)?.turn.or(turn);
        }
        if let (Some(Once { digest, .. }), Some(place)) = (once, place) {
            let data = ReceiptData { place, digest, turn: turn.clone(), asked };
            cx.create_receipt(&CreateReceipt { data, registry: cx.receiver(), session })?;
        }
        Ok(Output { session, turn, asked, applied: true })
    }
}

/// Returns what came of answers that were given before.
fn taken(cx: &Context<'_>, once: &Once, place: &str) -> Result<Option<Output>, CallError> {
    let found = cx.registry(cx.receiver()).receipts_at(place)?;
    let Some(receipt) = found.first().map(|&receipt| cx.receipt(receipt)) else { return Ok(None) };
    let known = receipt.data()?;
    receipt::require_same(&known, once)?;
    let (turn, asked) = (known.turn, known.asked);
    Ok(Some(Output { session: receipt.session()?, turn, asked, applied: false }))
}

fn find(cx: &Context<'_>, id: &str) -> Result<Option<Ref<SessionObject>>, CallError> {
    Ok(cx.registry(cx.receiver()).sessions_at(id)?.first().copied())
}

/// Returns the session that waits for an answer: this one, or one that it delegates to.
fn home(
    cx: &Context<'_>,
    session: Ref<SessionObject>,
    action: &str,
) -> Result<Option<Ref<SessionObject>>, CallError> {
    let mut left = vec![session];
    while let Some(session) = left.pop() {
        let live = cx.session(session).live()?;
        if waits_for(&live, action) {
            return Ok(Some(session));
        }
        for call in live.calls.iter().filter(|call| call.kind == SUB_AGENT && call.started) {
            let event = cx.session(session).events(call.requested, 1)?.pop();
            let payload = event.map(|event| event.payload).unwrap_or_default();
            if let StoredCall::SubAgent { session_id, .. } = stored::read_text(&payload, "a call")?
            {
                left.extend(find(cx, &session_id)?);
            }
        }
    }
    Ok(None)
}

fn waits_for(live: &Live, action: &str) -> bool {
    let is_asked = live.interrupts.iter().any(|open| open.id == action);
    let mut calls = live.calls.iter();
    is_asked || calls.any(|it| it.id == action && it.handler == CLIENT && it.status == PENDING)
}
