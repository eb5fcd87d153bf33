//! A turn from its input to its end.

use serde_json::json;

use crate::support::{World, calls, config, config_with, message, says};

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
