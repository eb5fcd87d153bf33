//! Faults of turns: what begins one, what ends one, and what is asked twice.

use quixos_protocol::DraftMessage;
use quixos_session::Refusal;
use quixos_session::sessions::Answer;
use serde_json::{Value, json};

use crate::scenes::{decisions_by, one_turn, speak};
use crate::support::{
    Talk, World, action, config, frontend, machine, message, refusal, retry, view,
};

#[tokio::test]
async fn f08_a_decision_that_fails_for_good_ends_its_turn() {
    let world = World::with(&decisions_by(&retry(Some(60), 2, 1, 1))).await;
    let talk = world.talk(&config()).await;
    for _ in 0..2 {
        talk.fail("client.messages", "HTTP 500", true).await;
        assert!(talk.events_of("turn.completed").await.is_empty());
        talk.wait(1).await;
    }
    talk.fail("client.messages", "HTTP 500", true).await;
    let ends = talk.events_of("turn.completed").await;
    assert_eq!((ends.len(), &ends[0].payload["error"]), (1, &json!("HTTP 500")));
    talk.submit(&message("t2", "Again")).await.unwrap();
    assert_eq!(talk.echo("client.messages").await.turn_id.as_deref(), Some("t2"));
    speak(&talk, "Back.").await;
}

#[tokio::test]
async fn f14_a_start_that_failed_is_asked_again() {
    let world = World::with(&decisions_by(&retry(Some(60), 1, 1, 1))).await;
    let talk = world.open("s1", &message("t1", "Hello")).await;
    for trigger in ["session.start", "client.messages"] {
        talk.fail(trigger, "HTTP 500", true).await;
        talk.wait(1).await;
        talk.fail(trigger, "HTTP 500", true).await;
    }
    assert_eq!(talk.asked().await, None);
    talk.submit(&message("t2", "Again")).await.unwrap();
    talk.answer_next("session.start", &json!({ "agent": config() })).await;
    assert_eq!(talk.echo("client.messages").await.turn_id.as_deref(), Some("t2"));
    speak(&talk, "Here.").await;
    // Once it is answered, it is not asked again.
    talk.submit(&message("t3", "More")).await.unwrap();
    talk.next("client.messages").await;
}

#[tokio::test]
async fn f19_a_turn_does_not_begin_over_another() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    let other = DraftMessage::user("Other");
    for input in [message("t2", "More"), view("t2", &[other]), action("t2", "go")] {
        let refused = refusal(&talk.refused(talk.submit(&input)).await);
        assert_eq!(refused, Refusal::TurnAlreadyActive("t1".to_owned()));
        assert_eq!(refused.status(), 409);
    }
    speak(&talk, "Hi!").await;
    talk.submit(&message("t2", "More")).await.unwrap();
}

#[tokio::test]
async fn f29_every_field_is_there_where_nothing_is_to_be_said() {
    let world = World::new().await;
    let talk = world.open("s1", &action("t1", "go")).await;
    talk.answer_next("session.start", &json!(null)).await;
    let due = talk.due("deliver").await.remove(0);
    let request = talk.client().request_of(&due.id).await.unwrap();
    let request: Value = serde_json::from_str(&request).unwrap();
    assert_eq!(request["proposed"], json!({}));
    assert_eq!(request["trigger"], json!({"type": "client.action", "name": "go"}));
    for (field, empty) in [
        ("agent", json!(null)),
        ("state", json!(null)),
        ("calls", json!([])),
        ("messages", json!([])),
        ("ancestry", json!([])),
        ("pending_calls", json!(0)),
    ] {
        assert_eq!(request.get(field), Some(&empty), "{field}");
    }
    assert_eq!(request["message_tree"]["nodes"], json!([]));
    for field in
        ["session_id", "decision_id", "agent_id", "identity", "attempts", "deadline", "turn_id"]
    {
        assert!(request.get(field).is_some_and(|value| !value.is_null()), "{field}");
    }
}

#[tokio::test]
async fn f56_only_users_write_messages() {
    let world = World::new().await;
    let talk = one_turn(&world).await;
    for role in ["assistant", "system", "tool"] {
        let mut input = message("t2", "Hello");
        input["message"]["role"] = json!(role);
        let refused = refusal(&talk.refused(talk.submit(&input)).await);
        assert_eq!((refused.word(), refused.status()), ("role", 422));
        // Nor is a session made by it.
        let refused = world.submit(frontend("anna"), "s2", &input).await.unwrap_err();
        assert_eq!(refusal(&refused), Refusal::Role);
        assert!(world.session("s2").await.is_none());
    }
}

#[tokio::test]
async fn f62_no_answer_at_all_is_a_failure() {
    for nothing in ["", "  ", "not JSON"] {
        let world = World::new().await;
        let talk = world.talk(&config()).await;
        let asked = talk.next("client.messages").await;
        let answer = Answer {
            fence: None,
            decision: asked.decision_id,
            answer: nothing.to_owned(),
            blocks: Vec::new(),
        };
        talk.client().answer(&answer).await.unwrap();
        let failed = talk.events_of("decision.errored").await;
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0].payload["retryable"], json!(false));
        assert_eq!(talk.asked().await, None);
        assert!(talk.events_of("turn.completed").await[0].payload["error"].is_string());
        assert!(talk.path().await.is_empty());
    }
}

#[tokio::test]
async fn f69_a_turns_key_counts_within_its_session() {
    let world = World::new().await;
    world.agent("other", "{}").await;
    let mut elsewhere = message("t1", "Hello");
    elsewhere["agent_id"] = json!("other");
    let inputs =
        [("s1", message("t1", "Hello")), ("s2", message("t1", "Hello")), ("s3", elsewhere)];
    for (session, input) in &inputs {
        let (session, outcome) = world.submit(frontend("anna"), session, input).await.unwrap();
        assert!(outcome.applied);
        assert_eq!(outcome.turn.as_deref(), Some("t1"));
        let talk = Talk::on(&world, session);
        talk.take(false).await;
        talk.answer_next("session.start", &json!({ "agent": config() })).await;
        talk.echo("client.messages").await;
        speak(&talk, "Hi!").await;
        assert_eq!(talk.events_of("turn.started").await.len(), 1);
    }
}

#[tokio::test]
async fn f70_a_repeated_submit_names_its_turn() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    for is_over in [false, true] {
        if is_over {
            talk.echo("client.messages").await;
            speak(&talk, "Hi!").await;
        }
        let before = talk.events().await.len();
        let (_, again) =
            world.submit(frontend("anna"), "s1", &message("t1", "Hello")).await.unwrap();
        assert_eq!((again.turn.as_deref(), again.applied), (Some("t1"), false));
        assert_eq!(talk.events().await.len(), before);
    }
}

#[tokio::test]
async fn f84_a_turn_is_the_same_whoever_repeats_it() {
    let world = World::new().await;
    let talk = one_turn(&world).await;
    let before = talk.events().await.len();
    for by in [machine(), frontend("anna")] {
        let again = talk.submit_as(by, &message("t1", "Hello")).await.unwrap();
        assert_eq!((again.turn.as_deref(), again.applied), (Some("t1"), false));
    }
    // What it says counts as little as who says it.
    let again = talk.submit_as(machine(), &action("t1", "go")).await.unwrap();
    assert_eq!((again.turn.as_deref(), again.applied), (Some("t1"), false));
    assert_eq!(talk.events().await.len(), before);
}
