//! A turn from its input to its end.

use serde_json::json;

use crate::support::{Talk, World, calls, config, config_with, message, retry, says};

#[tokio::test]
async fn a_worker_that_echoes_gets_from_a_message_to_a_reply() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    let (_, prompt) = talk.prompt().await;
    assert_eq!(prompt.model, "m");
    assert_eq!(prompt.messages.len(), 2);
    talk.reply(&says("Hi!")).await;
    talk.echo("llm.finished").await;
    assert_eq!(talk.transcript().await, ["Hello", "Hi!"]);
    assert_eq!(talk.view().await["status"], json!("done"));
    let ends = talk.events_of("turn.completed").await;
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0].payload["data"], json!("Hi!"));
    assert_eq!(ends[0].turn.as_deref(), Some("t1"));
    world.verify().await;
}

#[tokio::test]
async fn the_log_of_a_turn_with_a_tool_reads_in_order() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[("find", "worker")])).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(&[("c1", "find")])).await;
    talk.echo("llm.finished").await;
    let result = json!({"actions": [{"type": "tool.result", "result": "42"}]});
    talk.answer_next("tool.execute", &result).await;
    talk.echo("tool.finished").await;
    let (_, prompt) = talk.prompt().await;
    assert_eq!(prompt.messages.last().unwrap().name.as_deref(), Some("find"));
    talk.reply(&says("It is 42.")).await;
    talk.echo("llm.finished").await;
    assert_eq!(talk.transcript().await, ["Hello", "find", "42", "It is 42."]);
    let decision = ["decision.queued", "decision.dispatched", "decision.completed"];
    let model = ["llm.call.requested", "llm.call.dispatched", "llm.call.completed"];
    let expected = [
        &["session.created", "decision.queued", "turn.started", "decision.queued"][..],
        &["decision.dispatched", "decision.completed", "agent.updated"],
        &decision[1..],
        &["message.new"],
        &model,
        &decision,
        &["message.new", "tool.call.requested", "tool.call.dispatched"],
        &decision,
        &["tool.call.completed"],
        &decision,
        &["message.new"],
        &model,
        &decision,
        &["message.new", "session.done", "turn.completed"],
    ];
    assert_eq!(talk.kinds().await, expected.concat());
    world.verify().await;
}

#[tokio::test]
async fn a_turn_that_is_submitted_again_is_the_same_turn() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let before = talk.events().await.len();
    let again = talk.submit(&message("t1", "Hello")).await.unwrap();
    assert_eq!((again.turn.as_deref(), again.applied), (Some("t1"), false));
    assert_eq!(talk.events().await.len(), before);
}

/// Returns the bytes that the log has after so many turns, each with one tool.
async fn bytes_after(turns: usize) -> usize {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[("find", "worker")])).await;
    for turn in 2..turns + 2 {
        talk.echo("client.messages").await;
        talk.reply(&calls(&[("c1", "find")])).await;
        talk.echo("llm.finished").await;
        let result = json!({"actions": [{"type": "tool.result", "result": "42"}]});
        talk.answer_next("tool.execute", &result).await;
        talk.echo("tool.finished").await;
        talk.reply(&says("It is 42.")).await;
        talk.echo("llm.finished").await;
        talk.submit(&message(&format!("t{turn}"), "Again")).await.unwrap();
    }
    talk.events().await.iter().map(|event| event.payload.to_string().len()).sum()
}

/// F42, F43: the log grows with what is said, not with how much was said before.
#[tokio::test]
async fn a_turn_costs_the_log_the_same_however_long_the_session_is() {
    let (few, many) = (bytes_after(10).await, bytes_after(30).await);
    assert!(many < few * 7 / 2, "{few} bytes for 10 turns, {many} for 30");
}

/// F75: whoever opens the store again finds when to look.
#[tokio::test]
async fn timers_are_in_the_store() {
    let mut world = World::new().await;
    let session = {
        let talk = world.talk(&config_with(&[])).await;
        let call = json!({"actions": [{"type": "tool.call", "id": "c1", "name": "a",
            "arguments": {}, "handler": "client", "retry": retry(Some(90), 0, 1, 1)}]});
        talk.answer_next("client.messages", &call).await;
        talk.session
    };
    world.reopen();
    let talk = Talk::on(&world, session);
    let agenda = talk.agenda().await;
    assert_eq!(agenda.wake_at.as_deref(), Some("2026-01-31T12:01:30Z"));
    assert!(world.registry().awake_contains(session).await.unwrap());
    talk.wait(90).await;
    talk.next("tool.finished").await;
}
