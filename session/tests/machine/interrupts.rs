//! Interrupts and cancelled work.

use serde_json::{Value, json};

use crate::support::{
    World, action, calls, config, config_with, frontend, machine, message, refusal, says,
};

fn resume(id: &str) -> Value {
    json!({"type": "interrupt.resume", "interrupt_id": id, "payload": {"yes": true}})
}

/// F23: what is settled while the conversation is paused is told when it goes on.
#[tokio::test]
async fn a_pause_holds_back_what_is_told() {
    let world = World::new().await;
    let talk = world.talk(&config_with(&[("w", "worker")])).await;
    talk.echo("client.messages").await;
    talk.reply(&calls(&[("c1", "w")])).await;
    talk.echo("llm.finished").await;
    talk.answer_next("tool.execute", &json!({})).await;
    talk.interrupt_as(machine(), "i1").await.unwrap();
    talk.settle_as(machine(), "c1", None, &json!("r")).await.unwrap();
    assert_eq!(talk.asked().await, None);
    let refused = talk.refused(talk.submit(&action("t2", "go"))).await;
    assert_eq!(refusal(&refused).word(), "interrupted");
    // F24: a client may not resume what the operator paused.
    let refused = talk.refused(talk.submit(&resume("i1"))).await;
    assert_eq!(refusal(&refused).word(), "not-privileged");
    talk.submit_as(machine(), &resume("i1")).await.unwrap();
    let asked = talk.echo("interrupt.resumed").await;
    assert_eq!(asked.turn_id.as_deref(), Some("t1"));
    assert_eq!(json!(asked.trigger)["payload"], json!({"yes": true}));
    talk.echo("tool.finished").await;
    assert_eq!(talk.running().await.len(), 1);
    assert!(!talk.submit_as(machine(), &resume("i1")).await.unwrap().applied);
}

#[tokio::test]
async fn a_worker_pauses_and_an_echo_goes_on_after_the_resume() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    let (due, _) = talk.prompt().await;
    talk.model_fails(&due, "bad request", false).await;
    talk.echo("llm.finished").await;
    let open = talk.view().await["interrupts"][0]["interrupt_id"].take();
    talk.submit(&resume(open.as_str().unwrap())).await.unwrap();
    talk.echo("interrupt.resumed").await;
    talk.reply(&says("Hi")).await;
    talk.echo("llm.finished").await;
    assert_eq!(talk.transcript().await, ["Hello", "Hi"]);
}

#[tokio::test]
async fn an_interrupt_voids_the_models_of_its_own_answer() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let answer = json!({"actions": [
        {"type": "llm.call"},
        {"type": "interrupt", "reason": "ask"},
        {"type": "llm.call"},
        {"type": "tool.call", "id": "c1", "name": "w", "arguments": {}},
    ]});
    talk.answer_next("client.messages", &answer).await;
    assert!(talk.running().await.is_empty());
    assert_eq!(talk.events_of("call.voided").await.len(), 2);
    // The tool was requested on a paused branch: it starts when that goes on.
    assert_eq!(talk.view().await["calls"][0]["status"], json!("queued"));
    assert_eq!(talk.asked().await, None);
}

/// F21: a turn that was paused goes on under its id.
#[tokio::test]
async fn a_view_above_the_pause_runs_and_belongs_to_the_turn() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    talk.interrupt_as(frontend("anna"), "i1").await.unwrap();
    let other = [quixos_protocol::DraftMessage::user("Other")];
    let outcome = talk.submit(&crate::support::view("t2", &other)).await.unwrap();
    assert_eq!(outcome.turn.as_deref(), Some("t1"));
    talk.echo("client.messages").await;
    assert_eq!(talk.transcript().await, ["Other"]);
    assert_eq!(talk.running().await.len(), 1);
    assert_eq!(talk.view().await["status"], json!("idle"));
    talk.replay("a pause that was left").await;
}

/// F72: what waits to be tried again is not.
#[tokio::test]
async fn a_cancelled_turn_tries_nothing_again() {
    let world = World::new().await;
    let mut config = config();
    config["retry"] = crate::support::retry(None, 3, 2, 60);
    let talk = world.talk(&config).await;
    talk.echo("client.messages").await;
    let (due, _) = talk.prompt().await;
    talk.model_fails(&due, "down", true).await;
    talk.cancel_as(frontend("anna"), Some("t1")).await.unwrap();
    talk.wait(3600).await;
    assert!(talk.agenda().await.due.is_empty());
    let ends = talk.events_of("turn.completed").await;
    assert_eq!(ends[0].payload["error"], json!("cancelled"));
    talk.submit(&message("t2", "Again")).await.unwrap();
    talk.next("client.messages").await;
}

/// F73: what a cancelled executor brings is dropped once, in silence.
#[tokio::test]
async fn a_cancelled_session_takes_nothing() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.echo("client.messages").await;
    let (due, _) = talk.prompt().await;
    talk.cancel_as(machine(), None).await.unwrap();
    let before = talk.events().await.len();
    assert!(!talk.model_fails(&due, "aborted", true).await.applied);
    talk.wait(3600).await;
    assert_eq!(talk.events().await.len(), before);
    let refused = talk.refused(talk.submit(&message("t2", "Again"))).await;
    assert_eq!(refusal(&refused).word(), "cancelled");
}

/// What waits for its next delivery is of no use once the call is voided that it is about.
#[tokio::test]
async fn a_delivery_that_waits_is_dropped_with_its_call() {
    let world = World::new().await;
    let talk = world.talk(&json!({"model": "m", "handler": "worker"})).await;
    talk.echo("client.messages").await;
    talk.fail("llm.execute", "HTTP 500", true).await;
    talk.interrupt_as(machine(), "i1").await.unwrap();
    let dropped = talk.events_of("decision.dropped").await;
    assert_eq!((dropped.len(), &dropped[0].payload["reason"]), (1, &json!("voided")));
    assert!(talk.client().live().await.unwrap().decisions.is_empty());
    talk.wait(100_000).await;
    assert_eq!(talk.asked().await, None);
    let resume = json!({"type": "interrupt.resume", "interrupt_id": "i1"});
    talk.submit_as(machine(), &resume).await.unwrap();
    talk.next("interrupt.resumed").await;
    // One that is with the worker may still be answered: it holds the slot.
    talk.echo("interrupt.resumed").await;
    let asked = talk.next("llm.execute").await;
    talk.interrupt_as(machine(), "i2").await.unwrap();
    assert_eq!(talk.events_of("decision.dropped").await.len(), 1);
    assert_eq!(talk.next("llm.execute").await.decision_id, asked.decision_id);
}
