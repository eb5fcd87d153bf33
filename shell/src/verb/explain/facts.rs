//! What is known of a request, its thread, its agent and its directory.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use quixos_runtime::{Action, CallError, ObjectRef};
use serde_json::Value;

use crate::scope::{Scope, instant_text};

/// How far back the history is searched for who did something last.
const BACK: usize = 5_000;

/// How many targets of an edge are looked at.
const MOST: usize = 10_000;

/// What is known of a request.
#[derive(Clone, Debug)]
pub(super) struct RequestFacts {
    pub(super) now: DateTime<Utc>,
    pub(super) request: String,
    pub(super) progress: Value,
    pub(super) admission: Value,
    pub(super) thread: String,
    pub(super) thread_data: Value,
    /// The request that is active in the thread, and its progress.
    pub(super) active: Option<(String, Value)>,
    /// Requests of the thread that are not terminal and were admitted before.
    pub(super) ahead: Vec<String>,
    pub(super) agent: String,
    pub(super) agent_data: Value,
    pub(super) directory_data: Value,
    pub(super) questions: Vec<(String, Value)>,
    pub(super) correction: Option<String>,
    /// The newest call on the request, its items and its questions: its last sign of life.
    pub(super) last: Option<LastCall>,
    /// The newest claim of it.
    pub(super) claim: Option<LastCall>,
}

/// An entry of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LastCall {
    pub(super) what: String,
    pub(super) actor: String,
    pub(super) at: String,
    pub(super) commit: u64,
}

/// Reads a text of a record.
pub(crate) fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Reads a number of a record.
pub(super) fn number(value: &Value, field: &str) -> u64 {
    value.get(field).and_then(Value::as_u64).unwrap_or_default()
}

/// Reads a bool of a record.
pub(super) fn flag(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool).unwrap_or_default()
}

/// Reads a JSON array of strings that is kept as a string.
pub(super) fn words(value: &Value, field: &str) -> Vec<String> {
    serde_json::from_str(text(value, field)).unwrap_or_default()
}

impl RequestFacts {
    /// Returns the fence that is stored.
    pub(super) fn fence(&self) -> String {
        let attempt = serde_json::json!(text(&self.progress, "attempt"));
        format!("attempt: {attempt}, generation: {}", number(&self.progress, "generation"))
    }

    /// Returns the profile that the request was admitted with.
    pub(super) fn profile(&self) -> Option<String> {
        let configuration: Value =
            serde_json::from_str(text(&self.admission, "configuration")).ok()?;
        configuration.get("profile").and_then(Value::as_str).map(str::to_owned)
    }
}

/// Reads a state of an object.
pub(crate) fn state(scope: &Scope<'_>, object: ObjectRef, name: &str) -> Result<Value, CallError> {
    let atom = scope.atom(object)?;
    let slot = atom.states.iter().find(|it| it.name == name);
    let slot = slot.ok_or_else(|| missing(scope, object, name))?;
    scope.state(object, name, &slot.ty)
}

/// Reads the target of an edge with exactly one.
pub(super) fn one(
    scope: &Scope<'_>,
    object: ObjectRef,
    edge: &str,
) -> Result<ObjectRef, CallError> {
    optional(scope, object, edge)?.ok_or_else(|| missing(scope, object, edge))
}

/// Reads the target of an edge with at most one.
pub(super) fn optional(
    scope: &Scope<'_>,
    object: ObjectRef,
    edge: &str,
) -> Result<Option<ObjectRef>, CallError> {
    Ok(scope.snapshot.edge(object, edge, None, 1)?.first().map(|it| it.object))
}

fn missing(scope: &Scope<'_>, object: ObjectRef, slot: &str) -> CallError {
    CallError::NotFound { what: format!("`{slot}` of {}", scope.text(object)) }
}

/// Reads all that is known of a request.
pub(super) fn request(scope: &Scope<'_>, object: ObjectRef) -> Result<RequestFacts, CallError> {
    let thread = one(scope, object, "thread")?;
    let directory = one(scope, object, "directory")?;
    let agent = one(scope, thread, "agent")?;
    let active = match optional(scope, thread, "active")? {
        Some(active) => Some((scope.text(active), state(scope, active, "progress")?)),
        None => None,
    };
    let questions = scope.snapshot.edge(object, "questions", None, MOST)?;
    let questions =
        questions.iter().map(|it| Ok((scope.text(it.object), state(scope, it.object, "data")?)));
    let admission = state(scope, object, "admission")?;
    let (last, claim) = calls(scope, object)?;
    Ok(RequestFacts {
        now: scope.now,
        request: scope.text(object),
        progress: state(scope, object, "progress")?,
        thread: scope.text(thread),
        thread_data: state(scope, thread, "data")?,
        active,
        ahead: ahead(scope, directory, thread, object)?,
        agent: scope.text(agent),
        agent_data: state(scope, agent, "data")?,
        directory_data: state(scope, directory, "data")?,
        questions: questions.collect::<Result<_, CallError>>()?,
        correction: optional(scope, object, "correction")?.map(|it| scope.text(it)),
        admission,
        last,
        claim,
    })
}

/// The requests of a thread that are pending and were admitted before one; ids sort by creation.
fn ahead(
    scope: &Scope<'_>,
    directory: ObjectRef,
    thread: ObjectRef,
    request: ObjectRef,
) -> Result<Vec<String>, CallError> {
    let mut found = Vec::new();
    for entry in scope.snapshot.edge(directory, "pending", None, MOST)? {
        if entry.object.id < request.id && one(scope, entry.object, "thread")? == thread {
            found.push(scope.text(entry.object));
        }
    }
    Ok(found)
}

/// The newest call on a request, its items and its questions, and the newest claim of it.
fn calls(
    scope: &Scope<'_>,
    request: ObjectRef,
) -> Result<(Option<LastCall>, Option<LastCall>), CallError> {
    let mut own = BTreeSet::from([request]);
    for edge in ["items", "questions"] {
        own.extend(scope.snapshot.edge(request, edge, None, MOST)?.iter().map(|it| it.object));
    }
    let (mut last, mut claim) = (None, None);
    for entry in scope.snapshot.recent_history(BACK)? {
        let touched = entry.touched.iter().any(|it| it.object == request);
        if !touched && !own.contains(&entry.receiver) {
            continue;
        }
        let call = || LastCall {
            what: entry.action.text(scope.definitions()),
            actor: entry.actor.clone(),
            at: instant_text(entry.instant),
            commit: entry.commit,
        };
        if last.is_none() {
            last = Some(call());
        }
        let is_claim = matches!(&entry.action, Action::Call { member, .. } if member == "claim");
        if touched && is_claim {
            claim = Some(call());
            break;
        }
    }
    Ok((last, claim))
}
