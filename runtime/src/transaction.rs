//! One transaction's own writes over one version of everything, with savepoints.
//!
//! Nothing leaves a transaction before it is taken whole by [`Transaction::finish`]; a savepoint
//! takes back what a failed call within it wrote, key by key, so that what goes on is as if that
//! call had never been.
//!
//! Invariant: a transaction that failed, at any depth and for whatever reason, left no byte.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::error::CallError;
use crate::ids::{self, IdSource};
use crate::key;
use crate::limits::Limits;
use crate::observer::{Watch, Watched};
use crate::overlay::{Base, Entry, Range, Read, is_empty, merge};
use crate::reference::ObjectRef;
use crate::store::{Direction, Page};
use crate::trace::{Step, Trace};

/// Who a transaction is for, and when it happens.
pub(crate) struct Circumstances<'t> {
    /// The one instant of the transaction.
    pub(crate) instant: DateTime<Utc>,
    /// The number it gets when it commits.
    pub(crate) commit: u64,
    /// Who called.
    pub(crate) actor: &'t str,
    /// The last id that the store gave out.
    pub(crate) last_id: Ulid,
    /// Where new ones come from.
    pub(crate) ids: &'t dyn IdSource,
    /// What it may use up.
    pub(crate) limits: Limits,
    /// Whether it may write.
    pub(crate) access: Access,
}

/// Whether a transaction may write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// It reads beside the lane.
    Read,
    /// It reads and writes.
    Write,
}

/// A transaction that is under way.
pub(crate) struct Transaction<'t> {
    base: &'t Base,
    circumstances: Circumstances<'t>,
    own: RefCell<Own>,
    depth: Cell<usize>,
    trace: Option<RefCell<Trace>>,
}

/// What a transaction wrote.
#[derive(Default)]
struct Own {
    writes: BTreeMap<Bytes, Option<Bytes>>,
    /// What each write replaced here, the last at the end.
    undo: Vec<(Bytes, Option<Option<Bytes>>)>,
    count: usize,
    bytes: usize,
    last_id: Ulid,
    ids: u32,
    watched: Watched,
}

/// What a transaction leaves when it succeeded.
pub(crate) struct Finished {
    /// Keys with their new values.
    pub(crate) writes: BTreeMap<Bytes, Option<Bytes>>,
    /// The last id that it gave out.
    pub(crate) last_id: Ulid,
    /// What was done in it that somebody wants to be told of.
    pub(crate) watched: Watched,
}

/// A point in a transaction that it can go back to.
pub(crate) struct Savepoint {
    undo: usize,
    last_id: Ulid,
    ids: u32,
    trace: usize,
    watched: usize,
}

impl<'t> Transaction<'t> {
    pub(crate) fn new(base: &'t Base, circumstances: Circumstances<'t>, traced: bool) -> Self {
        let own = Own { last_id: circumstances.last_id, ..Own::default() };
        Self {
            base,
            circumstances,
            own: RefCell::new(own),
            depth: Cell::new(0),
            trace: traced.then(RefCell::default),
        }
    }

    pub(crate) fn circumstances(&self) -> &Circumstances<'t> {
        &self.circumstances
    }

    pub(crate) fn base(&self) -> &'t Base {
        self.base
    }

    pub(crate) fn put(&self, key: Bytes, value: Bytes) -> Result<(), CallError> {
        self.write(key, Some(value))
    }

    pub(crate) fn delete(&self, key: Bytes) -> Result<(), CallError> {
        self.write(key, None)
    }

    fn write(&self, key: Bytes, value: Option<Bytes>) -> Result<(), CallError> {
        if self.circumstances.access == Access::Read {
            // Whoever may not write was refused before; this holds where that was forgotten.
            return Err(CallError::Unavailable { message: "a query does not write".into() });
        }
        let limits = &self.circumstances.limits;
        let mut own = self.own.borrow_mut();
        own.count += 1;
        own.bytes += key.len() + value.as_ref().map_or(0, Bytes::len);
        within("writes", limits.writes, own.count)?;
        within("bytes written", limits.bytes, own.bytes)?;
        let before = own.writes.insert(key.clone(), value);
        own.undo.push((key, before));
        Ok(())
    }

    /// Gives out a new id.
    pub(crate) fn new_id(&self) -> Result<Ulid, CallError> {
        let Circumstances { instant, commit, ids, .. } = &self.circumstances;
        let mut own = self.own.borrow_mut();
        let millis = u64::try_from(instant.timestamp_millis()).unwrap_or(0);
        let id = ids::next(own.last_id, millis, ids.bits(*commit, own.ids))?;
        own.last_id = id;
        own.ids += 1;
        Ok(id)
    }

    /// Enters a call within this transaction.
    pub(crate) fn enter(&self) -> Result<Savepoint, CallError> {
        within("depth of calls", self.circumstances.limits.depth, self.depth.get() + 1)?;
        self.depth.set(self.depth.get() + 1);
        Ok(self.savepoint())
    }

    /// Leaves a call; if it failed, takes back all that was written within it.
    pub(crate) fn leave(&self, savepoint: &Savepoint, failed: bool) {
        self.depth.set(self.depth.get() - 1);
        if failed {
            self.take_back(savepoint);
        }
    }

    /// Does what takes several writes, whole or not at all. A handler may go on after an error, so
    /// what failed half-way must not stay.
    pub(crate) fn whole<T>(
        &self,
        deed: impl FnOnce() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let savepoint = self.savepoint();
        let done = deed();
        if done.is_err() {
            self.take_back(&savepoint);
        }
        done
    }

    fn savepoint(&self) -> Savepoint {
        let own = self.own.borrow();
        let trace = self.trace.as_ref().map_or(0, |trace| trace.borrow().len());
        let watched = own.watched.len();
        Savepoint { undo: own.undo.len(), last_id: own.last_id, ids: own.ids, trace, watched }
    }

    fn take_back(&self, savepoint: &Savepoint) {
        let mut guard = self.own.borrow_mut();
        let own = &mut *guard;
        for (key, before) in own.undo.drain(savepoint.undo..).rev() {
            match before {
                Some(value) => own.writes.insert(key, value),
                None => own.writes.remove(&key),
            };
        }
        own.last_id = savepoint.last_id;
        own.ids = savepoint.ids;
        own.watched.truncate(savepoint.watched);
        if let Some(trace) = &self.trace {
            trace.borrow_mut().take_back(savepoint.trace);
        }
    }

    /// Returns how many calls this one is within, itself counted.
    pub(crate) fn depth(&self) -> usize {
        self.depth.get()
    }

    /// Notes a step, where steps are noted.
    pub(crate) fn note(&self, step: impl FnOnce() -> Step) {
        if let Some(trace) = &self.trace {
            trace.borrow_mut().push(step());
        }
    }

    /// Notes what was done, if somebody wants to be told of it.
    pub(crate) fn watch(&self, watch: &Watch, bytes: &[u8]) {
        if let Some(what) = watch {
            let done = (Arc::clone(what), Bytes::copy_from_slice(bytes));
            self.own.borrow_mut().watched.push(done);
        }
    }

    /// Tells whether anything was written.
    pub(crate) fn has_written(&self) -> bool {
        !self.own.borrow().writes.is_empty()
    }

    /// Reads what the transaction wrote, in the order of the keys.
    pub(crate) fn written<T>(&self, read: impl FnOnce(&BTreeMap<Bytes, Option<Bytes>>) -> T) -> T {
        read(&self.own.borrow().writes)
    }

    /// Returns the steps noted.
    pub(crate) fn steps(&self) -> Vec<Step> {
        self.trace.as_ref().map_or_else(Vec::new, |trace| trace.borrow().steps().to_vec())
    }

    /// Ends the transaction and gives out what it wrote.
    pub(crate) fn finish(self) -> Finished {
        let own = self.own.into_inner();
        Finished { writes: own.writes, last_id: own.last_id, watched: own.watched }
    }
}

impl Read for Transaction<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, CallError> {
        if let Some(value) = self.own.borrow().writes.get(key) {
            return Ok(value.clone());
        }
        self.base.get(key)
    }

    fn range(
        &self,
        range: Range<'_>,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<Entry>, CallError> {
        if is_empty(range) {
            return Ok(Vec::new());
        }
        let own = self.own.borrow();
        let below = |range: Range<'_>, limit: usize| {
            let entries = self.base.range(range, direction, limit)?;
            let more = entries.len() == limit;
            Ok(Page { entries, more })
        };
        merge(own.writes.range::<[u8], _>(range), below, range, direction, limit)
    }

    fn header(&self, object: ObjectRef) -> Result<Option<Bytes>, CallError> {
        // It is not of an object that this transaction creates.
        if let Some(header) = self.base.known_header(object) {
            return Ok(Some(header));
        }
        if let Some(created) = self.own.borrow().writes.get(&key::object(object)) {
            return Ok(created.clone());
        }
        self.base.header(object)
    }
}

/// Answers `limit` when more was asked than may be.
pub(crate) fn within(what: &str, limit: usize, asked: usize) -> Result<(), CallError> {
    if asked <= limit {
        return Ok(());
    }
    Err(CallError::Limit { message: format!("{what}: at most {limit}, this would be {asked}") })
}
