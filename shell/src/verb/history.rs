//! `history`: the committed calls, and whether their chain is whole.

use std::collections::VecDeque;

use quixos_runtime::{Action, CallError, HistoryEntry, ObjectRef, Snapshot};
use quixos_schema::Definitions;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::scope::{Scope, instant_text};

/// How many are listed when nobody says.
const FEW: usize = 20;

/// How many are read at a time.
const PAGE: usize = 1000;

/// Which entries are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// Of this actor.
    pub(crate) actor: Option<String>,
    /// On this receiver.
    pub(crate) on: Option<ObjectRef>,
    /// On this object, or changing it from elsewhere.
    pub(crate) touching: Option<ObjectRef>,
    /// Of this operation or member.
    pub(crate) operation: Option<String>,
}

impl Filter {
    fn fits(&self, definitions: &Definitions, entry: &HistoryEntry) -> bool {
        let named = |name: &String| {
            entry.action.text(definitions).rsplit('.').next() == Some(name.as_str())
                || operation_of(definitions, &entry.action) == Some(name.as_str())
        };
        let touches = |object: ObjectRef| {
            entry.receiver == object || entry.touched.iter().any(|it| it.object == object)
        };
        self.actor.as_ref().is_none_or(|it| *it == entry.actor)
            && self.on.is_none_or(|it| it == entry.receiver)
            && self.touching.is_none_or(touches)
            && self.operation.as_ref().is_none_or(named)
    }

    /// The commit that made what is asked about: none before it fits.
    fn begins(&self, snapshot: &Snapshot<'_>) -> Result<u64, CallError> {
        let mut begins = 0;
        for object in [self.on, self.touching].into_iter().flatten() {
            let created = snapshot.created(object)?;
            begins = begins.max(created.map_or(0, |it| it.commit));
        }
        Ok(begins)
    }

    fn is_empty(&self) -> bool {
        let Self { actor, on, touching, operation } = self;
        actor.is_none() && on.is_none() && touching.is_none() && operation.is_none()
    }
}

/// Returns the newest entries that fit, of those before a commit if one is named, in their order.
///
/// # Errors
/// That the store cannot be read.
pub(crate) fn newest(
    snapshot: &Snapshot<'_>,
    filter: &Filter,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<HistoryEntry>, CallError> {
    let mut found = VecDeque::new();
    let mut before = before;
    let begins = filter.begins(snapshot)?;
    while found.len() < limit && before.is_none_or(|it| it > begins) {
        let wanted = limit - found.len();
        let size = if filter.is_empty() { wanted } else { PAGE };
        let page = snapshot.history_before(before, size)?;
        let Some(last) = page.last() else { break };
        before = Some(last.commit);
        let fitting = page.into_iter().filter(|entry| filter.fits(snapshot.definitions(), entry));
        for entry in fitting.take(wanted) {
            found.push_front(entry);
        }
    }
    Ok(found.into())
}

fn each(
    snapshot: &Snapshot<'_>,
    mut visit: impl FnMut(HistoryEntry) -> Result<(), CallError>,
) -> Result<(), CallError> {
    let mut after = 0;
    loop {
        let page = snapshot.history(after, PAGE)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.commit;
        page.into_iter().try_for_each(&mut visit)?;
    }
}

/// Lists the newest entries that fit.
///
/// # Errors
/// That the store cannot be read.
pub(crate) fn list(
    scope: &Scope<'_>,
    filter: &Filter,
    before: Option<u64>,
    limit: Option<usize>,
) -> Result<Answer, CallError> {
    let entries = newest(scope.snapshot, filter, before, limit.unwrap_or(FEW))?;
    let definitions = scope.definitions();
    let json = entries.iter().map(|it| entry_json(scope, it)).collect();
    let rows = entries.iter().map(|it| {
        vec![
            it.commit.to_string(),
            instant_text(it.instant),
            it.actor.clone(),
            it.action.text(definitions),
            scope.text(it.receiver),
            if it.internal { "internal override".to_owned() } else { String::new() },
        ]
    });
    let answer =
        Answer::new(json).table(&["commit", "when", "who", "what", "on", ""], rows.collect());
    Ok(if entries.is_empty() { answer.line("no such entry") } else { answer })
}

/// The name of the operation that was called.
fn operation_of<'d>(definitions: &'d Definitions, action: &Action) -> Option<&'d str> {
    let Action::Call { operation: Some(id), .. } = action else { return None };
    definitions.operations.iter().find(|it| it.id == *id).map(|it| it.name.as_str())
}

fn entry_json(scope: &Scope<'_>, it: &HistoryEntry) -> Value {
    let definitions = scope.definitions();
    let touched: Vec<Value> = it
        .touched
        .iter()
        .map(|touched| {
            json!({
                "object": scope.text(touched.object),
                "created": touched.created,
                "slots": slot_names(definitions, touched),
            })
        })
        .collect();
    json!({
        "commit": it.commit,
        "instant": instant_text(it.instant),
        "actor": it.actor,
        "internal": it.internal,
        "what": it.action.text(definitions),
        "operation": operation_of(definitions, &it.action),
        "on": scope.text(it.receiver),
        "transaction": it.transaction.map(|id| id.to_string()),
        "touched": touched,
        "input": hex(&it.input),
        "outcome": hex(&it.outcome),
        "previous": hex(&it.previous),
        "hash": hex(&it.hash),
    })
}

fn slot_names(definitions: &Definitions, touched: &quixos_runtime::Touched) -> Vec<String> {
    let Some(at) = definitions.atom_of_tag(touched.object.atom) else { return Vec::new() };
    let atom = definitions.atom(at);
    let states = atom.states.iter().map(|it| (it.tag, &it.name));
    let edges = atom.edges.iter().map(|it| (it.tag, &it.name));
    let streams = atom.streams.iter().map(|it| (it.tag, &it.name));
    states
        .chain(edges)
        .chain(streams)
        .filter(|(tag, _)| touched.slots.contains(tag))
        .map(|(_, name)| name.clone())
        .collect()
}

fn hex(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks the chain of the whole history.
///
/// # Errors
/// That the store cannot be read.
pub(crate) fn verify(snapshot: &Snapshot<'_>) -> Result<Result<Answer, Failure>, CallError> {
    let mut commit = 0;
    let mut hash = [0; 32];
    let mut broken = Vec::new();
    each(snapshot, |entry| {
        if entry.commit != commit + 1 {
            broken.push(format!("commit {} is missing", commit + 1));
        } else if entry.previous != hash {
            broken.push(format!("commit {} does not follow commit {commit}", entry.commit));
        }
        if entry.expected_hash() != entry.hash {
            broken.push(format!("commit {} is not what was written", entry.commit));
        }
        commit = entry.commit;
        hash = entry.hash;
        Ok(())
    })?;
    let head = snapshot.head()?;
    if (head.commit, head.hash) != (commit, hash) {
        broken.push(format!("the store says that commit {} is its last", head.commit));
    }
    if broken.is_empty() {
        let answer = Answer::new(json!({ "ok": true, "commits": commit, "hash": hex(&hash) }))
            .line(format!("{commit} commits, each chained to the one before"));
        return Ok(Ok(answer));
    }
    let failure =
        Failure::new(Exit::Findings, format!("the history is broken: {}", broken.join("; ")));
    Ok(Err(failure.help("`verify` checks the rest of the store")))
}
