//! `read` and `cursor`: the events of a stream, and how far a reader has come.

use quixos_runtime::{CallError, Event, Layout, ObjectRef};
use quixos_schema::Type;
use serde_json::{Value, json};

use crate::output::{Answer, counted};
use crate::scope::{Scope, instant_text};

/// How many events are read when nobody says.
const FEW: usize = 20;

/// Reads events.
///
/// # Errors
/// That the store cannot be read.
pub(crate) fn read(
    scope: &Scope<'_>,
    object: ObjectRef,
    stream: &str,
    from: u64,
    limit: Option<usize>,
) -> Result<Answer, CallError> {
    let limit = limit.unwrap_or(FEW);
    let length = scope.snapshot.stream_len(object, stream)?;
    let events = scope.snapshot.events(object, stream, from, limit)?;
    let ty = event_type(scope, object, stream)?;
    let mut json = Vec::new();
    let mut rows = Vec::new();
    for event in &events {
        let value = event_value(scope, object, stream, &ty, event)?;
        rows.push(event_row(event, &value));
        json.push(event_json(event, &value));
    }
    let next = events.last().map_or(from.min(length), |last| last.offset + 1);
    let answer = Answer::new(json!({ "events": json, "next": next, "length": length }))
        .table(&["offset", "when", "event"], rows);
    Ok(if events.is_empty() {
        answer.line(format!("no event from {from} on; the stream has {length}"))
    } else if next < length {
        answer.line(format!("more: from {next}; the stream has {length}"))
    } else {
        answer
    })
}

/// Returns the type of the events of a stream.
///
/// # Errors
/// When the atom has no such stream.
pub(crate) fn event_type(
    scope: &Scope<'_>,
    object: ObjectRef,
    stream: &str,
) -> Result<Type, CallError> {
    let slot = scope.atom(object)?.streams.iter().find(|it| it.name == stream);
    slot.map(|it| it.ty.clone())
        .ok_or_else(|| CallError::NotFound { what: format!("the stream `{stream}`") })
}

/// Returns an event as JSON.
///
/// # Errors
/// `corrupt`.
pub(crate) fn event_value(
    scope: &Scope<'_>,
    object: ObjectRef,
    stream: &str,
    ty: &Type,
    event: &Event,
) -> Result<Value, CallError> {
    let value = scope.snapshot.event_value(object, stream, event)?;
    Ok(value.to_json(&Layout::of(scope.definitions(), ty), scope.definitions()))
}

/// An event for people.
pub(crate) fn event_row(event: &Event, value: &Value) -> Vec<String> {
    vec![event.offset.to_string(), instant_text(event.instant), value.to_string()]
}

/// An event for programs.
pub(crate) fn event_json(event: &Event, value: &Value) -> Value {
    json!({
        "offset": event.offset,
        "instant": instant_text(event.instant),
        "commit": event.commit,
        "event": value,
    })
}

/// Shows where a cursor stands.
///
/// # Errors
/// That the store cannot be read.
pub(crate) fn cursor(
    scope: &Scope<'_>,
    object: ObjectRef,
    stream: &str,
    name: &str,
) -> Result<Answer, CallError> {
    let length = scope.snapshot.stream_len(object, stream)?;
    let cursors = scope.snapshot.cursors(object, stream)?;
    let events = counted(length, "event");
    let at = cursors.into_iter().find(|(it, _)| it == name).map(|(_, at)| at);
    let answer = Answer::new(json!({ "cursor": name, "at": at, "length": length }));
    Ok(match at {
        Some(at) => answer.line(format!("`{name}` is at {at}; the stream has {events}")),
        None => answer.line(format!("`{name}` was never moved; the stream has {events}")),
    })
}
