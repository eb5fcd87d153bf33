//! `thread_release`: a part of `directory_settle`, and no door of its own.

use crate::support::{Desk, Request};

async fn release(desk: &Desk, request: Request) {
    let input = desk.world.text(request).into();
    desk.world.internal(desk.thread, "release", input).await.unwrap();
}

#[tokio::test]
async fn release_is_no_door() {
    let desk = Desk::new().await;
    let request = desk.world.text(desk.running().await);
    let call = desk.world.outside(desk.thread, "release", request.into());
    assert_eq!(desk.world.fails(call).await.code(), "capability");
}

#[tokio::test]
async fn release_frees_the_thread_of_its_request_only() {
    let desk = Desk::new().await;
    let (running, queued) = (desk.running().await, desk.queued().await);
    release(&desk, queued).await;
    assert_eq!(desk.thread().active().await.unwrap(), Some(running));
    release(&desk, running).await;
    assert_eq!(desk.thread().active().await.unwrap(), None);
    release(&desk, running).await;
}
