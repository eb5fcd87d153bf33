//! An operation costs the same in a store of few objects and of many.
//!
//! What it costs is counted, not timed: how many values it asks the store for, and how many entries
//! the store hands it.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use quixos_runtime::store::{
    Batch, Commit, CommitError, Concurrency, Direction, Durability, Health, MemoryStore, Page,
    Store, StoreError, StoreLimits, TransactionId, Version, View,
};

use crate::support::{Desk, Request, World, ask, claim, finish, steer, submission, upsert};

/// A store in memory that counts what is read.
struct Counting {
    store: MemoryStore,
    read: Arc<AtomicUsize>,
}

struct CountingView {
    view: Box<dyn View>,
    read: Arc<AtomicUsize>,
}

impl View for CountingView {
    fn version(&self) -> Version {
        self.view.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.read.fetch_add(1, Ordering::Relaxed);
        self.view.get(key)
    }

    fn range(
        &self,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let page = self.view.range(start, end, direction, limit)?;
        self.read.fetch_add(1 + page.entries.len(), Ordering::Relaxed);
        Ok(page)
    }
}

impl Store for Counting {
    fn view(&self) -> Result<Box<dyn View>, StoreError> {
        let (view, read) = (self.store.view()?, Arc::clone(&self.read));
        Ok(Box::new(CountingView { view, read }))
    }

    fn submit(&self, batch: Batch, durability: Durability) -> Result<Box<dyn Commit>, CommitError> {
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

/// A desk in a store that counts.
struct Counted {
    desk: Desk,
    read: Arc<AtomicUsize>,
}

impl Counted {
    async fn new() -> Self {
        let read = Arc::new(AtomicUsize::new(0));
        let store = Counting { store: MemoryStore::new(), read: Arc::clone(&read) };
        let desk = Desk::over(World::over(Arc::new(store)), "{}").await;
        Self { desk, read }
    }

    /// Returns how much a call reads.
    async fn cost(&self, call: impl Future) -> usize {
        let before = self.read.load(Ordering::Relaxed);
        call.await;
        self.read.load(Ordering::Relaxed) - before
    }

    /// Returns what each step in the life of a request costs.
    async fn life(&self, name: usize) -> Vec<usize> {
        let desk = &self.desk;
        let (message, note, question) =
            (format!("m{name}"), format!("s{name}"), format!("q{name}"));
        let mut costs = Vec::new();
        let mut request: Option<Request> = None;
        costs.push(
            self.cost(async {
                request = Some(desk.thread().send(&submission("Do it")).await.unwrap());
            })
            .await,
        );
        let call = desk.request(request.unwrap());
        costs.push(self.cost(call.claim(&claim("worker-1", 0))).await);
        costs.push(self.cost(call.upsert_item(&upsert(&message, 1))).await);
        costs.push(self.cost(call.upsert_item(&upsert(&message, 2))).await);
        costs.push(self.cost(call.steer(&steer(&note))).await);
        costs.push(self.cost(call.ask(&ask(&question))).await);
        costs.push(self.cost(call.finish(&finish("completed"))).await);
        costs.push(self.cost(call.publish_completion()).await);
        costs
    }
}

#[tokio::test]
async fn a_request_costs_the_same_after_many() {
    let counted = Counted::new().await;
    let mut lives = Vec::new();
    for name in 0..150 {
        lives.push(counted.life(name).await);
    }
    assert!(lives[5].iter().all(|cost| *cost > 0), "{:?}", lives[5]);
    assert_eq!(lives[5], lives[149]);
}

#[tokio::test]
async fn an_item_costs_the_same_among_many() {
    let counted = Counted::new().await;
    let call = counted.desk.request(counted.desk.running().await);
    let mut costs = Vec::new();
    for number in 0..2000 {
        let key = format!("m{number:04}");
        let created = counted.cost(call.upsert_item(&upsert(&key, 1))).await;
        let updated = counted.cost(call.upsert_item(&upsert(&key, 2))).await;
        costs.push((created, updated));
    }
    assert!(costs[10].0 > 0 && costs[10].1 > 0);
    assert_eq!(costs[10], costs[1999]);
}
