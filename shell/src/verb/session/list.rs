//! `sessions`: what each session does and what it waits for, the newest first.

use quixos_runtime::{Atom, CallError, ObjectRef, Ref};
use quixos_session::Reader;
use quixos_session::sessions::{Binding, SessionObject, SessionRegistryObject};
use quixos_session::standing::Status;
use serde_json::{Value, json};
use ulid::Ulid;

use super::super::explain::length;
use super::{find, words};
use crate::language::{Fault, Sessions};
use crate::output::Answer;
use crate::scope::{Scope, instant_text};
use crate::stop::Stop;

/// How many are listed when nobody says.
const FEW: usize = 20;

/// How many are read at a time.
const PAGE: usize = 256;

/// Lists sessions.
///
/// # Errors
/// A status that is none, a session that is not there; that the store cannot be read.
pub(crate) fn list(scope: &Scope<'_>, filter: &Sessions) -> Result<Answer, Stop> {
    let status = status(filter)?;
    let after = filter.after.as_ref().map(|named| find(scope, named)).transpose()?;
    let limit = filter.limit.unwrap_or(FEW);
    let mut found = Found { readers: Vec::new(), limit: limit.saturating_add(1) };
    let after = after.map(|reader| reader.session().id());
    match status {
        // What is under way in is known without looking at all.
        Some(Status::Working | Status::Waiting) => {
            awake(scope, after, |reader| found.take(filter, status, reader))?;
        }
        Some(Status::Cancelled | Status::Interrupted | Status::Done | Status::Idle) | None => {
            newest(scope, after, |reader| found.take(filter, status, reader))?;
        }
    }
    let more = found.readers.len() > limit;
    found.readers.truncate(limit);
    let mut rows = Vec::new();
    let mut json = Vec::new();
    for reader in &found.readers {
        let (row, value) = row(scope, reader)?;
        rows.push(row);
        json.push(value);
    }
    let next = json.last().filter(|_| more).and_then(|last| last["session"].as_str());
    let next = next.map(str::to_owned);
    let answer = Answer::new(json!({ "sessions": json, "more": more, "next": next }))
        .table(&["session", "status", "agent", "owner", "last event", "waits for"], rows);
    Ok(match next {
        Some(next) => answer.line(format!("more: `{} after {}`", again(filter), words::id(&next))),
        None if found.readers.is_empty() => answer.line("no session"),
        None => answer,
    })
}

/// Sessions that fit, up to a number.
struct Found<'s> {
    readers: Vec<Reader<'s>>,
    limit: usize,
}

impl<'s> Found<'s> {
    /// Takes a session if it fits; says whether there is room for more.
    fn take(
        &mut self,
        filter: &Sessions,
        status: Option<Status>,
        reader: Reader<'s>,
    ) -> Result<bool, CallError> {
        let is_named = filter.agent.is_some() || filter.owner.is_some() || filter.tenant.is_some();
        let fits = (!is_named || fits(filter, &reader.binding()?))
            && match status {
                Some(status) => reader.status()? == status,
                None => true,
            };
        if fits {
            self.readers.push(reader);
        }
        Ok(self.readers.len() < self.limit)
    }
}

fn fits(filter: &Sessions, binding: &Binding) -> bool {
    let is = |wanted: &Option<String>, has: &str| wanted.as_ref().is_none_or(|it| it == has);
    is(&filter.agent, &binding.agent_id)
        && is(&filter.owner, &binding.owner_id)
        && is(&filter.tenant, &binding.tenant)
}

/// Visits sessions, the newest first, until it is told to stop.
fn newest<'s>(
    scope: &Scope<'s>,
    mut before: Option<Ulid>,
    mut visit: impl FnMut(Reader<'s>) -> Result<bool, CallError>,
) -> Result<(), CallError> {
    loop {
        let page = scope.snapshot.recent_objects(SessionObject::TAG, before, PAGE)?;
        let Some(last) = page.last() else { return Ok(()) };
        before = Some(last.id);
        for object in page {
            if !visit(Reader::on(scope.snapshot, Ref::checked(object)?))? {
                return Ok(());
            }
        }
    }
}

/// Visits the sessions that have something to do, the newest first, until it is told to stop.
fn awake<'s>(
    scope: &Scope<'s>,
    before: Option<Ulid>,
    mut visit: impl FnMut(Reader<'s>) -> Result<bool, CallError>,
) -> Result<(), CallError> {
    let mut awake: Vec<ObjectRef> = Vec::new();
    for registry in scope.snapshot.objects(SessionRegistryObject::TAG, None, usize::MAX)? {
        let entries = scope.snapshot.edge(registry, "awake", None, usize::MAX)?;
        awake.extend(entries.into_iter().map(|entry| entry.object));
    }
    awake.retain(|object| before.is_none_or(|before| object.id < before));
    awake.sort_by_key(|object| std::cmp::Reverse(object.id));
    for object in awake {
        if !visit(Reader::on(scope.snapshot, Ref::checked(object)?))? {
            return Ok(());
        }
    }
    Ok(())
}

fn row(scope: &Scope<'_>, reader: &Reader<'_>) -> Result<(Vec<String>, Value), CallError> {
    let binding = reader.binding()?;
    let standing = reader.standing(scope.now)?;
    let events = reader.log_len()?;
    let last = reader.log(events.saturating_sub(1), 1)?.pop().map(|logged| logged.instant);
    let ago = last.map(|at| format!("{} ago", length((scope.now - at).abs()))).unwrap_or_default();
    let waits = standing.holds.first().map(|hold| words::brief(hold, scope.now));
    let row = vec![
        binding.session_id.clone(),
        standing.status.word().to_owned(),
        binding.agent_id.clone(),
        binding.owner_id.clone(),
        ago,
        waits.clone().unwrap_or_default(),
    ];
    let json = json!({
        "session": binding.session_id,
        "object": reader.text(),
        "status": standing.status,
        "agent": binding.agent_id,
        "owner": binding.owner_id,
        "tenant": binding.tenant,
        "created": binding.created_at,
        "lastEvent": last.map(instant_text),
        "events": events,
        "turn": standing.turn,
        "waitsFor": waits,
        "holds": standing.holds,
    });
    Ok((row, json))
}

fn status(filter: &Sessions) -> Result<Option<Status>, Fault> {
    let Some(word) = &filter.status else { return Ok(None) };
    let found = Status::ALL.into_iter().find(|status| status.word() == word.name);
    found.map(Some).ok_or_else(|| {
        let words = Status::ALL.map(Status::word);
        Fault::new(word.span.clone(), format!("`{}` is no status of a session", word.name))
            .help(format!("one of {}", words.join(", ")))
            .suggest(&word.name, words)
    })
}

/// The command that lists what comes behind, without its end.
fn again(filter: &Sessions) -> String {
    let named = |name: &str, value: Option<&str>| {
        value.map(|value| format!(" {name} {}", words::id(value))).unwrap_or_default()
    };
    format!(
        "sessions{}{}{}{}{}",
        named("status", filter.status.as_ref().map(|status| status.name.as_str())),
        named("agent", filter.agent.as_deref()),
        named("owner", filter.owner.as_deref()),
        named("tenant", filter.tenant.as_deref()),
        filter.limit.map(|limit| format!(" limit {limit}")).unwrap_or_default(),
    )
}
