//! `thread_allocateItem`: a part of whatever writes an item, and no door of its own.

use quixos_runtime::CallError;
use serde_json::Value;

use crate::support::{Desk, START, invalid_at, minute};

async fn allocate(desk: &Desk, at: &str) -> Result<Value, CallError> {
    desk.world.internal(desk.thread, "allocateItem", at.into()).await
}

#[tokio::test]
async fn allocate_item_is_no_door() {
    let desk = Desk::new().await;
    let call = desk.world.outside(desk.thread, "allocateItem", START.into());
    assert_eq!(desk.world.fails(call).await.code(), "capability");
}

#[tokio::test]
async fn allocate_item_gives_each_place_once_and_moves_the_time_forward() {
    let desk = Desk::new().await;
    let before = desk.thread_data().await;
    assert_eq!(allocate(&desk, &minute(3)).await.unwrap(), 1);
    assert_eq!(allocate(&desk, &minute(2)).await.unwrap(), 2);
    let thread = desk.thread_data().await;
    assert_eq!((thread.next_item, thread.updated_at), (3, minute(3)));
    assert_eq!((thread.pending, thread.sequence), (before.pending, before.sequence));
}

#[tokio::test]
async fn allocate_item_refuses_a_time_that_is_none() {
    let desk = Desk::new().await;
    let error = desk.world.fails(allocate(&desk, "soon")).await;
    assert_eq!(invalid_at(error), "$");
}
