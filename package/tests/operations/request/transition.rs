//! `request_transition`

use quixos_package::agent_runtime::{RequestState, request_transition};

use crate::support::{Desk, invalid_at, transition};

#[tokio::test]
async fn transition_moves_between_running_and_waiting() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let before = desk.progress(request).await;
    for (status, reason) in
        [("waiting", "for lunch"), ("waiting", "for dinner"), ("running", ""), ("running", "fed")]
    {
        assert!(desk.request(request).transition(&transition(status, reason)).await.unwrap());
        let expected =
            RequestState { status: status.to_owned(), reason: reason.to_owned(), ..before.clone() };
        assert_eq!(desk.progress(request).await, expected);
    }
    desk.world.verify().await;
}

#[tokio::test]
async fn transition_to_any_other_status_is_invalid_before_all_else() {
    let desk = Desk::new().await;
    let request = desk.finished("completed").await;
    for status in ["queued", "completed", "failed", "cancelled", "Running", ""] {
        let call = desk.request(request);
        let error = desk.world.fails(call.transition(&transition(status, ""))).await;
        assert_eq!(invalid_at(error), "status");
    }
}

#[tokio::test]
async fn transition_under_a_stale_fence_answers_false() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    for stale in [
        request_transition::Input { attempt: "worker-2".to_owned(), ..transition("waiting", "") },
        request_transition::Input { generation: 0, ..transition("waiting", "") },
        request_transition::Input { generation: 2, ..transition("waiting", "") },
    ] {
        assert!(!desk.world.keeps(desk.request(request).transition(&stale)).await);
    }
}

#[tokio::test]
async fn transition_of_what_nobody_holds_answers_false() {
    let desk = Desk::new().await;
    let queued = desk.queued().await;
    let nobody = request_transition::Input {
        attempt: String::new(),
        generation: 0,
        ..transition("running", "")
    };
    assert!(!desk.world.keeps(desk.request(queued).transition(&nobody)).await);
    let ended = desk.finished("failed").await;
    let late = transition("running", "");
    assert!(!desk.world.keeps(desk.request(ended).transition(&late)).await);
}
