//! `session replay`: what a session is by its log alone, now or after its first events.

use quixos_runtime::CallError;
use quixos_session::Reader;
use quixos_session::replay::{Replay, ReplayFault, Stage};
use serde_json::json;

use super::words;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, counted};
use crate::stop::Stop;

/// Folds a log, and compares it with what is stored, or shows what it comes to at an offset.
///
/// # Errors
/// [`Exit::Findings`] when the log cannot be what happened, or differs from what is stored.
pub(super) fn replay(reader: &Reader<'_>, at: Option<u64>) -> Result<Answer, Stop> {
    let length = reader.log_len()?;
    if let Some(at) = at.filter(|at| *at > length) {
        let events = counted(length, "event");
        let message = format!("the log has {events}, and not {at}");
        return Err(CallError::invalid("at", message).into());
    }
    let end = at.unwrap_or(length);
    let mut replay = Replay::default();
    reader.each_event(|logged| {
        if logged.offset >= end {
            return Ok::<_, Stop>(false);
        }
        replay.add(&logged.event).map_err(|fault| impossible(logged.offset, &fault))?;
        Ok(true)
    })?;
    if at.is_some() {
        return Ok(shown(&replay, end));
    }
    let stored = Replay::stored(reader)?;
    match replay.difference(&stored) {
        None => {
            let json = json!({ "ok": true, "events": length });
            let events = counted(length, "event");
            Ok(Answer::new(json).line(format!("{events} come to what is stored")))
        }
        Some(difference) => {
            let failure = Failure::new(Exit::Findings, difference.to_string());
            Err(failure.help("`quixos verify` checks the store; keep a copy of it").into())
        }
    }
}

fn impossible(offset: u64, fault: &ReplayFault) -> Failure {
    Failure::new(Exit::Findings, format!("event {offset} cannot follow those before it: {fault}"))
        .help("`session replay SESSION at N` shows what was before; `verify` checks the store")
}

/// What a session was after its first events.
fn shown(replay: &Replay, at: u64) -> Answer {
    let json = json!({ "at": at, "state": replay });
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let fields = [
        ("start", replay.start.to_owned()),
        ("done", replay.done.to_string()),
        ("cancelled", replay.cancelled.to_string()),
        ("turn", or_none(&replay.turn)),
        ("head", or_none(&replay.head)),
        ("messages", replay.messages.len().to_string()),
        ("ended calls", replay.ended_calls.len().to_string()),
        ("ended decisions", replay.ended_decisions.len().to_string()),
        ("states set", replay.states.to_string()),
        ("configs set", replay.configs.to_string()),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value)).into();
    let answer = Answer::new(json).heading(format!("after {}", counted(at, "event")));
    let answer = answer.fields(fields);
    let stage = |stage: Stage| match stage {
        Stage::Waits => "waits",
        Stage::Runs => "runs",
    };
    let calls = replay.calls.iter().map(|(id, it)| {
        vec![
            id.clone(),
            it.kind.clone(),
            it.handler.clone(),
            format!("attempt {}", it.attempt),
            stage(it.stage).to_owned(),
        ]
    });
    let decisions = replay.decisions.iter().map(|(id, it)| {
        let delivery = format!("delivery {}", it.attempts);
        vec![id.clone(), it.kind.clone(), "worker".to_owned(), delivery, stage(it.stage).to_owned()]
    });
    let interrupts = replay.interrupts.iter().map(|(id, it)| {
        let reason = words::quoted(&it.reason, 40);
        vec![id.clone(), "interrupt".to_owned(), it.origin.clone(), reason, String::new()]
    });
    let sends = replay.sends.iter().map(|(id, session)| {
        vec![id.clone(), "message".to_owned(), session.clone(), String::new(), String::new()]
    });
    let rows: Vec<Vec<String>> = calls.chain(decisions).chain(interrupts).chain(sends).collect();
    answer.table(&["under way", "kind", "with", "", ""], rows)
}
