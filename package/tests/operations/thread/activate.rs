//! `thread_activate`: a part of `request_claim`, and no door of its own.

use serde_json::Value;

use crate::support::{Desk, Request};

async fn activate(desk: &Desk, request: Request) -> Value {
    let input = desk.world.text(request).into();
    desk.world.internal(desk.thread, "activate", input).await.unwrap()
}

#[tokio::test]
async fn activate_is_no_door() {
    let desk = Desk::new().await;
    let request = desk.world.text(desk.queued().await);
    let call = desk.world.outside(desk.thread, "activate", request.into());
    assert_eq!(desk.world.fails(call).await.code(), "capability");
}

#[tokio::test]
async fn activate_takes_the_first_that_asks_and_no_other() {
    let desk = Desk::new().await;
    let (first, second) = (desk.queued().await, desk.queued().await);
    assert_eq!(activate(&desk, first).await, true);
    assert_eq!(activate(&desk, first).await, true);
    assert_eq!(activate(&desk, second).await, false);
    assert_eq!(desk.thread().active().await.unwrap(), Some(first));
}
