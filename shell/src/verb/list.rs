//! `list`: the objects of an atom, with the part of their state that tells them apart.

use quixos_runtime::{CallError, ObjectRef};
use quixos_schema::AtomIndex;
use serde_json::{Map, Value, json};
use ulid::Ulid;

use crate::names::reference_length;
use crate::output::Answer;
use crate::scope::{Scope, instant_text};

/// How many are listed when nobody says.
const FEW: usize = 20;

/// What tells the objects of an atom apart: `state.field`, or `state`. Of other atoms the first
/// fields are shown.
const TELLING: &[(&str, &[&str])] = &[
    ("atom:org.quixos.agent:directory", &["data.availability", "data.pending", "data.profiles"]),
    ("atom:org.quixos.agent:agent", &["data.name", "data.enabled"]),
    ("atom:org.quixos.agent:thread", &["data.title", "data.kind", "data.archived", "data.pending"]),
    (
        "atom:org.quixos.agent:request",
        &["progress.status", "progress.attempt", "progress.generation", "admission.text"],
    ),
    ("atom:org.quixos.agent:item", &["data.key", "data.kind", "data.phase", "data.version"]),
    ("atom:org.quixos.agent:question", &["data.key", "data.status", "data.title"]),
];

/// How many fields are shown of an atom that is not in the table.
const FIRST: usize = 4;

/// How many letters of a field are shown.
const LETTERS: usize = 40;

/// Lists objects, in the order of their creation or the newest first; those after one in that order.
///
/// # Errors
/// That the store cannot be read.
pub(crate) fn list(
    scope: &Scope<'_>,
    at: AtomIndex,
    limit: Option<usize>,
    after: Option<Ulid>,
    newest: bool,
) -> Result<Answer, CallError> {
    let limit = limit.unwrap_or(FEW);
    let atom = scope.definitions().atom(at);
    let most = limit.saturating_add(1);
    let mut objects = if newest {
        scope.snapshot.recent_objects(atom.tag, after, most)?
    } else {
        scope.snapshot.objects(atom.tag, after, most)?
    };
    let more = objects.len() > limit;
    objects.truncate(limit);
    let mut json = Vec::new();
    let mut rows = Vec::new();
    for object in &objects {
        let created = scope.snapshot.created(*object)?;
        let created = created.map(|it| instant_text(it.instant)).unwrap_or_default();
        let telling = telling(scope, *object)?;
        let fields: Vec<String> =
            telling.iter().map(|(name, value)| format!("{name}={}", brief(value))).collect();
        rows.push(vec![scope.text(*object), created.clone(), fields.join(" ")]);
        let fields: Map<_, _> = telling.into_iter().collect();
        json.push(json!({ "object": scope.text(*object), "created": created, "fields": fields }));
    }
    let next = objects.last().filter(|_| more).map(|last| scope.text(*last));
    let answer = Answer::new(json!({ "objects": json, "more": more, "next": next }))
        .table(&["object", "created", ""], rows);
    Ok(match next {
        Some(last) if newest => {
            answer.line(format!("more: `list {} after {last} --newest`", atom.name))
        }
        Some(last) => answer.line(format!("more: `list {} after {last}`", atom.name)),
        None if objects.is_empty() => answer.line(format!("no `{}`", atom.name)),
        None => answer,
    })
}

/// What tells an object apart: names and values.
///
/// # Errors
/// That the store cannot be read.
pub(crate) fn telling(
    scope: &Scope<'_>,
    object: ObjectRef,
) -> Result<Vec<(String, Value)>, CallError> {
    let atom = scope.atom(object)?;
    let mut states = Vec::new();
    for slot in &atom.states {
        states.push((slot.name.as_str(), scope.state(object, &slot.name, &slot.ty)?));
    }
    let chosen = TELLING.iter().find(|(id, _)| *id == atom.id).map(|(_, fields)| *fields);
    let Some(chosen) = chosen else {
        let fields = states.into_iter().flat_map(|(name, value)| match value.as_object() {
            Some(fields) => fields.clone().into_iter().collect(),
            None => vec![(name.to_owned(), value)],
        });
        return Ok(fields.take(FIRST).collect());
    };
    Ok(chosen
        .iter()
        .filter_map(|path| {
            let (slot, field) = path.split_once('.').unwrap_or((path, ""));
            let (_, state) = states.iter().find(|(name, _)| *name == slot)?;
            let value = if field.is_empty() { state } else { state.get(field)? };
            Some((field.to_owned(), value.clone()))
        })
        .collect())
}

/// A value in a few letters, on one line. A reference is never cut: it may be shown by a name.
pub(crate) fn brief(value: &Value) -> String {
    let reference = |text: &str| reference_length(text) == Some(text.len());
    let plain = |text: &&str| {
        let simple = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        reference(text) || !text.is_empty() && text.chars().all(simple)
    };
    let text = value.as_str().filter(plain).map_or_else(|| value.to_string(), str::to_owned);
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) if !reference(&text) => format!("{}…", &text[..end]),
        _ => text,
    }
}
