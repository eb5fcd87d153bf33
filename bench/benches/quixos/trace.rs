//! What the runtime reads and writes for each operation, recorded so that others can do it again.
//!
//! The recording is of one caller over a store in memory: every read then reaches the store, but
//! for those that a transaction answers from its own writes; and every write is the transaction's
//! own, its entry in the history included.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use quixos_bench::Durability;
use quixos_runtime::store::{
    self, Batch, Commit, CommitError, Concurrency, Direction, Health, MemoryStore, Page, Store,
    StoreError, StoreLimits, TransactionId, Version, View,
};

use crate::failure::Failure;
use crate::systems::Office;
use crate::work::Operation;

/// A key with its new value; `None` deletes.
pub(crate) type Write = (Bytes, Option<Bytes>);

/// Something that was read.
pub(crate) enum Read {
    Get(Bytes),
    Range { start: Bound<Bytes>, end: Bound<Bytes>, direction: Direction, limit: usize },
}

/// What one operation read, then wrote.
#[derive(Default)]
pub(crate) struct Step {
    pub(crate) reads: Vec<Read>,
    pub(crate) writes: Vec<Write>,
}

/// What was recorded.
pub(crate) struct Trace {
    requests: usize,
    preamble: Vec<Write>,
    steps: HashMap<Operation, Vec<Step>>,
}

/// In which order the work is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Each operation on all requests before the next operation.
    ByOperation,
    /// All operations on a request before the next request.
    ByRequest,
}

impl Trace {
    /// Has the runtime do the work, and records it.
    pub(crate) async fn record(
        operations: &[Operation],
        requests: usize,
        order: Order,
        item_bytes: usize,
    ) -> Result<Self, Failure> {
        let recorder = Arc::new(Recorder::default());
        let store = Arc::clone(&recorder);
        let office = Office::open(store, Durability::Durable, requests, item_bytes).await?;
        let preamble = recorder.take().writes;
        let mut trace = Self { requests, preamble, steps: HashMap::new() };
        let mut perform = async |operation: Operation, request: usize| {
            office.perform(operation, request).await?;
            trace.steps.entry(operation).or_default().push(recorder.take());
            Ok::<(), Failure>(())
        };
        match order {
            Order::ByOperation => {
                for operation in operations {
                    for request in 0..requests {
                        perform(*operation, request).await?;
                    }
                }
            }
            Order::ByRequest => {
                for request in 0..requests {
                    for operation in operations {
                        perform(*operation, request).await?;
                    }
                }
            }
        }
        Ok(trace)
    }

    /// Returns how many requests there are.
    pub(crate) fn requests(&self) -> usize {
        self.requests
    }

    /// Returns what was written before the first operation.
    pub(crate) fn preamble(&self) -> &[Write] {
        &self.preamble
    }

    /// Returns what an operation on a request does.
    pub(crate) fn step(&self, operation: Operation, request: usize) -> Result<&Step, Failure> {
        let step = self.steps.get(&operation).and_then(|steps| steps.get(request));
        step.ok_or_else(|| Failure::refused(format!("{operation:?} of {request} is not recorded")))
    }

    /// Tells whether an operation writes.
    pub(crate) fn writes(&self, operation: Operation) -> bool {
        let steps = self.steps.get(&operation);
        steps.is_some_and(|steps| steps.iter().any(|step| !step.writes.is_empty()))
    }
}

/// A store in memory that remembers what it was asked.
#[derive(Default)]
struct Recorder {
    store: MemoryStore,
    step: Arc<Mutex<Step>>,
}

impl Recorder {
    /// Returns what it was asked since the last time.
    fn take(&self) -> Step {
        std::mem::take(&mut held(&self.step))
    }
}

fn held(step: &Mutex<Step>) -> MutexGuard<'_, Step> {
    step.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for Recorder {
    fn view(&self) -> Result<Box<dyn View>, StoreError> {
        Ok(Box::new(RecordingView { view: self.store.view()?, step: Arc::clone(&self.step) }))
    }

    fn submit(
        &self,
        batch: Batch,
        durability: store::Durability,
    ) -> Result<Box<dyn Commit>, CommitError> {
        held(&self.step).writes.extend(batch.writes.iter().cloned());
        self.store.submit(batch, durability)
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

struct RecordingView {
    view: Box<dyn View>,
    step: Arc<Mutex<Step>>,
}

impl View for RecordingView {
    fn version(&self) -> Version {
        self.view.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        held(&self.step).reads.push(Read::Get(Bytes::copy_from_slice(key)));
        self.view.get(key)
    }

    fn range(
        &self,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let (first, last) = (start.map(Bytes::copy_from_slice), end.map(Bytes::copy_from_slice));
        held(&self.step).reads.push(Read::Range { start: first, end: last, direction, limit });
        self.view.range(start, end, direction, limit)
    }
}
