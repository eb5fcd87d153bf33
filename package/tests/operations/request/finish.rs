//! `request_finish`

use quixos_package::agent_runtime::{RequestState, request_finish};

use crate::support::{Desk, finish, invalid_at, minute, transition};

fn unclaimed(status: &str) -> request_finish::Input {
    request_finish::Input { attempt: String::new(), generation: 0, ..finish(status) }
}

#[tokio::test]
async fn finish_ends_a_request_with_all_that_came_of_it() {
    let desk = Desk::new().await;
    for status in ["completed", "failed", "cancelled"] {
        let request = desk.running().await;
        let before = desk.progress(request).await;
        assert!(desk.request(request).finish(&finish(status)).await.unwrap());
        let ended = RequestState {
            status: status.to_owned(),
            reason: "all said".to_owned(),
            result: Some("done".to_owned()),
            raw_output: Some("DONE".to_owned()),
            usage: Some(r#"{"tokens":3}"#.to_owned()),
            ended_at: Some(minute(9)),
            notification_pending: true,
            ..before
        };
        assert_eq!(desk.progress(request).await, ended);
        assert!(desk.directory().pending().await.unwrap().is_empty());
        assert_eq!(desk.thread().active().await.unwrap(), None);
    }
    assert_eq!(desk.directory_data().await.notification_pending, 3);
    desk.world.verify().await;
}

#[tokio::test]
async fn finish_ends_a_request_that_waits() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    assert!(desk.request(request).transition(&transition("waiting", "")).await.unwrap());
    assert!(desk.request(request).finish(&finish("completed")).await.unwrap());
}

#[tokio::test]
async fn finish_happens_once() {
    let desk = Desk::new().await;
    let request = desk.finished("completed").await;
    for status in ["completed", "failed"] {
        assert!(!desk.world.keeps(desk.request(request).finish(&finish(status))).await);
    }
}

#[tokio::test]
async fn finish_under_a_stale_fence_answers_false() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    for stale in [
        request_finish::Input { attempt: "worker-2".to_owned(), ..finish("completed") },
        request_finish::Input { generation: 2, ..finish("completed") },
        unclaimed("cancelled"),
    ] {
        assert!(!desk.world.keeps(desk.request(request).finish(&stale)).await);
    }
}

#[tokio::test]
async fn finish_can_give_up_what_is_queued() {
    let desk = Desk::new().await;
    for status in ["cancelled", "failed"] {
        let request = desk.queued().await;
        assert!(desk.request(request).finish(&unclaimed(status)).await.unwrap());
        let ended = desk.progress(request).await;
        assert_eq!((ended.status.as_str(), ended.generation), (status, 0));
        assert!(!desk.world.keeps(desk.request(request).finish(&unclaimed(status))).await);
    }
    desk.world.verify().await;
}

#[tokio::test]
async fn finish_cannot_complete_what_is_queued() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    let error = desk.world.fails(desk.request(request).finish(&unclaimed("completed"))).await;
    assert_eq!(invalid_at(error), "status");
    // A fence that does not fit is stale, whatever it wants.
    assert!(!desk.world.keeps(desk.request(request).finish(&finish("completed"))).await);
    let ahead = request_finish::Input { generation: 1, ..unclaimed("cancelled") };
    assert!(!desk.world.keeps(desk.request(request).finish(&ahead)).await);
}

#[tokio::test]
async fn finish_notifies_as_the_settings_of_the_agent_say_now() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    desk.set(r#"{"notifyCompletions":false}"#).await;
    assert!(desk.request(request).finish(&finish("completed")).await.unwrap());
    assert!(!desk.progress(request).await.notification_pending);
    assert_eq!(desk.directory_data().await.notification_pending, 0);
    desk.world.verify().await;
}

#[tokio::test]
async fn finish_checks_its_form_before_all_else() {
    let desk = Desk::new().await;
    let request = desk.finished("completed").await;
    for (input, path) in [
        (finish("running"), "status"),
        (finish("done"), "status"),
        (request_finish::Input { usage: Some("lots".to_owned()), ..finish("failed") }, "usage"),
        (request_finish::Input { ended_at: "now".to_owned(), ..finish("failed") }, "endedAt"),
    ] {
        let error = desk.world.fails(desk.request(request).finish(&input)).await;
        assert_eq!(invalid_at(error), path);
    }
}
