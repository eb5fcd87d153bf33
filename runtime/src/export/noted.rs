//! Which keys are written while an export reads.
//!
//! Between the runtime and its store. As long as nobody takes notes, a batch costs one look at a
//! number.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::store::{
    Batch, Commit, CommitError, Concurrency, Durability, Health, Store, StoreError, StoreLimits,
    TransactionId, Version, View,
};

/// A store, and who takes notes of what it is given.
pub(crate) struct NotedStore {
    store: Arc<dyn Store>,
    takers: Arc<Takers>,
}

/// Those who take notes.
#[derive(Default)]
pub(crate) struct Takers {
    count: AtomicUsize,
    notes: Mutex<Vec<Arc<Notes>>>,
}

/// The keys of what one of them has noted.
type Notes = Mutex<BTreeSet<Bytes>>;

/// Notes of what the store is given, until they are dropped.
pub(crate) struct Noted {
    takers: Arc<Takers>,
    notes: Arc<Notes>,
}

impl NotedStore {
    pub(crate) fn new(store: Arc<dyn Store>, takers: Arc<Takers>) -> Self {
        Self { store, takers }
    }
}

impl Takers {
    /// Begins to note. A batch that the store is being given at this moment may not be in it.
    pub(crate) fn begin(self: &Arc<Self>) -> Noted {
        let notes = Arc::<Notes>::default();
        self.notes().push(Arc::clone(&notes));
        self.count.fetch_add(1, Ordering::SeqCst);
        Noted { takers: Arc::clone(self), notes }
    }

    fn notes(&self) -> MutexGuard<'_, Vec<Arc<Notes>>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, keys: &[Bytes]) {
        for notes in self.notes().iter() {
            unpoisoned(notes).extend(keys.iter().cloned());
        }
    }
}

impl Noted {
    /// Takes what was noted. Whoever reads a key of it from now on sees the batch that it is of, or
    /// a later one, which is noted anew.
    pub(crate) fn take(&self) -> BTreeSet<Bytes> {
        std::mem::take(&mut *unpoisoned(&self.notes))
    }

    pub(crate) fn len(&self) -> usize {
        unpoisoned(&self.notes).len()
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.takers.notes().retain(|notes| !Arc::ptr_eq(notes, &self.notes));
        self.takers.count.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A set is whole also after a panic of whoever had it.
fn unpoisoned(notes: &Notes) -> MutexGuard<'_, BTreeSet<Bytes>> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for NotedStore {
    fn view(&self) -> Result<Box<dyn View>, StoreError> {
        self.store.view()
    }

    fn submit(&self, batch: Batch, durability: Durability) -> Result<Box<dyn Commit>, CommitError> {
        let is_noted = self.takers.count.load(Ordering::SeqCst) > 0;
        let keys: Vec<Bytes> = if is_noted {
            batch.writes.iter().map(|(key, _)| key.clone()).collect()
        } else {
            Vec::new()
        };
        let commit = self.store.submit(batch, durability)?;
        // Noted once views show it: who takes the notes before reads what the store had before, and
        // finds the keys in the next ones.
        if is_noted {
            self.takers.note(&keys);
        }
        Ok(commit)
    }

    fn sync(&self) -> Result<(), CommitError> {
        self.store.sync()
    }

    fn durable(&self) -> Version {
        self.store.durable()
    }

    fn outcome(&self, transaction: TransactionId) -> Result<Option<Version>, StoreError> {
        self.store.outcome(transaction)
    }

    fn limits(&self) -> StoreLimits {
        self.store.limits()
    }

    fn health(&self) -> Health {
        self.store.health()
    }

    fn concurrency(&self) -> Concurrency {
        self.store.concurrency()
    }
}
