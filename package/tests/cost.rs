//! An operation costs the same in a store of few objects and of many.
//!
//! What it costs is counted, not timed: how many values it asks the store for, and how many entries
//! the store hands it.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::sync::Arc;

use quixos_runtime::store::MemoryStore;
use quixos_runtime::store::tapped::{ReadCount, Tapped};

use crate::support::{Desk, Request, World, ask, claim, finish, steer, submission, upsert};

/// A desk in a store that counts.
struct Counted {
    desk: Desk,
    read: Arc<ReadCount>,
}

impl Counted {
    async fn new() -> Self {
        let read = Arc::new(ReadCount::default());
        let store = Tapped::new(Arc::new(MemoryStore::new()), Arc::clone(&read));
        let desk = Desk::over(World::over(Arc::new(store)), "{}").await;
        Self { desk, read }
    }

    /// Returns how much a call reads.
    async fn cost(&self, call: impl Future) -> usize {
        self.read.of(call).await
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
