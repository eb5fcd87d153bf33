//! A store in memory of which one call fails, or all from one on, in each way that the store's trait
//! knows.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use quixos_runtime::store::{
    Batch, Commit, CommitError, Concurrency, Direction, Durability, Health, MemoryStore, Page,
    Store, StoreError, StoreLimits, TransactionId, Version, View, Written,
};

/// A call of the store's trait that the runtime makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoreCall {
    View,
    Get,
    Range,
    Submit,
    Write,
    Wait,
}

impl StoreCall {
    pub(crate) const ALL: [Self; 6] =
        [Self::View, Self::Get, Self::Range, Self::Submit, Self::Write, Self::Wait];

    /// Returns the ways in which it can fail.
    pub(crate) fn ways(self) -> Vec<How> {
        let said = || "a disk that fails".to_owned();
        let reads = [
            StoreError::Expired,
            StoreError::Io(said()),
            StoreError::Corrupt(said()),
            StoreError::Closed(said()),
        ];
        let writes = [
            CommitError::Conflict,
            CommitError::Busy,
            CommitError::TooLarge(said()),
            CommitError::NoSpace { free: 1, floor: 2 },
            CommitError::Poisoned(said()),
        ];
        let writes = writes.into_iter().map(How::Written);
        match self {
            // It reads nothing that could be damaged, and is never too old.
            Self::View => [StoreError::Io(said()), StoreError::Closed(said())]
                .into_iter()
                .map(How::Read)
                .collect(),
            Self::Get | Self::Range => reads.into_iter().map(How::Read).collect(),
            Self::Submit => writes.chain([How::Written(CommitError::Malformed(said()))]).collect(),
            Self::Write => {
                writes.chain([How::Written(CommitError::Unknown(said())), How::InDoubt]).collect()
            }
            // It is in the store by then; what is not known is whether the disk has it.
            Self::Wait => vec![How::InDoubt],
        }
    }
}

/// How a call fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum How {
    Read(StoreError),
    /// Nothing of the batch is in the store.
    Written(CommitError),
    /// The outcome is unknown, and the batch is in the store.
    InDoubt,
}

/// What is to fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StoreFault {
    pub(crate) call: StoreCall,
    /// Which call of these, from 1.
    pub(crate) nth: u64,
    /// Whether those after it fail too.
    pub(crate) lasts: bool,
    pub(crate) how: How,
}

/// Counts calls, and knows which of them fails.
#[derive(Debug, Default)]
struct Plan {
    made: [AtomicU64; StoreCall::ALL.len()],
    fault: Option<StoreFault>,
}

impl Plan {
    /// Counts a call, and returns how it fails, if it does.
    fn met(&self, call: StoreCall) -> Option<&How> {
        let number = self.made[call as usize].fetch_add(1, Ordering::SeqCst) + 1;
        let fault = self.fault.as_ref().filter(|fault| fault.call == call)?;
        let is_it = number == fault.nth || fault.lasts && number > fault.nth;
        is_it.then_some(&fault.how)
    }

    fn read(&self, call: StoreCall) -> Result<(), StoreError> {
        match self.met(call) {
            Some(How::Read(error)) => Err(error.clone()),
            Some(How::Written(_) | How::InDoubt) | None => Ok(()),
        }
    }
}

/// A store of which something fails.
pub(crate) struct FailingStore {
    inner: Arc<MemoryStore>,
    plan: Arc<Plan>,
}

impl FailingStore {
    pub(crate) fn over(inner: Arc<MemoryStore>, fault: Option<StoreFault>) -> Self {
        Self { inner, plan: Arc::new(Plan { fault, ..Plan::default() }) }
    }

    /// Returns how often a call was made.
    pub(crate) fn made(&self, call: StoreCall) -> u64 {
        self.plan.made[call as usize].load(Ordering::SeqCst)
    }
}

impl Store for FailingStore {
    fn view(&self) -> Result<Box<dyn View>, StoreError> {
        self.plan.read(StoreCall::View)?;
        Ok(Box::new(FailingView { inner: self.inner.view()?, plan: Arc::clone(&self.plan) }))
    }

    fn submit(&self, batch: Batch, how: Durability) -> Result<Box<dyn Commit>, CommitError> {
        if let Some(How::Written(error)) = self.plan.met(StoreCall::Submit) {
            return Err(error.clone());
        }
        let inner = self.inner.submit(batch, how)?;
        Ok(Box::new(FailingCommit { inner, plan: Arc::clone(&self.plan) }))
    }

    fn sync(&self) -> Result<(), CommitError> {
        self.inner.sync()
    }

    fn durable(&self) -> Version {
        self.inner.durable()
    }

    fn outcome(&self, transaction: TransactionId) -> Result<Option<Version>, StoreError> {
        self.inner.outcome(transaction)
    }

    fn limits(&self) -> StoreLimits {
        self.inner.limits()
    }

    fn health(&self) -> Health {
        self.inner.health()
    }

    fn concurrency(&self) -> Concurrency {
        self.inner.concurrency()
    }
}

struct FailingCommit {
    inner: Box<dyn Commit>,
    plan: Arc<Plan>,
}

impl Commit for FailingCommit {
    fn wait(self: Box<Self>) -> Result<Version, CommitError> {
        self.write()?.wait()
    }

    fn write(self: Box<Self>) -> Result<Box<dyn Written>, CommitError> {
        let Self { inner, plan } = *self;
        match plan.met(StoreCall::Write) {
            Some(How::Written(error)) => {
                drop(inner);
                Err(error.clone())
            }
            Some(How::InDoubt) => {
                inner.wait()?;
                Err(CommitError::Unknown("the disk did not say".to_owned()))
            }
            Some(How::Read(_)) | None => {
                Ok(Box::new(FailingWritten { inner: inner.write()?, plan }))
            }
        }
    }
}

struct FailingWritten {
    inner: Box<dyn Written>,
    plan: Arc<Plan>,
}

impl Written for FailingWritten {
    fn wait(self: Box<Self>) -> Result<Version, CommitError> {
        let version = self.inner.wait()?;
        match self.plan.met(StoreCall::Wait) {
            Some(_) => Err(CommitError::Unknown("the disk did not say".to_owned())),
            None => Ok(version),
        }
    }
}

struct FailingView {
    inner: Box<dyn View>,
    plan: Arc<Plan>,
}

impl View for FailingView {
    fn version(&self) -> Version {
        self.inner.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.plan.read(StoreCall::Get)?;
        self.inner.get(key)
    }

    fn range(
        &self,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
        limit: usize,
    ) -> Result<Page, StoreError> {
        self.plan.read(StoreCall::Range)?;
        self.inner.range(start, end, direction, limit)
    }
}
