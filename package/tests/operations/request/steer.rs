//! `request_steer`

use quixos_package::agent_runtime::{ItemData, request_steer};
use quixos_runtime::{CallError, Fence};

use crate::support::{Desk, WORKER, invalid_at, minute, steer, transition, upsert};

#[tokio::test]
async fn steer_adds_an_item_to_a_running_request() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let item = desk.request(request).steer(&steer("s1")).await.unwrap();
    let expected = ItemData {
        key: "s1".to_owned(),
        kind: "steer".to_owned(),
        text: "Shorter, please".to_owned(),
        phase: "final".to_owned(),
        activity: None,
        presentation: None,
        sequence: 2,
        version: 1,
        created_at: minute(2),
        updated_at: minute(2),
        control: None,
    };
    assert_eq!(desk.item_data(item).await, expected);
    assert_eq!(desk.thread_data().await.updated_at, minute(2));
    desk.world.verify().await;
}

#[tokio::test]
async fn steer_of_a_known_key_answers_the_same_item_untouched() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let item = desk.request(request).steer(&steer("s1")).await.unwrap();
    let other = request_steer::Input { text: "Longer".to_owned(), ..steer("s1") };
    for again in [steer("s1"), other] {
        assert_eq!(desk.world.keeps(desk.request(request).steer(&again)).await, item);
    }
}

#[tokio::test]
async fn steer_of_a_key_that_another_kind_of_item_has_is_a_conflict() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    desk.request(request).upsert_item(&upsert("m1", 1)).await.unwrap();
    for key in ["m1", "prompt"] {
        let error = desk.world.fails(desk.request(request).steer(&steer(key))).await;
        assert_eq!(error.code(), "conflict");
    }
}

#[tokio::test]
async fn steer_keeps_the_profile_in_the_activity() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let input = request_steer::Input { profile: Some("deep".to_owned()), ..steer("s1") };
    let item = desk.request(request).steer(&input).await.unwrap();
    let activity = desk.item_data(item).await.activity;
    assert_eq!(activity.as_deref(), Some(r#"{"profile":"deep"}"#));
}

#[tokio::test]
async fn steer_refuses_a_profile_that_is_not_advertised() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    desk.advertise(r#"["fast"]"#, "online").await;
    let input = request_steer::Input { profile: Some("deep".to_owned()), ..steer("s1") };
    let error = desk.world.fails(desk.request(request).steer(&input)).await;
    assert_eq!(error, CallError::refused("unknown-profile"));
}

#[tokio::test]
async fn steer_refuses_a_request_that_waits() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    desk.request(request).steer(&steer("s1")).await.unwrap();
    assert!(desk.request(request).transition(&transition("waiting", "")).await.unwrap());
    desk.advertise(r#"["fast"]"#, "online").await;
    // Before the profile is looked at, and also for a key that is there.
    let input = request_steer::Input { profile: Some("deep".to_owned()), ..steer("s2") };
    for input in [input, steer("s1")] {
        let error = desk.world.fails(desk.request(request).steer(&input)).await;
        assert_eq!(error, CallError::refused("not-running"));
    }
}

#[tokio::test]
async fn steer_under_a_stale_fence_is_an_error_that_names_both() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    assert!(desk.request(request).transition(&transition("waiting", "")).await.unwrap());
    let input = request_steer::Input { generation: 7, ..steer("s1") };
    let error = desk.world.fails(desk.request(request).steer(&input)).await;
    let fence = |generation| Fence { attempt: WORKER.to_owned(), generation };
    assert_eq!(error, CallError::StaleFence { given: fence(7), held: fence(1) });
}

#[tokio::test]
async fn steer_of_what_nobody_holds_is_stale() {
    let desk = Desk::new().await;
    let queued = desk.queued().await;
    let nobody = request_steer::Input { attempt: String::new(), generation: 0, ..steer("s1") };
    let error = desk.world.fails(desk.request(queued).steer(&nobody)).await;
    assert_eq!(error.code(), "stale-fence");
    let ended = desk.finished("completed").await;
    let error = desk.world.fails(desk.request(ended).steer(&steer("s1"))).await;
    assert_eq!(error.code(), "stale-fence");
}

#[tokio::test]
async fn steer_checks_its_form_before_the_fence() {
    let desk = Desk::new().await;
    let queued = desk.queued().await;
    let input = request_steer::Input { created_at: "soon".to_owned(), ..steer("s1") };
    let error = desk.world.fails(desk.request(queued).steer(&input)).await;
    assert_eq!(invalid_at(error), "createdAt");
}
