//! Many callers at once: what one may get, one gets, and what is counted is counted right.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::sync::Arc;

use quixos_package::agent_runtime::{AgentDirectory, AgentRequest, EventStream};
use tokio::task::JoinSet;

use crate::support::{Desk, Request, claim, ordinary, takeover, upsert};

const CALLERS: usize = 16;

/// Lets many callers do something at once, and returns what they were answered.
async fn at_once<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    desk: &Arc<Desk>,
    call: impl Fn(Arc<Desk>, usize) -> F,
) -> Vec<T> {
    let mut calls = JoinSet::new();
    for caller in 0..CALLERS {
        calls.spawn(call(Arc::clone(desk), caller));
    }
    calls.join_all().await
}

async fn desk(settings: &str) -> Arc<Desk> {
    Arc::new(Desk::with(settings).await)
}

fn yes(answers: Vec<bool>) -> usize {
    answers.into_iter().filter(|yes| *yes).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_claims_a_request() {
    let desk = desk("{}").await;
    let request = desk.queued().await;
    for generation in 0..3 {
        let claimed = at_once(&desk, move |desk, caller| async move {
            let input = takeover(&format!("worker-{caller}"), generation);
            desk.request(request).claim(&input).await.unwrap().claimed
        });
        assert_eq!(yes(claimed.await), 1);
        assert_eq!(desk.progress(request).await.generation, generation + 1);
    }
    desk.world.verify().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_requests_gets_the_thread() {
    let desk = desk("{}").await;
    let mut queued: Vec<Request> = Vec::new();
    for _ in 0..CALLERS {
        queued.push(desk.queued().await);
    }
    let claimed = at_once(&desk, move |desk, caller| {
        let request = queued[caller];
        async move { desk.request(request).claim(&claim("worker", 0)).await.unwrap().claimed }
    });
    assert_eq!(yes(claimed.await), 1);
    desk.world.verify().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_than_the_limit_come_in() {
    let desk = desk(r#"{"limits":{"maxOrdinaryPending":5}}"#).await;
    let accepted = at_once(&desk, |desk, caller| async move {
        let input = desk.door(ordinary(&format!("Work {caller}")));
        let directory = AgentDirectory::on(&desk.world.session, desk.directory);
        directory.admit(&input).await.unwrap().accepted
    });
    assert_eq!(yes(accepted.await), 5);
    assert_eq!(desk.directory_data().await.ordinary_pending, 5);
    desk.world.verify().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_many_tell_is_told_once() {
    let desk = desk("{}").await;
    let request = desk.finished("completed").await;
    let told = at_once(&desk, move |desk, _| async move {
        AgentRequest::on(&desk.world.session, request).publish_completion().await.unwrap()
    });
    assert_eq!(yes(told.await), 1);
    let stream = desk.agent().completions().await.unwrap();
    let events = EventStream::on(&desk.world.session, stream).events(0, 100).await.unwrap();
    assert_eq!(events.len(), 1);
    desk.world.verify().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn items_that_many_write_have_places_of_their_own() {
    let desk = desk("{}").await;
    let request = desk.running().await;
    let items = at_once(&desk, move |desk, caller| async move {
        // Two callers write under each key; the second finds the item of the first.
        let key = format!("m{}", caller / 2);
        let item = desk.request(request).upsert_item(&upsert(&key, 1)).await.unwrap();
        desk.item_data(item).await.sequence
    });
    let mut places = items.await;
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), CALLERS / 2);
    assert_eq!(desk.thread_data().await.next_item, 2 + places.len() as u64);
    desk.world.verify().await;
}
