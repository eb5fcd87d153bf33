//! Where no spans are exported, a client's trace is passed on all the same. A process has one subscriber
//! for what it traces, and this one has none.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

#[tokio::test(flavor = "multi_thread")]
async fn workers_are_asked_in_the_clients_trace() {
    support::trace::is_passed_on().await;
}
