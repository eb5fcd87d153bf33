//! Decisions: one at a time, answered once, asked again when they fail.

use serde_json::json;

use crate::support::{World, calls, config, config_with, message, retry, says};

#[tokio::test]
async fn session_start_comes_before_the_message_that_made_the_session() {
    let world = World::new().await;
    let talk = world.open("s1", &message("t1", "Hello")).await;
    let start = talk.next("session.start").await;
    assert_eq!((start.turn_id, start.attempts, start.agent), (None, 1, None));
    talk.answer_to(&start.decision_id, &json!({"agent": config(), "state": {"n": 1}}))
        .await
        .unwrap();
    let asked = talk.next("client.messages").await;
    assert_eq!(asked.turn_id.as_deref(), Some("t1"));
    assert_eq!(asked.state, json!({"n": 1}));
    assert_eq!(asked.agent.unwrap().model, "m");
}

#[tokio::test]
async fn a_second_answer_does_nothing() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let asked = talk.echo("client.messages").await;
    let before = talk.events().await.len();
    let late = talk.answer(&asked, &json!({"state": {"late": true}})).await;
    assert!(!late.applied);
    assert_eq!(talk.events().await.len(), before);
    let unknown = talk.answer_to("dec_none", &json!({})).await.unwrap_err();
    assert_eq!(unknown.code(), "not-found");
}

#[tokio::test]
async fn a_redelivery_says_the_same_but_for_its_number_and_deadline() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let first = talk.next("client.messages").await;
    talk.fail("client.messages", "HTTP 500", true).await;
    assert_eq!(talk.asked().await, None);
    talk.wait(1).await;
    assert_eq!(talk.asked().await, None);
    talk.wait(1).await;
    let mut second = talk.next("client.messages").await;
    assert_eq!(second.attempts, 2);
    assert_ne!(second.deadline, first.deadline);
    (second.attempts, second.deadline) = (first.attempts, first.deadline.clone());
    assert_eq!(second, first);
}

#[tokio::test]
async fn a_lost_delivery_is_no_failure() {
    let settings = json!({"session": {"decisionRetry": retry(Some(60), 0, 1, 1)}});
    let world = World::with(&settings.to_string()).await;
    let talk = world.talk(&config()).await;
    let first = talk.next("client.messages").await;
    let delivery = talk.delivery(&first).await;
    assert!(talk.client().redeliver(&delivery).await.unwrap().applied);
    assert!(!talk.client().redeliver(&delivery).await.unwrap().applied);
    assert_eq!(talk.next("client.messages").await.attempts, 2);
}

#[tokio::test]
async fn each_byte_of_an_answer_extends_its_time() {
    let settings = json!({"session": {"decisionRetry": retry(Some(10), 0, 1, 1)}});
    let world = World::with(&settings.to_string()).await;
    let talk = world.talk(&config()).await;
    let asked = talk.next("client.messages").await;
    for _ in 0..5 {
        world.wait(9);
        let delivery = talk.delivery(&asked).await;
        assert!(talk.client().extend(&delivery).await.unwrap().applied);
    }
    assert_eq!(talk.echo("client.messages").await.attempts, 1);
}

/// F8, F31: a decision that runs out of deliveries ends its turn, on any command.
#[tokio::test]
async fn a_turn_whose_decision_fails_for_good_has_failed() {
    let settings = json!({"session": {"decisionRetry": retry(Some(10), 1, 2, 60)}});
    let world = World::with(&settings.to_string()).await;
    let talk = world.talk(&config()).await;
    talk.fail("client.messages", "HTTP 500", true).await;
    talk.wait(2).await;
    world.wait(10);
    // The deadline of the second delivery is seen by whatever is asked next.
    talk.submit(&message("t2", "Again")).await.unwrap();
    let ends = talk.events_of("turn.completed").await;
    assert_eq!(ends[0].payload["error"], json!("deadline exceeded"));
    assert_eq!(talk.next("client.messages").await.turn_id.as_deref(), Some("t2"));
}

/// F14: what a broken worker did to the start is mended by the next message.
#[tokio::test]
async fn a_start_that_failed_is_asked_again_before_the_next_message() {
    let world = World::new().await;
    let talk = world.open("s1", &message("t1", "Hello")).await;
    talk.fail("session.start", "HTTP 400", false).await;
    talk.fail("client.messages", "HTTP 400", false).await;
    talk.submit(&message("t2", "Again")).await.unwrap();
    talk.answer_next("session.start", &json!({ "agent": config() })).await;
    let asked = talk.next("client.messages").await;
    assert_eq!(asked.turn_id.as_deref(), Some("t2"));
}

#[tokio::test]
async fn a_session_without_a_config_whose_worker_has_nothing_to_say_ends_its_turn() {
    let world = World::new().await;
    let talk = world.open("s1", &message("t1", "Hello")).await;
    talk.echo("session.start").await;
    talk.echo("client.messages").await;
    let ends = talk.events_of("turn.completed").await;
    assert_eq!(ends[0].payload["error"], json!("session has no agent config"));
}

#[tokio::test]
async fn an_answer_that_cannot_be_understood_leaves_nothing_but_its_failure() {
    let world = World::new().await;
    let answers = [
        json!({"messages": [{"role": "user", "content": "x"}], "actions": [{"type": "fly"}]}),
        json!({"state": {"x": 1}, "actions": [{"type": "tool.result", "result": 1}]}),
        json!({"state": {"x": 1}, "agent": {"model": ""}}),
        json!({"state": {"x": 1}, "agent": {"model": "m", "format": "openai"}}),
        json!({"state": {"x": 1}, "agent": {
            "model": "m", "tools": [{"name": "a"}], "sub_agents": [{"id": "a"}]}}),
        json!({"state": {"x": 1}, "actions": [
            {"type": "message.send", "session_id": "s", "message": {"role": "system"}}]}),
        json!([]),
    ];
    for (index, answer) in answers.into_iter().enumerate() {
        let session = format!("s{index}");
        let talk = world.open(&session, &message("t1", "Hello")).await;
        talk.answer_next("session.start", &json!({ "agent": config() })).await;
        let before = talk.kinds().await.len();
        talk.answer_next("client.messages", &answer).await;
        let after = talk.kinds().await.split_off(before);
        assert_eq!(after, ["decision.errored", "turn.completed"], "{answer}");
        assert!(talk.path().await.is_empty());
    }
}

/// F4: time alone never makes a second decision live.
#[tokio::test]
async fn no_wake_promotes_a_second_decision() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[("a", "worker"), ("b", "worker")])).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(&[("c1", "a"), ("c2", "b")])).await;
    talk.echo("llm.finished").await;
    let first = talk.next("tool.execute").await;
    talk.wait(5).await;
    assert_eq!(talk.next("tool.execute").await.decision_id, first.decision_id);
}

#[tokio::test]
async fn nothing_is_asked_before_an_engine_drives_the_session() {
    let world = World::new().await;
    let input = message("t1", "Hello");
    let (session, _) = world.submit(crate::support::frontend("anna"), "s1", &input).await.unwrap();
    let talk = crate::support::Talk::on(&world, session);
    assert_eq!(talk.asked().await, None);
    talk.take(false).await;
    assert_eq!(talk.next("session.start").await.attempts, 1);
}

/// F51, F50: what is left out stays; what a fork point saw, the fork sees.
#[tokio::test]
async fn a_fork_sees_the_state_of_its_fork_point() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let asked = talk.next("client.messages").await;
    let mut answer = json!(asked.proposed);
    answer["state"] = json!({"v": 1});
    talk.answer(&asked, &answer).await;
    talk.reply(&says("One.")).await;
    let asked = talk.next("llm.finished").await;
    let mut answer = json!(asked.proposed);
    answer["state"] = json!({"v": 2});
    talk.answer(&asked, &answer).await;
    let path = talk.path().await;
    let edited = [
        quixos_protocol::DraftMessage::from(path[0].clone()),
        quixos_protocol::DraftMessage::user("Other"),
    ];
    talk.submit(&crate::support::view("t2", &edited)).await.unwrap();
    assert_eq!(talk.next("client.messages").await.state, json!({"v": 2}));
    talk.echo("client.messages").await;
    talk.reply(&says("Two.")).await;
    assert_eq!(talk.next("llm.finished").await.state, json!({"v": 1}));
}
