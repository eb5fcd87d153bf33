//! `request_cancel`

use quixos_package::agent_runtime::RequestState;

use crate::support::{Desk, finish, transition};

#[tokio::test]
async fn cancel_ends_what_is_queued() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    let before = desk.progress(request).await;
    desk.world.wait(2);
    assert!(desk.request(request).cancel().await.unwrap());
    let ended = RequestState {
        status: "cancelled".to_owned(),
        reason: "cancelled".to_owned(),
        ended_at: Some("2026-01-31T12:02:00Z".to_owned()),
        notification_pending: true,
        ..before
    };
    assert_eq!(desk.progress(request).await, ended);
    assert_eq!(desk.directory_data().await.pending, 0);
    desk.world.verify().await;
}

#[tokio::test]
async fn cancel_asks_the_attempt_to_end_what_it_holds() {
    let desk = Desk::new().await;
    for status in ["running", "waiting"] {
        let request = desk.running().await;
        assert!(desk.request(request).transition(&transition(status, "")).await.unwrap());
        let before = desk.progress(request).await;
        for _ in 0..2 {
            assert!(desk.request(request).cancel().await.unwrap());
            let asked = RequestState { cancel_requested: true, ..before.clone() };
            assert_eq!(desk.progress(request).await, asked);
        }
        // It may well complete all the same.
        assert!(desk.request(request).finish(&finish("completed")).await.unwrap());
    }
}

#[tokio::test]
async fn cancel_of_what_has_ended_answers_false() {
    let desk = Desk::new().await;
    for status in ["completed", "failed", "cancelled"] {
        let request = desk.finished(status).await;
        assert!(!desk.world.keeps(desk.request(request).cancel()).await);
    }
}
