//! A store in memory, for tests and simulation.
//!
//! Views are persistent maps: each stays readable at its version for as long as it is held, except
//! one whose batch was dropped. As [`MemoryStore::new`] it has one writer, like the embedded store;
//! as [`MemoryStore::optimistic`] it lets many write and refuses a batch whose reads were
//! overtaken, like a clustered one.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use imbl::OrdMap;

use super::checked::{check_batch, readable_range};
use super::{
    Batch, Commit, CommitError, Concurrency, Direction, Durability, Health, Page, ReadRange, Store,
    StoreError, StoreLimits, TransactionId, Version, View,
};

/// A store that forgets everything when it is dropped.
#[derive(Debug)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

impl MemoryStore {
    /// Returns an empty store with one writer.
    #[must_use]
    pub fn new() -> MemoryStore {
        MemoryStore::with(Concurrency::SingleWriter)
    }

    /// Returns an empty store that lets many write and detects conflicts by what they read.
    #[must_use]
    pub fn optimistic() -> MemoryStore {
        MemoryStore::with(Concurrency::Optimistic)
    }

    fn with(concurrency: Concurrency) -> MemoryStore {
        let state = State::default();
        MemoryStore {
            shared: Arc::new(Shared {
                concurrency,
                state: Mutex::new(state),
                turn: Condvar::new(),
            }),
        }
    }
}

impl Default for MemoryStore {
    fn default() -> MemoryStore {
        MemoryStore::new()
    }
}

impl Store for MemoryStore {
    fn view(&self) -> Result<Box<dyn View>, StoreError> {
        let state = self.shared.state();
        let snapshot = state.staged.as_ref().unwrap_or(&state.committed);
        Ok(Box::new(snapshot.clone()))
    }

    fn submit(&self, batch: Batch, _: Durability) -> Result<Box<dyn Commit>, CommitError> {
        check_batch(&batch, &self.limits())?;
        let mut state = self.shared.state();
        if self.shared.concurrency == Concurrency::SingleWriter {
            while state.staged.is_some() {
                state = self.shared.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.refuse_unknown_version(&batch)?;
            state.staged = Some(state.committed.with(&batch));
        } else {
            state.refuse_unknown_version(&batch)?;
        }
        Ok(Box::new(MemoryCommit { shared: Arc::clone(&self.shared), batch: Some(batch) }))
    }

    fn sync(&self) -> Result<(), CommitError> {
        Ok(())
    }

    fn durable(&self) -> Version {
        self.shared.state().committed.version
    }

    fn outcome(&self, transaction: TransactionId) -> Result<Option<Version>, StoreError> {
        Ok(self.shared.state().committed.outcomes.get(&transaction).copied())
    }

    fn limits(&self) -> StoreLimits {
        StoreLimits::default()
    }

    fn health(&self) -> Health {
        Health::Good
    }

    fn concurrency(&self) -> Concurrency {
        self.shared.concurrency
    }
}

#[derive(Debug)]
struct Shared {
    concurrency: Concurrency,
    state: Mutex<State>,
    /// Told when no batch is staged any longer.
    turn: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // No step that changes the state can stop half-way, so it is whole even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct State {
    committed: Snapshot,
    /// The one batch that a single writer has under way.
    staged: Option<Snapshot>,
    /// When each key was last written or deleted. Kept by the optimistic store only.
    written: OrdMap<Bytes, Version>,
}

impl State {
    fn refuse_unknown_version(&self, batch: &Batch) -> Result<(), CommitError> {
        let known = batch.read_version <= self.committed.version;
        if known { Ok(()) } else { Err(CommitError::Conflict) }
    }

    fn overtaken(&self, reads: &[ReadRange], read_version: Version) -> bool {
        reads.iter().any(|ReadRange { start, end }| {
            let (start, end) = (start.as_ref().map(Bytes::as_ref), end.as_ref().map(Bytes::as_ref));
            readable_range(start, end).is_some_and(|range| {
                self.written.range::<_, [u8]>(range).any(|(_, &version)| version > read_version)
            })
        })
    }
}

/// Everything in the store at one version.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    version: Version,
    entries: OrdMap<Bytes, Bytes>,
    outcomes: OrdMap<TransactionId, Version>,
    /// Set when the batch that made this version was dropped.
    dropped: Arc<AtomicBool>,
}

impl Snapshot {
    fn with(&self, batch: &Batch) -> Snapshot {
        let mut next = self.clone();
        next.version += 1;
        next.dropped = Arc::default();
        for (key, value) in &batch.writes {
            match value {
                Some(value) => next.entries.insert(key.clone(), value.clone()),
                None => next.entries.remove(key),
            };
        }
        for &transaction in &batch.transactions {
            next.outcomes.insert(transaction, next.version);
        }
        next
    }

    fn readable(&self) -> Result<(), StoreError> {
        if self.dropped.load(Ordering::Acquire) { Err(StoreError::Expired) } else { Ok(()) }
    }
}

impl View for Snapshot {
    fn version(&self) -> Version {
        self.version
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.readable()?;
        Ok(self.entries.get(key).cloned())
    }

    fn range(
        &self,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
        limit: usize,
    ) -> Result<Page, StoreError> {
        self.readable()?;
        let Some(range) = readable_range(start, end) else { return Ok(Page::default()) };
        let found = self.entries.range::<_, [u8]>(range);
        Ok(match direction {
            Direction::Forward => page(found, limit),
            Direction::Backward => page(found.rev(), limit),
        })
    }
}

fn page<'a>(mut found: impl Iterator<Item = (&'a Bytes, &'a Bytes)>, limit: usize) -> Page {
    let entries = found.by_ref().take(limit).map(|(k, v)| (k.clone(), v.clone())).collect();
    Page { entries, more: found.next().is_some() }
}

/// A batch between `submit` and `wait`; the batch is gone once it was waited for.
struct MemoryCommit {
    shared: Arc<Shared>,
    batch: Option<Batch>,
}

impl Commit for MemoryCommit {
    fn wait(mut self: Box<Self>) -> Result<Version, CommitError> {
        let mut state = self.shared.state();
        let batch = self.batch.take();
        if let Some(staged) = state.staged.take() {
            state.committed = staged;
            self.shared.turn.notify_one();
        } else if let Some(batch) = batch {
            if state.overtaken(&batch.reads, batch.read_version) {
                return Err(CommitError::Conflict);
            }
            state.committed = state.committed.with(&batch);
            let version = state.committed.version;
            for (key, _) in batch.writes {
                state.written.insert(key, version);
            }
        }
        Ok(state.committed.version)
    }
}

impl Drop for MemoryCommit {
    fn drop(&mut self) {
        if self.batch.is_none() {
            return;
        }
        if let Some(staged) = self.shared.state().staged.take() {
            staged.dropped.store(true, Ordering::Release);
            self.shared.turn.notify_one();
        }
    }
}
