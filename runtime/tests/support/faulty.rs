//! A store in memory that fails when told to, and stands still while it is told to.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use bytes::Bytes;
use quixos_runtime::store::{
    Batch, Commit, CommitError, Concurrency, Direction, Durability, Health, MemoryStore, Page,
    Store, StoreError, StoreLimits, TransactionId, Version, View, Written,
};

/// How a batch fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Refused when it is submitted.
    NoSpaceAtSubmit,
    /// Refused by the disk.
    NoSpace,
    /// The disk failed for good.
    Poisoned,
    /// The same, and nothing can be read from it any more.
    Closed,
    /// Nobody knows; it was written.
    UnknownWritten,
    /// Nobody knows; it was not.
    UnknownLost,
    /// The store has an error of its own.
    Panic,
}

#[derive(Default)]
struct State {
    faults: Mutex<VecDeque<Fault>>,
    standing: Mutex<bool>,
    /// Set while what is written does not reach the disk.
    disk_standing: Mutex<bool>,
    /// Set when it never will.
    disk_broken: AtomicBool,
    /// How many batches were written.
    written: AtomicUsize,
    moves: Condvar,
    /// Set when nothing can be read any more.
    closed: AtomicBool,
    /// How many views are still to expire at their first use.
    expiring: AtomicUsize,
    /// Keys and values of the largest batch.
    largest: AtomicUsize,
    /// How many values were asked for.
    gets: AtomicUsize,
}

#[derive(Default)]
pub struct FaultyStore {
    inner: MemoryStore,
    state: Arc<State>,
    limits: StoreLimits,
}

impl FaultyStore {
    pub fn with_batch_limit(batch: usize) -> Self {
        Self { limits: StoreLimits { batch, ..StoreLimits::default() }, ..Self::default() }
    }

    /// Lets the next batch fail so.
    pub fn fail(&self, fault: Fault) {
        self.state.faults.lock().unwrap().push_back(fault);
    }

    /// Lets no batch fail any more.
    pub fn heal(&self) {
        self.state.faults.lock().unwrap().clear();
    }

    /// Keeps batches from being written until told to go on.
    pub fn stand_still(&self) {
        *self.state.standing.lock().unwrap() = true;
    }

    pub fn go_on(&self) {
        *self.state.standing.lock().unwrap() = false;
        self.state.moves.notify_all();
    }

    /// Lets batches be written, and keeps them from the disk until told to go on.
    pub fn hold_disk(&self) {
        *self.state.disk_standing.lock().unwrap() = true;
    }

    /// Lets what is written reach the disk, or fail to for good.
    pub fn release_disk(&self, broken: bool) {
        self.state.disk_broken.store(broken, Ordering::SeqCst);
        *self.state.disk_standing.lock().unwrap() = false;
        self.state.moves.notify_all();
    }

    /// Returns how many batches were written so far.
    pub fn written(&self) -> usize {
        self.state.written.load(Ordering::SeqCst)
    }

    /// Lets the next views expire at their first use.
    pub fn expire_views(&self, count: usize) {
        self.state.expiring.store(count, Ordering::SeqCst);
    }

    pub fn still_expiring(&self) -> usize {
        self.state.expiring.load(Ordering::SeqCst)
    }

    pub fn largest_batch(&self) -> usize {
        self.state.largest.load(Ordering::SeqCst)
    }

    /// Returns how many values were asked for so far.
    pub fn gets(&self) -> usize {
        self.state.gets.load(Ordering::SeqCst)
    }
}

fn no_space() -> CommitError {
    CommitError::NoSpace { free: 1, floor: 2 }
}

impl Store for FaultyStore {
    fn view(&self) -> Result<Box<dyn View>, StoreError> {
        let take_one = |left: usize| left.checked_sub(1);
        let expired =
            self.state.expiring.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take_one).is_ok();
        let state = Arc::clone(&self.state);
        Ok(Box::new(FaultyView { inner: self.inner.view()?, expired, state }))
    }

    fn submit(&self, batch: Batch, how: Durability) -> Result<Box<dyn Commit>, CommitError> {
        let size = |(key, value): &(Bytes, Option<Bytes>)| {
            key.len() + value.as_ref().map_or(0, Bytes::len)
        };
        self.state.largest.fetch_max(batch.writes.iter().map(size).sum(), Ordering::SeqCst);
        let newest = self.inner.view().unwrap().version();
        assert_eq!(batch.read_version, newest, "the lane is the only one that writes");
        if self.state.disk_broken.load(Ordering::SeqCst) {
            return Err(CommitError::Poisoned("the disk failed".into()));
        }
        let mut faults = self.state.faults.lock().unwrap();
        if faults.front() == Some(&Fault::NoSpaceAtSubmit) {
            faults.pop_front();
            return Err(no_space());
        }
        let inner = self.inner.submit(batch, how)?;
        Ok(Box::new(FaultyCommit { inner, state: Arc::clone(&self.state) }))
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
        self.limits
    }

    fn health(&self) -> Health {
        Health::Good
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::SingleWriter
    }
}

struct FaultyCommit {
    inner: Box<dyn Commit>,
    state: Arc<State>,
}

impl Commit for FaultyCommit {
    fn write(self: Box<Self>) -> Result<Box<dyn Written>, CommitError> {
        let state = Arc::clone(&self.state);
        Ok(FaultyWritten::of(self.wait()?, state))
    }

    fn wait(self: Box<Self>) -> Result<Version, CommitError> {
        let mut standing = self.state.standing.lock().unwrap();
        while *standing {
            standing = self.state.moves.wait(standing).unwrap();
        }
        drop(standing);
        let mut faults = self.state.faults.lock().unwrap();
        let fault = faults.pop_front_if(|fault| *fault != Fault::NoSpaceAtSubmit);
        drop(faults);
        let Self { inner, state } = *self;
        match fault {
            None => inner.wait(),
            Some(Fault::UnknownWritten) => {
                inner.wait()?;
                Err(CommitError::Unknown("the disk did not say".into()))
            }
            Some(other) => {
                drop(inner);
                match other {
                    Fault::Poisoned => Err(CommitError::Poisoned("the disk failed".into())),
                    Fault::Closed => {
                        state.closed.store(true, Ordering::SeqCst);
                        Err(CommitError::Poisoned("the disk failed".into()))
                    }
                    Fault::UnknownLost => Err(CommitError::Unknown("the disk did not say".into())),
                    Fault::Panic => panic!("a store with an error of its own"),
                    Fault::NoSpace | Fault::NoSpaceAtSubmit | Fault::UnknownWritten => {
                        Err(no_space())
                    }
                }
            }
        }
    }
}

impl FaultyWritten {
    fn of(version: Version, state: Arc<State>) -> Box<dyn Written> {
        state.written.fetch_add(1, Ordering::SeqCst);
        Box::new(Self { version, state })
    }
}

struct FaultyWritten {
    version: Version,
    state: Arc<State>,
}

impl Written for FaultyWritten {
    fn wait(self: Box<Self>) -> Result<Version, CommitError> {
        let mut standing = self.state.disk_standing.lock().unwrap();
        while *standing {
            standing = self.state.moves.wait(standing).unwrap();
        }
        match self.state.disk_broken.load(Ordering::SeqCst) {
            true => Err(CommitError::Unknown("the disk failed".into())),
            false => Ok(self.version),
        }
    }
}

struct FaultyView {
    inner: Box<dyn View>,
    expired: bool,
    state: Arc<State>,
}

impl FaultyView {
    fn check(&self) -> Result<(), StoreError> {
        if self.state.closed.load(Ordering::SeqCst) {
            return Err(StoreError::Closed("the disk failed".into()));
        }
        if self.expired { Err(StoreError::Expired) } else { Ok(()) }
    }
}

impl View for FaultyView {
    fn version(&self) -> Version {
        self.inner.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.check()?;
        self.state.gets.fetch_add(1, Ordering::SeqCst);
        self.inner.get(key)
    }

    fn range(
        &self,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
        limit: usize,
    ) -> Result<Page, StoreError> {
        self.check()?;
        self.inner.range(start, end, direction, limit)
    }
}
