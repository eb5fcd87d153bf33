//! A session in one version of the store, as whoever operates it reads it: what it is, what is
//! behind it, its log.
//!
//! The rules that operations stand on read a session through [`Past`], and so does this: what is
//! said of a session here is said by the same code that moves it. Nothing is changed, and nobody is
//! asked for leave: a snapshot is an operator's view.
//!
//! Start at [`Reader::find`]. What is made of it: `standing.rs`, `conversation.rs`, `replay.rs`.

use chrono::{DateTime, Utc};
use quixos_package::agent_runtime::{AgentObject, AgentRequestObject, AgentThreadObject};
use quixos_runtime::{Atom, CallError, EdgeEntry, Event, ObjectRef, Ref, Snapshot, reference_text};
use serde::de::DeserializeOwned;

use crate::past::Past;
use crate::replay::Happened;
use crate::sessions::{
    Binding, CallData, DecisionData, Lease, Live, NodeData, SessionData, SessionEvent,
    SessionObject, SessionRegistryObject, TextData, VersionData,
};

/// How much is read at a time.
const PAGE: usize = 256;
/// Bytes of events that are read at a time.
const PAGE_BYTES: usize = 1 << 20;
/// How many events are read at a time where they are read from the end, however long they are.
const FEW: u64 = 16;
/// The stream of a session's events.
const LOG: &str = "events";

/// A session in one version of the store.
#[derive(Clone, Copy)]
pub struct Reader<'s> {
    snapshot: &'s Snapshot<'s>,
    session: Ref<SessionObject>,
}

/// An event of a log.
#[derive(Clone, PartialEq, Debug)]
pub struct Logged {
    /// Its place: 0, 1, 2 …
    pub offset: u64,
    /// The instant of the step that it belongs to.
    pub instant: DateTime<Utc>,
    /// The commit of that step.
    pub commit: u64,
    /// What it says.
    pub event: Happened,
}

impl<'s> Reader<'s> {
    /// Reads a session.
    #[must_use]
    pub fn on(snapshot: &'s Snapshot<'s>, session: Ref<SessionObject>) -> Self {
        Self { snapshot, session }
    }

    /// Finds the sessions of an id: at most one in each registry, of which most stores have one.
    ///
    /// # Errors
    /// That the store cannot be read; so for all that follow.
    pub fn find(
        snapshot: &'s Snapshot<'s>,
        id: &str,
    ) -> Result<Vec<Ref<SessionObject>>, CallError> {
        let mut found = Vec::new();
        for registry in Self::registries(snapshot)? {
            for session in snapshot.edge_at(registry.object(), "sessions", id)? {
                found.push(Ref::checked(session)?);
            }
        }
        Ok(found)
    }

    /// Returns the registries of a store.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn registries(
        snapshot: &Snapshot<'_>,
    ) -> Result<Vec<Ref<SessionRegistryObject>>, CallError> {
        let found = snapshot.objects(SessionRegistryObject::TAG, None, usize::MAX)?;
        found.into_iter().map(Ref::checked).collect()
    }

    /// Returns the session.
    #[must_use]
    pub fn session(&self) -> Ref<SessionObject> {
        self.session
    }

    /// Returns the session's reference as text.
    #[must_use]
    pub fn text(&self) -> String {
        reference_text(self.snapshot.definitions(), self.session.object())
    }

    /// Returns what never changes of it.
    ///
    /// # Errors
    /// As [`Reader::find`]; `not-found` when the session is not there.
    pub fn binding(&self) -> Result<Binding, CallError> {
        self.state(self.session.object(), "binding")
    }

    /// Returns what it is at the moment.
    ///
    /// # Errors
    /// As [`Reader::binding`].
    pub fn data(&self) -> Result<SessionData, CallError> {
        self.state(self.session.object(), "data")
    }

    /// Returns what is under way in it.
    ///
    /// # Errors
    /// As [`Reader::binding`].
    pub fn live(&self) -> Result<Live, CallError> {
        self.state(self.session.object(), "live")
    }

    /// Returns how many events its log has.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn log_len(&self) -> Result<u64, CallError> {
        self.snapshot.stream_len(self.session.object(), LOG)
    }

    /// Reads at most `limit` events of its log from an offset on.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn log(&self, from: u64, limit: usize) -> Result<Vec<Logged>, CallError> {
        let events = self.snapshot.events(self.session.object(), LOG, from, limit)?;
        events.iter().map(logged).collect()
    }

    /// Does something with each event of its log, from the first on, until it is told to stop.
    ///
    /// # Errors
    /// As [`Reader::find`]; whatever the visit fails with.
    pub fn each_event<E: From<CallError>>(
        &self,
        mut visit: impl FnMut(Logged) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut from = 0;
        loop {
            let log = self.session.object();
            let page = self.snapshot.events_within(log, LOG, from, PAGE, PAGE_BYTES)?;
            if page.is_empty() {
                return Ok(());
            }
            for event in page {
                from = event.offset + 1;
                if !visit(logged(&event)?)? {
                    return Ok(());
                }
            }
        }
    }

    /// Returns the newest event that is wanted, if it is among the last so many.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn newest_event(
        &self,
        among: u64,
        wanted: impl Fn(&Happened) -> bool,
    ) -> Result<Option<Logged>, CallError> {
        let mut end = self.log_len()?;
        let last = end.saturating_sub(among);
        while end > last {
            let from = end.saturating_sub(FEW).max(last);
            let limit = usize::try_from(end - from).unwrap_or(1);
            let page = self.log(from, limit)?;
            if let Some(found) = page.into_iter().rev().find(|logged| wanted(&logged.event)) {
                return Ok(Some(found));
            }
            end = from;
        }
        Ok(None)
    }

    /// Returns the registry that it is of.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn registry(&self) -> Result<Ref<SessionRegistryObject>, CallError> {
        Ref::checked(self.one("registry")?)
    }

    /// Returns the agent that it is bound to.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn agent(&self) -> Result<Ref<AgentObject>, CallError> {
        Ref::checked(self.one("agent")?)
    }

    /// Returns its thread.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn thread(&self) -> Result<Ref<AgentThreadObject>, CallError> {
        Ref::checked(self.one("thread")?)
    }

    /// Returns the session that delegated to this one.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn parent(&self) -> Result<Option<Ref<SessionObject>>, CallError> {
        self.optional("parent")?.map(Ref::checked).transpose()
    }

    /// Returns the request of the active turn.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn request(&self) -> Result<Option<Ref<AgentRequestObject>>, CallError> {
        self.optional("request")?.map(Ref::checked).transpose()
    }

    /// Returns the requests of the turns that come after the active one, the next one first.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn waiting(&self) -> Result<Vec<Ref<AgentRequestObject>>, CallError> {
        let waiting = self.snapshot.edge(self.session.object(), "waiting", None, usize::MAX)?;
        waiting.into_iter().map(|entry| Ref::checked(entry.object)).collect()
    }

    /// Returns the request of a turn by the turn's id.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn turn(&self, id: &str) -> Result<Option<Ref<AgentRequestObject>>, CallError> {
        self.at("turns", id)?.first().map(|&request| Ref::checked(request)).transpose()
    }

    /// Returns the children that it has delegated to.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn children(&self) -> Result<Vec<Reader<'s>>, CallError> {
        let children = self.snapshot.edge(self.session.object(), "children", None, usize::MAX)?;
        let reader = |entry: EdgeEntry| Ok(Self::on(self.snapshot, Ref::checked(entry.object)?));
        children.into_iter().map(reader).collect()
    }

    /// Returns until when the engines of its registry have said that they live.
    ///
    /// # Errors
    /// As [`Reader::find`].
    pub fn leases(&self) -> Result<Vec<Lease>, CallError> {
        self.state(self.registry()?.object(), "leases")
    }

    /// Returns every message with its instant, in the order in which they were written.
    pub(crate) fn messages(&self) -> Result<Vec<(NodeData, DateTime<Utc>)>, CallError> {
        let mut messages = Vec::new();
        self.each("nodes", |object| {
            let created = self.snapshot.created(object)?;
            let instant = created.map(|created| created.instant).unwrap_or_default();
            messages.push((self.state(object, "data")?, instant));
            Ok(())
        })?;
        messages.sort_by_key(|(node, _): &(NodeData, _)| node.index);
        Ok(messages)
    }

    /// Returns every call that has ended, in the order of their ends.
    pub(crate) fn ended_calls(&self) -> Result<Vec<CallData>, CallError> {
        let mut calls: Vec<(ObjectRef, CallData)> = Vec::new();
        self.each("calls", |object| {
            calls.push((object, self.state(object, "data")?));
            Ok(())
        })?;
        calls.sort_by_key(|(object, _)| *object);
        Ok(calls.into_iter().map(|(_, call)| call).collect())
    }

    /// Returns every decision that has ended.
    pub(crate) fn ended_decisions(&self) -> Result<Vec<DecisionData>, CallError> {
        let mut decisions = Vec::new();
        self.each("decisions", |object| {
            decisions.push(self.state(object, "data")?);
            Ok(())
        })?;
        Ok(decisions)
    }

    /// Returns the number of versions of `state` or `agent`.
    pub(crate) fn versions(&self, kind: &str) -> Result<usize, CallError> {
        let mut count = 0;
        self.each_entry("versions", |entry| {
            let is_meant = entry.key.as_deref().and_then(|key| key.split(':').next()) == Some(kind);
            count += usize::from(is_meant);
            Ok(())
        })?;
        Ok(count)
    }

    /// Does something with each object of a keyed edge.
    fn each(
        &self,
        edge: &str,
        mut visit: impl FnMut(ObjectRef) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        self.each_entry(edge, |entry| visit(entry.object))
    }

    fn each_entry(
        &self,
        edge: &str,
        mut visit: impl FnMut(EdgeEntry) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        let mut after = None;
        loop {
            let page = self.snapshot.edge(self.session.object(), edge, after.as_ref(), PAGE)?;
            let Some(last) = page.last().cloned() else { return Ok(()) };
            page.into_iter().try_for_each(&mut visit)?;
            after = Some(last);
        }
    }

    fn state<T: DeserializeOwned>(&self, object: ObjectRef, slot: &str) -> Result<T, CallError> {
        let bytes = self.snapshot.state_bytes(object, slot)?;
        postcard::from_bytes(&bytes).map_err(|error| CallError::Corrupt {
            message: format!(
                "`{slot}` of {}: {error}",
                reference_text(self.snapshot.definitions(), object)
            ),
        })
    }

    fn one(&self, edge: &str) -> Result<ObjectRef, CallError> {
        self.optional(edge)?
            .ok_or_else(|| CallError::NotFound { what: format!("`{edge}` of {}", self.text()) })
    }

    fn optional(&self, edge: &str) -> Result<Option<ObjectRef>, CallError> {
        let found = self.snapshot.edge(self.session.object(), edge, None, 1)?;
        Ok(found.first().map(|entry| entry.object))
    }

    fn at(&self, edge: &str, key: &str) -> Result<Vec<ObjectRef>, CallError> {
        self.snapshot.edge_at(self.session.object(), edge, key)
    }
}

impl Past for Reader<'_> {
    fn has_node(&self, id: &str) -> Result<bool, CallError> {
        Ok(!self.at("nodes", id)?.is_empty())
    }

    fn node(&self, id: &str) -> Result<Option<NodeData>, CallError> {
        let found = self.at("nodes", id)?;
        found.first().map(|&node| self.state(node, "data")).transpose()
    }

    fn result(&self, tool_call_id: &str) -> Result<Option<NodeData>, CallError> {
        let found = self.at("results", tool_call_id)?;
        found.first().map(|&node| self.state(node, "data")).transpose()
    }

    fn nodes(&self) -> Result<Vec<NodeData>, CallError> {
        Ok(self.messages()?.into_iter().map(|(node, _)| node).collect())
    }

    fn ended_call(&self, id: &str) -> Result<Option<CallData>, CallError> {
        self.at("calls", id)?.last().map(|&call| self.state(call, "data")).transpose()
    }

    fn ended_decision(&self, id: &str) -> Result<Option<DecisionData>, CallError> {
        let found = self.at("decisions", id)?;
        found.last().map(|&decision| self.state(decision, "data")).transpose()
    }

    fn version(&self, place: &str) -> Result<Option<VersionData>, CallError> {
        let found = self.at("versions", place)?;
        found.first().map(|&version| self.state(version, "data")).transpose()
    }

    fn version_behind(&self, place: &str) -> Result<Option<VersionData>, CallError> {
        let session = self.session.object();
        let after = EdgeEntry { key: Some(place.to_owned()), object: session };
        let found = self.snapshot.edge(session, "versions", Some(&after), 1)?;
        found.first().map(|entry| self.state(entry.object, "data")).transpose()
    }

    fn text(&self, digest: &str) -> Result<Option<String>, CallError> {
        let found = self.at("texts", digest)?;
        let data = found.first().map(|&text| self.state::<TextData>(text, "data")).transpose()?;
        Ok(data.map(|data| data.text))
    }

    fn event(&self, offset: u64) -> Result<Option<SessionEvent>, CallError> {
        let found = self.snapshot.events(self.session.object(), LOG, offset, 1)?;
        found.first().map(|event| event.decode()).transpose()
    }
}

/// Reads an event as it is stored.
fn logged(event: &Event) -> Result<Logged, CallError> {
    Ok(Logged {
        offset: event.offset,
        instant: event.instant,
        commit: event.commit,
        event: Happened::read(&event.decode()?)?,
    })
}
