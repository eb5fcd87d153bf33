//! How a host calls: typed, for generated clients. By JSON: `dynamic.rs`.
//!
//! A session is a caller with a way of calling; it is small, and made anew for each change of it.
//! Calls that may write go through the lane; the rest run beside it, on the calling thread, on one
//! version of everything, and are answered when what they saw is durable.
//!
//! Members are named by the interface's id and the position in it, as generated code knows them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use quixos_schema::{InterfaceIndex, Served, Tag, Verb};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use tracing::Instrument as _;

use crate::caller::Caller;
use crate::capability::EdgePlace;
use crate::clock::from_millis;
use crate::error::CallError;
use crate::lane::{self, Done, Job, Message};
use crate::meta;
use crate::model::AtomModel;
use crate::object::{self, encoded, stored};
use crate::observer::Observed;
use crate::overlay::Base;
use crate::reference::ObjectRef;
use crate::request::{Deed, DoorCheck, MemberAt, Request};
use crate::resolve::{self, Resolved};
use crate::runtime::Inner;
use crate::store::{Durability, TransactionId};
use crate::stream;
use crate::transaction::{Access, Circumstances, Transaction};

/// A caller, with a way of calling.
#[derive(Clone)]
pub struct Session {
    pub(crate) inner: Arc<Inner>,
    pub(crate) caller: Arc<Caller>,
    durability: Durability,
    transaction: Option<TransactionId>,
}

impl Session {
    pub(crate) fn new(inner: Arc<Inner>, caller: Caller) -> Self {
        let caller = Arc::new(caller);
        Self { inner, caller, durability: Durability::Durable, transaction: None }
    }

    /// Returns a session whose calls are answered so. A buffered answer is given when the call was
    /// executed: in order, on the disk some milliseconds later, lost if the process is killed before.
    #[must_use]
    pub fn with_durability(&self, durability: Durability) -> Self {
        Self { durability, ..self.clone() }
    }

    /// Returns a session whose next call has an id. The same call with the same id is answered
    /// what the first was answered, and done once; another call with it is a `conflict`. A query
    /// changes nothing, and is just run again.
    #[must_use]
    pub fn with_transaction_id(&self, id: TransactionId) -> Self {
        Self { transaction: Some(id), ..self.clone() }
    }

    /// Returns a session to which internal members are open. The history says so of each call that
    /// made use of it.
    #[must_use]
    pub fn with_internal(&self) -> Self {
        let caller = Caller { internal: true, ..(*self.caller).clone() };
        Self { caller: Arc::new(caller), ..self.clone() }
    }

    /// Returns who calls.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Creates an object of an atom that may be created at the door.
    ///
    /// # Errors
    /// `capability` when it may not; `invalid` when the input does not fit.
    pub async fn create_root<T: Serialize + ?Sized>(
        &self,
        atom: Tag,
        input: &T,
    ) -> Result<ObjectRef, CallError> {
        let model = &self.inner.shared.model;
        let found = model.atom_of(atom);
        let atom = found
            .ok_or_else(|| CallError::NotFound { what: format!("an atom with tag {atom:?}") })?;
        let done = self.write(Deed::Create { atom: atom.index }, encoded(input)?).await?;
        stored(&done.output, || "a new reference".into())
    }

    /// Calls an operation member.
    ///
    /// # Errors
    /// Whatever the operation answers; `capability`, `not-found`, `invalid` at the door; `busy`,
    /// `storage`.
    pub async fn member_call<I: Serialize + ?Sized, O: DeserializeOwned>(
        &self,
        on: ObjectRef,
        interface: &str,
        member: usize,
        input: &I,
    ) -> Result<O, CallError> {
        let at = self.find(on, interface, member)?;
        let done = self.call(on, at, encoded(input)?).await?;
        stored(&done.output, || "an output".into())
    }

    /// Reads a state member.
    ///
    /// # Errors
    /// `capability`, `not-found`, or that the store cannot be read; so for all that follow.
    pub async fn member_get<T: DeserializeOwned>(
        &self,
        on: ObjectRef,
        interface: &str,
        member: usize,
    ) -> Result<T, CallError> {
        let at = self.find(on, interface, member)?;
        let atom = self.atom(on)?;
        let Served::State(slot) = at.served else { return Err(self.not_so(on, at, Verb::Get)) };
        let slot = &atom.states[slot];
        let bytes = self
            .read(|base| {
                self.door(base).open(on, at, Verb::Get)?;
                object::state(base, on, slot)
            })
            .await?;
        stored(&bytes, || format!("state `{}`", slot.name))
    }

    /// Reads the target of an edge member with exactly one.
    ///
    /// # Errors
    /// As [`Session::member_get`].
    pub async fn member_one(
        &self,
        on: ObjectRef,
        interface: &str,
        member: usize,
    ) -> Result<ObjectRef, CallError> {
        self.resolve(on, interface, member, |edge, base| edge.one(base, on)).await
    }

    /// Reads the target of an edge member with at most one.
    ///
    /// # Errors
    /// As [`Session::member_get`].
    pub async fn member_optional(
        &self,
        on: ObjectRef,
        interface: &str,
        member: usize,
    ) -> Result<Option<ObjectRef>, CallError> {
        self.resolve(on, interface, member, |edge, base| edge.optional(base, on)).await
    }

    /// Tells whether an edge member holds a target.
    ///
    /// # Errors
    /// As [`Session::member_get`].
    pub async fn member_contains(
        &self,
        on: ObjectRef,
        interface: &str,
        member: usize,
        target: ObjectRef,
    ) -> Result<bool, CallError> {
        self.resolve(on, interface, member, |edge, base| {
            self.door(base).name(target, "target", Verb::Resolve)?;
            edge.contains(base, on, target)
        })
        .await
    }

    /// Reads at most `limit` targets of an edge member behind `after`, in the order of their ids.
    ///
    /// # Errors
    /// As [`Session::member_get`].
    pub async fn member_targets(
        &self,
        on: ObjectRef,
        interface: &str,
        member: usize,
        after: Option<ObjectRef>,
        limit: usize,
    ) -> Result<Vec<ObjectRef>, CallError> {
        self.resolve(on, interface, member, |edge, base| edge.page(base, on, after, limit)).await
    }

    /// Reads at most `limit` keys and targets of a keyed edge member behind the key `after`. Where
    /// several targets share the last key, all of them are there.
    ///
    /// # Errors
    /// As [`Session::member_get`].
    pub async fn member_entries(
        &self,
        on: ObjectRef,
        interface: &str,
        member: usize,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, ObjectRef)>, CallError> {
        self.resolve(on, interface, member, |edge, base| edge.entries(base, on, after, limit)).await
    }

    /// Reads the targets of a keyed edge member at a key: at most one of an edge, any number of an
    /// inverse.
    ///
    /// # Errors
    /// As [`Session::member_get`].
    pub async fn member_at(
        &self,
        on: ObjectRef,
        interface: &str,
        member: usize,
        key: &str,
    ) -> Result<Vec<ObjectRef>, CallError> {
        self.resolve(on, interface, member, |edge, base| edge.at(base, on, key)).await
    }

    /// Reads at most `limit` events of a stream member from an offset on.
    ///
    /// # Errors
    /// As [`Session::member_get`].
    pub async fn member_read<T: DeserializeOwned>(
        &self,
        on: ObjectRef,
        interface: &str,
        member: usize,
        from: u64,
        limit: usize,
    ) -> Result<Vec<T>, CallError> {
        let at = self.find(on, interface, member)?;
        let atom = self.atom(on)?;
        let Served::Stream(slot) = at.served else { return Err(self.not_so(on, at, Verb::Read)) };
        let slot = &atom.streams[slot];
        let events = self
            .read(|base| {
                self.door(base).open(on, at, Verb::Read)?;
                stream::events(base, on, slot, from, limit)
            })
            .await?;
        let event = |event: &stream::Event| stored(&event.bytes, || "an event".into());
        events.iter().map(event).collect()
    }

    async fn resolve<T>(
        &self,
        on: ObjectRef,
        interface: &str,
        member: usize,
        read: impl Fn(&Resolved<'_>, &Base) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let at = self.find(on, interface, member)?;
        let edge = self.edge(on, at)?;
        self.read(|base| {
            self.door(base).open(on, at, Verb::Resolve)?;
            read(&edge, base)
        })
        .await
    }

    /// Returns the edge that serves a member.
    pub(crate) fn edge(&self, on: ObjectRef, at: MemberAt) -> Result<Resolved<'_>, CallError> {
        let place = match at.served {
            Served::Edge(at) => EdgePlace::Edge(at),
            Served::Inverse(at) => EdgePlace::Inverse(at),
            Served::State(_) | Served::Stream(_) | Served::Operation(_) | Served::Append(_) => {
                return Err(self.not_so(on, at, Verb::Resolve));
            }
        };
        Ok(resolve::place(&self.inner.shared.model, self.atom(on)?, place))
    }

    /// Calls an operation, or appends, whichever serves the member.
    pub(crate) async fn call(
        &self,
        on: ObjectRef,
        at: MemberAt,
        input: Vec<u8>,
    ) -> Result<Done, CallError> {
        let deed = self.deed(on, at)?;
        let request = self.request(deed, input);
        if !request.is_query(&self.inner.shared.model) {
            return self.send(request).await;
        }
        let output = self.read(|base| self.query(&request, base)).await?;
        Ok(Done { output, commit: None })
    }

    /// Runs a query on one version of everything.
    fn query(&self, request: &Request, base: &Base) -> Result<Vec<u8>, CallError> {
        let transaction = self.beside(base, Access::Read, false)?;
        Ok(request.perform(&transaction, &self.inner.shared.model)?.output)
    }

    /// Begins a transaction that will not be committed.
    pub(crate) fn beside<'b>(
        &'b self,
        base: &'b Base,
        access: Access,
        traced: bool,
    ) -> Result<Transaction<'b>, CallError> {
        let shared = &self.inner.shared;
        let head = meta::head(base)?;
        let millis = shared.clock.now().timestamp_millis().max(head.millis);
        let circumstances = Circumstances {
            instant: from_millis(millis),
            commit: head.commit + 1,
            actor: &self.caller.actor,
            last_id: head.last_id,
            ids: shared.ids.as_ref(),
            limits: shared.limits,
            access,
        };
        Ok(Transaction::new(base, circumstances, traced))
    }

    /// Returns what a call of a member does.
    pub(crate) fn deed(&self, on: ObjectRef, at: MemberAt) -> Result<Deed, CallError> {
        match at.served {
            Served::Operation(operation) => Ok(Deed::Call { on, at, operation }),
            Served::Append(stream) => Ok(Deed::Append { on, at, stream }),
            Served::State(_) | Served::Edge(_) | Served::Inverse(_) | Served::Stream(_) => {
                Err(self.not_so(on, at, Verb::Call))
            }
        }
    }

    /// Makes a request of this session.
    pub(crate) fn request(&self, deed: Deed, input: Vec<u8>) -> Request {
        let caller = Arc::clone(&self.caller);
        Request { deed, input, caller, transaction: self.transaction }
    }

    /// Sends what may write through the lane.
    pub(crate) async fn write(&self, deed: Deed, input: Vec<u8>) -> Result<Done, CallError> {
        self.send(self.request(deed, input)).await
    }

    async fn send(&self, request: Request) -> Result<Done, CallError> {
        let shared = &self.inner.shared;
        let limit = shared.limits.queue;
        let observed = shared.observer.is_some().then(|| Box::new(Observed::new(request.deed)));
        let before = shared.waiting.fetch_add(1, Ordering::Relaxed);
        if before >= limit {
            shared.waiting.fetch_sub(1, Ordering::Relaxed);
            let error = CallError::Busy { message: format!("{limit} calls wait already") };
            if let (Some(observed), Some(observer)) = (observed, &shared.observer) {
                observed.tell(observer.as_ref(), &shared.model, Some(&error));
            }
            return Err(error);
        }
        let (reply, mut answer) = oneshot::channel();
        let span = tracing::info_span!("operation", otel.name = shared.model.deed(request.deed));
        let job = Job { request, durability: self.durability, reply, observed };
        self.inner.tell(Message::Job(job))?;
        if before == 0
            && self.durability == Durability::Buffered
            && let Some(answered) = lane::look(|| answer.try_recv().ok())
        {
            // Whoever calls on and on lets the other tasks of its thread have their turn.
            tokio::task::consume_budget().await;
            return answered;
        }
        answer.instrument(span).await.map_err(|_| closed())?
    }

    /// Reads one version of everything, and answers when what was seen is durable.
    pub(crate) async fn read<T>(
        &self,
        read: impl Fn(&Base) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        self.inner.read(self.durability, read).await
    }

    pub(crate) fn door<'s>(&'s self, base: &'s Base) -> DoorCheck<'s> {
        DoorCheck { caller: &self.caller, model: &self.inner.shared.model, base }
    }

    pub(crate) fn atom(&self, on: ObjectRef) -> Result<&AtomModel, CallError> {
        let model = &self.inner.shared.model;
        model.atom_of(on.atom).ok_or_else(|| CallError::NotFound { what: model.text(on) })
    }

    /// Finds a member of an object.
    fn find(&self, on: ObjectRef, interface: &str, member: usize) -> Result<MemberAt, CallError> {
        let model = &self.inner.shared.model;
        let found = model.interface(interface);
        let at = found.and_then(|index| self.served(on, index, member));
        at.ok_or_else(|| CallError::NotFound {
            what: format!("member {member} of {interface} on {}", model.text(on)),
        })
    }

    pub(crate) fn served(
        &self,
        on: ObjectRef,
        interface: InterfaceIndex,
        member: usize,
    ) -> Option<MemberAt> {
        let definitions = &self.inner.shared.model.definitions;
        let atom = definitions.atom(definitions.atom_of_tag(on.atom)?);
        let implementation = atom.implements.iter().find(|it| it.interface.interface == interface);
        let served = *implementation?.members.get(member)?;
        Some(MemberAt { interface, member, served })
    }

    pub(crate) fn not_so(&self, on: ObjectRef, at: MemberAt, verb: Verb) -> CallError {
        let model = &self.inner.shared.model;
        let interface = model.definitions.interface(at.interface);
        let name = format!("{}.{}", interface.name, interface.members[at.member].name);
        let why = "the member takes another verb";
        crate::capability::denied(&self.caller.actor, name, verb, Some(on), why)
    }
}

/// Makes the error of a runtime that is closed.
pub(crate) fn closed() -> CallError {
    CallError::Unavailable { message: "the runtime is closed".into() }
}
