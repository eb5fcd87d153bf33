//! Following what is committed, live: the events of a stream, the entries of the history.
//!
//! A follower reads from the store, from where it stands, and is only woken by what is committed;
//! so it sees each event once, in order, however slow it is, and holds nobody back. It sees
//! nothing that is not durable: it asks how far the store is durable before it reads, and stops
//! there.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quixos_schema::Tag;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use crate::caller::Caller;
use crate::error::CallError;
use crate::history::{self, HistoryEntry};
use crate::model::{Model, StreamModel};
use crate::object::{encoded, stored};
use crate::reference::ObjectRef;
use crate::request::Deed;
use crate::runtime::Inner;
use crate::session::Session;
use crate::store::Durability;
use crate::stream::{self, Event};

/// How many events a follower has read ahead, at most.
const PAGE: usize = 256;
/// Bytes of events behind which a follower reads no further ahead. However many follow, each has so
/// many, and one event more.
const PAGE_BYTES: usize = 1 << 20;

/// A stream of an object.
#[derive(Clone)]
pub struct StreamHandle {
    inner: Arc<Inner>,
    object: ObjectRef,
    /// The position of the slot.
    slot: usize,
}

impl StreamHandle {
    pub(crate) fn new(inner: Arc<Inner>, object: ObjectRef, name: &str) -> Result<Self, CallError> {
        let model = &inner.shared.model;
        let atom = model.atom_of(object.atom);
        let slot = atom.and_then(|atom| atom.streams.iter().position(|slot| slot.name == name));
        match slot {
            Some(slot) => Ok(Self { inner, object, slot }),
            None => {
                let what = format!("stream `{name}` of {}", model.text(object));
                Err(CallError::NotFound { what })
            }
        }
    }

    /// Returns how many events there are, which is the offset of the next.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn len(&self) -> Result<u64, CallError> {
        let slot = self.slot();
        let read =
            self.inner.read(Durability::Durable, |base| stream::length(base, self.object, slot));
        read.await
    }

    /// Tells whether there is no event.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn is_empty(&self) -> Result<bool, CallError> {
        Ok(self.len().await? == 0)
    }

    /// Reads at most `limit` events from an offset on.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn read(&self, from: u64, limit: usize) -> Result<Vec<Event>, CallError> {
        let slot = self.slot();
        let read = self
            .inner
            .read(Durability::Durable, |base| stream::events(base, self.object, slot, from, limit));
        read.await
    }

    /// Reads at most `limit` events from an offset on, and none behind the first with which they
    /// have so many bytes. One at least, if there is one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn read_within(
        &self,
        from: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Event>, CallError> {
        let slot = self.slot();
        let read = self.inner.read(Durability::Durable, |base| {
            stream::page(base, self.object, slot, from, limit, bytes)
        });
        read.await
    }

    /// Follows the stream from an offset on: what is there, then what comes.
    #[must_use]
    pub fn follow(&self, from: u64) -> Follow {
        let wakes = Some(self.inner.shared.wakes.subscribe(self.key()));
        Follow { stream: self.clone(), next: from, page: VecDeque::new(), wakes }
    }

    /// Returns where a named reader stands: the offset that it reads next, 0 for a new one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn cursor(&self, name: &str) -> Result<u64, CallError> {
        let slot = self.slot();
        let read = self.inner.read(Durability::Durable, |base| {
            Ok(stream::cursor(base, self.object, slot, name)?.unwrap_or(0))
        });
        read.await
    }

    /// Moves a named reader forward, durably, and returns where it stands. It never goes back: a
    /// smaller offset changes nothing. The history says who moved it.
    ///
    /// # Errors
    /// `invalid` when the offset is behind the end of the stream; `not-found` when the object is
    /// not there; `storage`.
    pub async fn advance(
        &self,
        caller: &Caller,
        name: &str,
        offset: u64,
    ) -> Result<u64, CallError> {
        let session = Session::new(Arc::clone(&self.inner), caller.clone());
        let deed = Deed::Advance { on: self.object, stream: self.slot };
        let done = session.write(deed, encoded(&(name, offset))?).await?;
        stored(&done.output, || "an offset".into())
    }

    fn key(&self) -> StreamKey {
        (self.object, self.slot().tag)
    }

    fn slot(&self) -> &StreamModel {
        slot_of(&self.inner.shared.model, self.object, self.slot)
    }
}

/// Returns a slot that was found when the handle was made.
fn slot_of(model: &Model, object: ObjectRef, slot: usize) -> &StreamModel {
    let atom = model.atom_of(object.atom).expect("a handle is made for an atom that is there");
    &atom.streams[slot]
}

impl Event {
    /// Reads the event as its generated type.
    ///
    /// # Errors
    /// `corrupt` when it is of another type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        stored(&self.bytes, || format!("event {}", self.offset))
    }
}

/// Follows a stream.
pub struct Follow {
    stream: StreamHandle,
    next: u64,
    page: VecDeque<Event>,
    /// Is there until it is dropped.
    wakes: Option<watch::Receiver<()>>,
}

impl Follow {
    /// Returns the next event once it is durable; `None` when the runtime is closed. Dropping the
    /// future loses nothing.
    ///
    /// # Errors
    /// When the store cannot be read; the next call tries again.
    pub async fn next(&mut self) -> Result<Option<Event>, CallError> {
        loop {
            if let Some(event) = self.page.pop_front() {
                self.next = event.offset + 1;
                return Ok(Some(event));
            }
            if let Some(wakes) = &mut self.wakes {
                wakes.mark_unchanged();
            }
            self.page = self.durable_page()?.into();
            if self.page.is_empty() && !self.woken().await {
                return Ok(None);
            }
        }
    }

    /// Waits for something new, or for the end.
    async fn woken(&mut self) -> bool {
        match &mut self.wakes {
            Some(wakes) => wakes.changed().await.is_ok(),
            None => false,
        }
    }

    fn durable_page(&self) -> Result<Vec<Event>, CallError> {
        let StreamHandle { inner, object, .. } = &self.stream;
        let slot = self.stream.slot();
        inner.read_durable(|base, durable| {
            let mut events = stream::page(base, *object, slot, self.next, PAGE, PAGE_BYTES)?;
            events.retain(|event| event.commit <= durable);
            Ok(events)
        })
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        if let Some(wakes) = self.wakes.take() {
            self.stream.inner.shared.wakes.leave(self.stream.key(), wakes);
        }
    }
}

/// The committed transactions, in order.
pub struct Feed {
    inner: Arc<Inner>,
    after: u64,
    page: VecDeque<HistoryEntry>,
    status: watch::Receiver<crate::shared::Status>,
}

impl Feed {
    pub(crate) fn new(inner: Arc<Inner>, after: u64) -> Self {
        let status = inner.shared.status.subscribe();
        Self { inner, after, page: VecDeque::new(), status }
    }

    /// Returns the next entry once it is durable; `None` when the runtime is closed. Dropping the
    /// future loses nothing.
    ///
    /// # Errors
    /// When the store cannot be read; the next call tries again.
    pub async fn next(&mut self) -> Result<Option<HistoryEntry>, CallError> {
        loop {
            if let Some(entry) = self.page.pop_front() {
                self.after = entry.commit;
                return Ok(Some(entry));
            }
            let closed = self.status.borrow_and_update().closed;
            self.page = self.durable_page()?.into();
            if self.page.is_empty() && (closed || self.status.changed().await.is_err()) {
                return Ok(None);
            }
        }
    }

    fn durable_page(&self) -> Result<Vec<HistoryEntry>, CallError> {
        self.inner.read_durable(|base, durable| {
            let mut entries = history::entries(base, self.after, PAGE)?;
            entries.retain(|entry| entry.commit <= durable);
            Ok(entries)
        })
    }
}

/// A stream, by its object and slot.
pub(crate) type StreamKey = (ObjectRef, Tag);

/// Who is to be woken when a stream has new events.
#[derive(Default)]
pub(crate) struct Wakes(Mutex<Followed>);

/// The streams that somebody follows.
#[derive(Default)]
struct Followed {
    streams: HashMap<StreamKey, watch::Sender<()>>,
    /// Set when nothing will come any more.
    closed: bool,
}

impl Wakes {
    pub(crate) fn subscribe(&self, stream: StreamKey) -> watch::Receiver<()> {
        let mut followed = self.followed();
        if followed.closed {
            // Its sender is gone, which is how a follower learns of the end.
            return watch::Sender::default().subscribe();
        }
        followed.streams.entry(stream).or_default().subscribe()
    }

    /// Returns how many streams are followed.
    pub(crate) fn len(&self) -> usize {
        self.followed().streams.len()
    }

    /// Forgets a follower, and the stream if it was the last.
    fn leave(&self, stream: StreamKey, follower: watch::Receiver<()>) {
        let mut followed = self.followed();
        drop(follower);
        if followed.streams.get(&stream).is_some_and(|sender| sender.receiver_count() == 0) {
            followed.streams.remove(&stream);
        }
    }

    /// Tells whether anybody follows one of these streams.
    pub(crate) fn are_followed(&self, streams: &[StreamKey]) -> bool {
        if streams.is_empty() {
            return false;
        }
        let followed = self.followed();
        streams.iter().any(|stream| followed.streams.contains_key(stream))
    }

    /// Wakes those who follow these streams.
    pub(crate) fn wake(&self, streams: &[StreamKey]) {
        if streams.is_empty() {
            return;
        }
        let followed = self.followed();
        for sender in streams.iter().filter_map(|stream| followed.streams.get(stream)) {
            sender.send_replace(());
        }
    }

    /// Wakes all, for the last time.
    pub(crate) fn close(&self) {
        let mut followed = self.followed();
        followed.closed = true;
        followed.streams.clear();
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
