//! `directory_notificationSent`: a part of `request_publishCompletion`, and no door of its own.

use crate::support::Desk;

#[tokio::test]
async fn notification_sent_is_no_door() {
    let desk = Desk::new().await;
    let request = desk.world.text(desk.finished("completed").await);
    let call = desk.world.outside(desk.directory, "notificationSent", request.into());
    assert_eq!(desk.world.fails(call).await.code(), "capability");
}

#[tokio::test]
async fn notification_sent_counts_down_once() {
    let desk = Desk::new().await;
    let request = desk.finished("completed").await;
    assert_eq!(desk.directory_data().await.notification_pending, 1);
    assert!(desk.request(request).publish_completion().await.unwrap());
    assert_eq!(desk.directory_data().await.notification_pending, 0);
    assert!(desk.directory().notifications().await.unwrap().is_empty());

    let request = desk.world.text(request);
    let again = desk.world.internal(desk.directory, "notificationSent", request.into());
    desk.world.keeps(again).await;
}

#[tokio::test]
async fn notification_sent_of_a_request_that_waits_for_none_changes_nothing() {
    let desk = Desk::new().await;
    let request = desk.world.text(desk.queued().await);
    let call = desk.world.internal(desk.directory, "notificationSent", request.into());
    desk.world.keeps(call).await;
}
