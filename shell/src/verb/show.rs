//! `show`: an object, all of it: its state, its edges, its inverses, its streams, what holds it.

use quixos_runtime::{CallError, EdgeEntry, Holder, ObjectRef};
use quixos_schema::{Atom, Cardinality};
use serde_json::{Map, Value, json};

use crate::output::{Answer, counted};
use crate::scope::{Scope, instant_text};

/// How many targets of an edge, and how many holders, are shown.
const MOST: usize = 20;

/// Shows an object.
///
/// # Errors
/// `not-found` when it is not there; that the store cannot be read.
pub(crate) fn show(scope: &Scope<'_>, object: ObjectRef) -> Result<Answer, CallError> {
    let atom = scope.atom(object)?;
    let text = scope.text(object);
    let Some(created) = scope.snapshot.created(object)? else {
        return Err(CallError::NotFound { what: text });
    };
    let answer = Answer::new(Value::Null).heading(text.clone()).fields(vec![
        ("atom".to_owned(), atom.name.clone()),
        (
            "created".to_owned(),
            format!("{}, commit {}", instant_text(created.instant), created.commit),
        ),
    ]);
    let (states, answer) = states(scope, object, atom, answer)?;
    let (edges, answer) = edges(scope, object, atom, answer)?;
    let (inverses, answer) = inverses(scope, object, atom, answer)?;
    let (streams, answer) = streams(scope, object, atom, answer)?;
    let (holders, mut answer) = holders(scope, object, answer)?;
    answer.json = json!({
        "object": text,
        "atom": atom.name,
        "created": { "instant": instant_text(created.instant), "commit": created.commit },
        "state": states,
        "edges": edges,
        "inverses": inverses,
        "streams": streams,
        "holders": holders,
    });
    Ok(answer)
}

fn states(
    scope: &Scope<'_>,
    object: ObjectRef,
    atom: &Atom,
    mut answer: Answer,
) -> Result<(Value, Answer), CallError> {
    let mut json = Map::new();
    for slot in &atom.states {
        let value = scope.state(object, &slot.name, &slot.ty)?;
        let fields = match value.as_object() {
            Some(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), line(value))).collect()
            }
            None => vec![("$".to_owned(), line(&value))],
        };
        answer = answer.heading(format!("state {}", slot.name)).fields(fields);
        json.insert(slot.name.clone(), value);
    }
    Ok((Value::Object(json), answer))
}

/// A value on one line, a string without quotes where that is clear.
fn line(value: &Value) -> String {
    let plain = |text: &&str| !text.is_empty() && text.chars().all(|c| !c.is_control());
    if value.is_null() {
        return "none".to_owned();
    }
    value.as_str().filter(plain).map_or_else(|| value.to_string(), str::to_owned)
}

fn edges(
    scope: &Scope<'_>,
    object: ObjectRef,
    atom: &Atom,
    answer: Answer,
) -> Result<(Value, Answer), CallError> {
    let mut json = Map::new();
    let mut rows = Vec::new();
    for slot in &atom.edges {
        let single = slot.shape.cardinality != Cardinality::ManyUnique;
        json.insert(slot.name.clone(), targets(scope, object, &slot.name, single, &mut rows)?);
    }
    Ok((Value::Object(json), section(answer, "edges", rows)))
}

fn inverses(
    scope: &Scope<'_>,
    object: ObjectRef,
    atom: &Atom,
    answer: Answer,
) -> Result<(Value, Answer), CallError> {
    let mut json = Map::new();
    let mut rows = Vec::new();
    for slot in &atom.inverses {
        json.insert(slot.name.clone(), targets(scope, object, &slot.name, false, &mut rows)?);
    }
    Ok((Value::Object(json), section(answer, "inverses", rows)))
}

fn section(answer: Answer, title: &str, rows: Vec<(String, String)>) -> Answer {
    if rows.is_empty() { answer } else { answer.heading(title).fields(rows) }
}

/// The targets of an edge, a row each, and as JSON.
fn targets(
    scope: &Scope<'_>,
    object: ObjectRef,
    name: &str,
    single: bool,
    rows: &mut Vec<(String, String)>,
) -> Result<Value, CallError> {
    let mut entries = scope.snapshot.edge(object, name, None, MOST + 1)?;
    let more = entries.len() > MOST;
    entries.truncate(MOST);
    for EdgeEntry { key, object } in &entries {
        let name = match key {
            Some(key) => format!("{name}[{key}]"),
            None => name.to_owned(),
        };
        rows.push((name, scope.text(*object)));
    }
    if entries.is_empty() {
        rows.push((name.to_owned(), "none".to_owned()));
    }
    if more {
        rows.push((name.to_owned(), format!("and more than these {MOST}")));
    }
    if single {
        let target = entries.first().map(|it| Value::String(scope.text(it.object)));
        return Ok(target.unwrap_or(Value::Null));
    }
    Ok(json!({ "targets": scope.entries(&entries), "more": more }))
}

fn streams(
    scope: &Scope<'_>,
    object: ObjectRef,
    atom: &Atom,
    answer: Answer,
) -> Result<(Value, Answer), CallError> {
    let mut json = Map::new();
    let mut rows = Vec::new();
    for slot in &atom.streams {
        let length = scope.snapshot.stream_len(object, &slot.name)?;
        let cursors = scope.snapshot.cursors(object, &slot.name)?;
        rows.push((slot.name.clone(), counted(length, "event")));
        for (cursor, offset) in &cursors {
            rows.push((String::new(), format!("cursor `{cursor}` at {offset}")));
        }
        let cursors: Map<_, _> = cursors.into_iter().map(|(name, at)| (name, json!(at))).collect();
        json.insert(slot.name.clone(), json!({ "length": length, "cursors": cursors }));
    }
    Ok((Value::Object(json), section(answer, "streams", rows)))
}

fn holders(
    scope: &Scope<'_>,
    object: ObjectRef,
    answer: Answer,
) -> Result<(Value, Answer), CallError> {
    let mut holders = scope.snapshot.holders(object, None, MOST + 1)?;
    let more = holders.len() > MOST;
    holders.truncate(MOST);
    let named = |holder: &Holder| match &holder.key {
        Some(key) => format!("{}[{key}]", holder.edge),
        None => holder.edge.clone(),
    };
    let mut rows: Vec<_> =
        holders.iter().map(|holder| (named(holder), scope.text(holder.source))).collect();
    if more {
        rows.push((String::new(), format!("and more than these {MOST}")));
    }
    let json: Vec<Value> = holders
        .iter()
        .map(|it| json!({ "object": scope.text(it.source), "edge": it.edge, "key": it.key }))
        .collect();
    Ok((json!({ "targets": json, "more": more }), section(answer, "held by", rows)))
}
