//! Words for what a session waits for, and for what was said in it.

use chrono::{DateTime, Utc};
use quixos_protocol::{Message, ToolCall};
use quixos_session::standing::{Hold, Standing, Step};
use serde_json::Value;

use super::super::explain::{length, when};

/// How many letters of a message are shown.
pub(crate) const LETTERS: usize = 100;

/// Returns what a session waits for, in a few words.
pub(crate) fn brief(hold: &Hold, now: DateTime<Utc>) -> String {
    match hold {
        Hold::Unclaimed => "an engine".to_owned(),
        Hold::Lapsed { engine, .. } => format!("another engine: `{engine}` is gone"),
        Hold::Interrupt { id, reason, .. } => format!("an answer to {id}: {}", cut(reason, 40)),
        Hold::Decision { kind, step, attempts, due, .. } => match step {
            Step::Queued => format!("its turn: {kind}"),
            Step::Pending if *attempts > 1 => {
                format!("the worker: {kind}, delivery {attempts}{}", until(due.as_deref(), now))
            }
            Step::Pending => format!("the worker: {kind}{}", until(due.as_deref(), now)),
            Step::RetryScheduled => {
                format!("the next delivery of {kind}{}", until(due.as_deref(), now))
            }
        },
        Hold::Call { id, name, session, step, due, handler, kind, .. } => {
            let what = match (session, kind.as_str(), handler.as_str()) {
                (Some(session), _, _) => format!("sub-agent {name} in {session}"),
                (None, "llm_call", _) => format!("model {name}"),
                (None, _, "client") => format!("the client: tool {name} ({id})"),
                (None, _, _) => format!("tool {name}"),
            };
            match step {
                Step::Queued => format!("its turn: {what}"),
                Step::Pending => format!("{what}{}", until(due.as_deref(), now)),
                Step::RetryScheduled => {
                    format!("the next try of {what}{}", until(due.as_deref(), now))
                }
            }
        }
        Hold::Send { session, .. } => format!("the delivery to {session}"),
    }
}

/// `, 5s left`, or how long ago time ran out.
fn until(due: Option<&str>, now: DateTime<Utc>) -> String {
    match due.and_then(|due| DateTime::parse_from_rfc3339(due).ok()) {
        Some(due) if due > now => format!(", {} left", length(due.to_utc() - now)),
        Some(due) => format!(", due {} ago", length(now - due.to_utc())),
        None => String::new(),
    }
}

/// Returns the engine that has taken a session, and whether it lives.
pub(crate) fn engine(standing: &Standing, now: DateTime<Utc>) -> String {
    let until = standing.lease.as_deref();
    let lease = match until.map(|until| (until, DateTime::parse_from_rfc3339(until))) {
        Some((text, Ok(until))) if until > now => format!("lives until {}", when(text, now)),
        Some((text, _)) => format!("lived until {}", when(text, now)),
        None => "nobody knows whether it lives".to_owned(),
    };
    format!("{}, claim {}, {lease}", standing.engine, standing.generation)
}

/// Returns what a message says, on one line: its text, and the tools that it calls.
pub(crate) fn said(message: &Message) -> String {
    let text = message.content.as_ref().map(|content| content.text().into_owned());
    let text = text.filter(|text| !text.is_empty()).map(|text| quoted(&text, LETTERS));
    let calls = (!message.tool_calls.is_empty()).then(|| called(&message.tool_calls));
    match (text, calls) {
        (Some(text), Some(calls)) => format!("{text}, calls {calls}"),
        (Some(text), None) => text,
        (None, Some(calls)) => format!("calls {calls}"),
        (None, None) => "nothing".to_owned(),
    }
}

fn called(calls: &[ToolCall]) -> String {
    calls.iter().map(|call| call.function.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns a text in quotes, on one line, cut off where it is too long.
pub(crate) fn quoted(text: &str, letters: usize) -> String {
    Value::from(cut(text, letters)).to_string()
}

/// Returns the beginning of a text.
pub(crate) fn cut(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a value on one line, cut off where it is too long.
pub(crate) fn value(value: &Value, letters: usize) -> String {
    cut(&value.to_string(), letters)
}

/// Returns an id as a command takes it.
pub(crate) fn id(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let is_flag = id.starts_with("--");
    let is_word = !id.is_empty() && !is_flag && id.chars().all(plain);
    if is_word { id.to_owned() } else { Value::from(id).to_string() }
}

/// Returns what was used and what it cost, in a line; nothing if nothing was.
pub(crate) fn spent(counts: &Value, cost: &str) -> Option<String> {
    let counts = counts.as_object().into_iter().flatten();
    let mut parts: Vec<String> =
        counts.filter(|(_, it)| it.is_number()).map(|(name, it)| format!("{name} {it}")).collect();
    if !matches!(cost, "" | "0") {
        parts.push(format!("${cost}"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}
