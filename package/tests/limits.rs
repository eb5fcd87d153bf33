//! Counters at the end of their range: the step that does not fit is `limit`, nothing wraps, and
//! nothing of the call is left. No caller gets there in a lifetime, so it is written into the store.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use quixos_package::agent_runtime::{DirectoryData, ThreadData};
use quixos_runtime::CallError;

use crate::support::{Desk, finish, new_thread, submission, upsert};

/// The last limits that settings can say.
const NO_LIMITS: &str = r#"{"limits":{"maxPending":4294967295,"maxOrdinaryPending":4294967295}}"#;

async fn at_its_limit<T: std::fmt::Debug>(
    desk: &Desk,
    name: &str,
    call: impl Future<Output = Result<T, CallError>>,
) {
    let error = desk.world.fails(call).await;
    assert_eq!(error.code(), "limit");
    assert!(error.to_string().contains(name), "{error}");
}

#[tokio::test]
async fn the_last_sequence_of_a_directory() {
    let mut desk = Desk::new().await;
    let data = DirectoryData { sequence: u64::MAX - 1, ..desk.directory_data().await };
    desk.world.rewrite(desk.directory, "data", &data);
    let last = desk.queued().await;
    assert_eq!(desk.admission(last).await.sequence, u64::MAX);
    let input = desk.door(submission("One more"));
    at_its_limit(&desk, "directory.sequence", desk.directory().admit(&input)).await;
    let input = new_thread(desk.agent);
    at_its_limit(&desk, "directory.sequence", desk.directory().create_thread(&input)).await;
}

#[tokio::test]
async fn the_last_notification_of_a_directory() {
    let mut desk = Desk::new().await;
    let request = desk.running().await;
    let data = DirectoryData { notification_pending: u32::MAX, ..desk.directory_data().await };
    desk.world.rewrite(desk.directory, "data", &data);
    let end = finish("completed");
    let call = desk.request(request);
    at_its_limit(&desk, "directory.notificationPending", call.finish(&end)).await;
    assert_eq!(desk.status(request).await, "running");
}

#[tokio::test]
async fn a_directory_that_counts_too_few_cannot_count_down() {
    let mut desk = Desk::new().await;
    let request = desk.running().await;
    let data = DirectoryData { pending: 0, ..desk.directory_data().await };
    desk.world.rewrite(desk.directory, "data", &data);
    let end = finish("completed");
    at_its_limit(&desk, "directory.pending", desk.request(request).finish(&end)).await;
}

#[tokio::test]
async fn the_last_numbers_of_a_thread() {
    let mut desk = Desk::with(NO_LIMITS).await;
    let data = desk.thread_data().await;
    let input = submission("One more");
    for (data, name) in [
        (ThreadData { sequence: u64::MAX, ..data.clone() }, "thread.sequence"),
        (ThreadData { pending: u32::MAX, ..data.clone() }, "thread.pending"),
        (ThreadData { next_item: u64::MAX, ..data.clone() }, "thread.nextItem"),
    ] {
        desk.world.rewrite(desk.thread, "data", &data);
        at_its_limit(&desk, name, desk.thread().send(&input)).await;
    }
    desk.world.rewrite(desk.thread, "data", &data);
    let request = desk.running().await;
    let data = ThreadData { next_item: u64::MAX, ..desk.thread_data().await };
    desk.world.rewrite(desk.thread, "data", &data);
    let call = desk.request(request);
    at_its_limit(&desk, "thread.nextItem", call.upsert_item(&upsert("m1", 1))).await;
}
