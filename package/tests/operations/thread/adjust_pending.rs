//! `thread_adjustPending`: a part of admission and settlement, and no door of its own.

use quixos_runtime::CallError;
use serde_json::{Value, json};

use crate::support::{Desk, START, invalid_at, minute};

async fn adjust(desk: &Desk, delta: i32, at: &str) -> Result<Value, CallError> {
    let input = json!({ "delta": delta, "updatedAt": at });
    desk.world.internal(desk.thread, "adjustPending", input).await
}

#[tokio::test]
async fn adjust_pending_is_no_door() {
    let desk = Desk::new().await;
    let input = json!({ "delta": 1, "updatedAt": START });
    let call = desk.world.outside(desk.thread, "adjustPending", input);
    assert_eq!(desk.world.fails(call).await.code(), "capability");
}

#[tokio::test]
async fn adjust_pending_counts_and_answers_the_next_sequence() {
    let desk = Desk::new().await;
    let before = desk.thread_data().await;
    assert_eq!(adjust(&desk, 3, &minute(3)).await.unwrap(), before.sequence + 1);
    assert_eq!(adjust(&desk, -2, &minute(2)).await.unwrap(), before.sequence + 2);
    let thread = desk.thread_data().await;
    assert_eq!((thread.pending, thread.sequence), (1, before.sequence + 2));
    assert_eq!(thread.updated_at, minute(3), "it moves forward only");
    assert_eq!(thread.next_item, before.next_item);
}

#[tokio::test]
async fn adjust_pending_refuses_to_go_below_zero() {
    let desk = Desk::new().await;
    let error = desk.world.fails(adjust(&desk, -1, START)).await;
    assert_eq!(invalid_at(error), "delta");
}

#[tokio::test]
async fn adjust_pending_refuses_to_go_above_its_range() {
    let desk = Desk::new().await;
    for _ in 0..2 {
        adjust(&desk, i32::MAX, START).await.unwrap();
    }
    adjust(&desk, 1, START).await.unwrap();
    assert_eq!(desk.thread_data().await.pending, u32::MAX);
    assert_eq!(desk.world.fails(adjust(&desk, 1, START)).await.code(), "limit");
}

#[tokio::test]
async fn adjust_pending_refuses_a_time_that_is_none() {
    let desk = Desk::new().await;
    let error = desk.world.fails(adjust(&desk, -1, "soon")).await;
    assert_eq!(invalid_at(error), "updatedAt");
}
