//! A store with something in front of it: what a test wants counted, changed, or to fail.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use super::{
    Batch, Commit, CommitError, Concurrency, Direction, Durability, Health, Page, Store,
    StoreError, StoreLimits, TransactionId, Version, View,
};

/// What stands in front of a store. It is told of each view, read and batch; if it fails, the call
/// does so.
pub trait Tap: Send + Sync + 'static {
    /// A view is asked for.
    ///
    /// # Errors
    /// What the caller is to be told instead.
    fn viewed(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// A value was asked for.
    ///
    /// # Errors
    /// What the caller is to be told instead.
    fn got(&self, _key: &[u8]) -> Result<(), StoreError> {
        Ok(())
    }

    /// Entries were read.
    ///
    /// # Errors
    /// What the caller is to be told instead.
    fn read(&self, _page: &Page) -> Result<(), StoreError> {
        Ok(())
    }

    /// A batch is to be written.
    ///
    /// # Errors
    /// What the caller is to be told; then it is not.
    fn submitted(&self, _batch: &Batch) -> Result<(), CommitError> {
        Ok(())
    }

    /// Returns what a batch may be, where the store says `limits`.
    fn limits(&self, limits: StoreLimits) -> StoreLimits {
        limits
    }
}

/// A store behind a tap.
pub struct Tapped<T> {
    store: Arc<dyn Store>,
    tap: Arc<T>,
}

impl<T: Tap> Tapped<T> {
    /// Puts a tap in front of a store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, tap: Arc<T>) -> Self {
        Self { store, tap }
    }
}

impl<T: Tap> Store for Tapped<T> {
    fn view(&self) -> Result<Box<dyn View>, StoreError> {
        self.tap.viewed()?;
        Ok(Box::new(TappedView { view: self.store.view()?, tap: Arc::clone(&self.tap) }))
    }

    fn submit(&self, batch: Batch, durability: Durability) -> Result<Box<dyn Commit>, CommitError> {
        self.tap.submitted(&batch)?;
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
        self.tap.limits(self.store.limits())
    }

    fn health(&self) -> Health {
        self.store.health()
    }

    fn concurrency(&self) -> Concurrency {
        self.store.concurrency()
    }
}

struct TappedView<T> {
    view: Box<dyn View>,
    tap: Arc<T>,
}

impl<T: Tap> View for TappedView<T> {
    fn version(&self) -> Version {
        self.view.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let value = self.view.get(key)?;
        self.tap.got(key)?;
        Ok(value)
    }

    fn range(
        &self,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let page = self.view.range(start, end, direction, limit)?;
        self.tap.read(&page)?;
        Ok(page)
    }
}

/// Counts what is read: a value or a range each as one, and each entry of a range.
#[derive(Debug, Default)]
pub struct ReadCount(AtomicUsize);

impl ReadCount {
    /// Returns how much was read so far.
    #[must_use]
    pub fn so_far(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns how much is read until something is done.
    pub async fn of(&self, call: impl Future) -> usize {
        let before = self.so_far();
        call.await;
        self.so_far() - before
    }
}

impl Tap for ReadCount {
    fn got(&self, _key: &[u8]) -> Result<(), StoreError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn read(&self, page: &Page) -> Result<(), StoreError> {
        self.0.fetch_add(1 + page.entries.len(), Ordering::Relaxed);
        Ok(())
    }
}
