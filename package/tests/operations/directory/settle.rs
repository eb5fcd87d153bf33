//! `directory_settle`: a part of `request_finish`, and no door of its own.

use serde_json::{Value, json};

use crate::support::{Desk, Request, finish, ordinary};

fn input(desk: &Desk, request: Request, notify: bool) -> Value {
    json!({
        "request": desk.world.text(request),
        "thread": desk.world.text(desk.thread),
        "interactive": true,
        "notify": notify,
    })
}

#[tokio::test]
async fn settle_is_no_door() {
    let desk = Desk::new().await;
    let input = input(&desk, desk.queued().await, false);
    let call = desk.world.outside(desk.directory, "settle", input);
    assert_eq!(desk.world.fails(call).await.code(), "capability");
}

#[tokio::test]
async fn settle_takes_a_request_out_of_the_queue_and_frees_its_thread() {
    let desk = Desk::new().await;
    let first = desk.running().await;
    let second = desk.queued().await;
    let sequence = desk.thread_data().await.sequence;
    desk.world.wait(5);
    assert!(desk.request(first).finish(&finish("completed")).await.unwrap());
    let directory = desk.directory_data().await;
    assert_eq!((directory.pending, directory.notification_pending), (1, 1));
    assert_eq!(desk.directory().pending().await.unwrap(), [second]);
    assert_eq!(desk.directory().notifications().await.unwrap(), [first]);
    let thread = desk.thread_data().await;
    assert_eq!((thread.pending, thread.sequence), (1, sequence + 1));
    assert_eq!(thread.updated_at, "2026-01-31T12:05:00Z", "the transaction's instant");
    assert_eq!(desk.thread().active().await.unwrap(), None);
}

#[tokio::test]
async fn settle_counts_down_what_it_counted_up() {
    let desk = Desk::new().await;
    let (one, _two) = (desk.admitted(ordinary("One")).await, desk.queued().await);
    assert!(desk.request(one).cancel().await.unwrap());
    let directory = desk.directory_data().await;
    assert_eq!((directory.pending, directory.ordinary_pending), (1, 0));
    desk.world.verify().await;
}

#[tokio::test]
async fn settle_twice_is_the_same_as_once() {
    let desk = Desk::new().await;
    let request = desk.finished("completed").await;
    for notify in [true, false] {
        let settle = desk.world.internal(desk.directory, "settle", input(&desk, request, notify));
        desk.world.keeps(settle).await;
    }
    desk.world.verify().await;
}

#[tokio::test]
async fn settle_leaves_the_thread_to_another_request() {
    let desk = Desk::new().await;
    let running = desk.running().await;
    let queued = desk.queued().await;
    assert!(desk.request(queued).cancel().await.unwrap());
    assert_eq!(desk.thread().active().await.unwrap(), Some(running));
}
