//! Faults of interrupts: what wakes a paused session, and whose answer counts for what.

use quixos_protocol::DraftMessage;
use serde_json::{Value, json};

use crate::scenes::{called, drafts, speak, trigger};
use crate::support::{Talk, World, action, config, frontend, machine, message, refusal, view};

fn resume(id: &str, payload: Value) -> Value {
    json!({"type": "interrupt.resume", "interrupt_id": id, "payload": payload})
}

/// Returns the ids of the interrupts that are open.
async fn open(talk: &Talk<'_>) -> Vec<String> {
    let read = talk.view().await;
    let open = read["interrupts"].as_array().unwrap();
    open.iter().map(|it| it["interrupt_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn f21_a_pause_does_not_end_a_turn() {
    let world = World::new().await;
    let talk = called(&world, &[("c", "client")], &[("c1", "c")]).await;
    talk.interrupt_as(frontend("anna"), "i1").await.unwrap();
    let mut seen = drafts(&talk).await;
    seen.push(DraftMessage::tool("c1", "c", "mine"));
    seen.push(DraftMessage::user("And more"));
    let outcome = talk.submit(&view("t2", &seen)).await.unwrap();
    assert_eq!(outcome.turn.as_deref(), Some("t1"));
    assert_eq!(talk.asked().await, None);
    let outcome = talk.submit(&resume("i1", json!(1))).await.unwrap();
    assert_eq!(outcome.turn.as_deref(), Some("t1"));
    // What was said while it was paused is still to come, so the model is not prompted yet.
    let asked = talk.echo("interrupt.resumed").await;
    assert_eq!(asked.turn_id.as_deref(), Some("t1"));
    assert!(talk.running().await.is_empty());
    talk.echo("client.messages").await;
    speak(&talk, "Well.").await;
    assert_eq!(talk.transcript().await, ["Hello", "c", "mine", "And more", "Well."]);
    let events = talk.events().await;
    assert!(events.iter().all(|event| event.turn.as_deref().is_none_or(|turn| turn == "t1")));
    assert_eq!(events.iter().filter(|event| event.kind == "turn.started").count(), 1);
}

#[tokio::test]
async fn f23_a_paused_session_sleeps() {
    let world = World::new().await;
    let talk = called(&world, &[("w", "worker")], &[("c1", "w")]).await;
    talk.answer_next("tool.execute", &json!({})).await;
    talk.interrupt_as(frontend("anna"), "i1").await.unwrap();
    talk.settle_as(machine(), "c1", None, &json!("r")).await.unwrap();
    assert_eq!(talk.events_of("tool.call.completed").await.len(), 1);
    for input in [action("t2", "go"), message("t2", "More")] {
        let refused = refusal(&talk.refused(talk.submit(&input)).await);
        assert_eq!((refused.word(), refused.status()), ("interrupted", 409));
    }
    talk.wait(100).await;
    assert!(talk.agenda().await.due.is_empty());
    talk.submit(&resume("i1", json!(null))).await.unwrap();
    talk.echo("interrupt.resumed").await;
    talk.echo("tool.finished").await;
    assert_eq!(talk.running().await.len(), 1);
}

#[tokio::test]
async fn f24_a_client_cannot_resume_what_an_operator_paused() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.interrupt_as(machine(), "i1").await.unwrap();
    let refused = refusal(&talk.refused(talk.submit(&resume("i1", json!(1)))).await);
    assert_eq!((refused.word(), refused.status()), ("not-privileged", 403));
    assert_eq!(open(&talk).await, ["i1"]);
    talk.submit_as(machine(), &resume("i1", json!(1))).await.unwrap();
    assert!(open(&talk).await.is_empty());
}

#[tokio::test]
async fn f65_each_interrupt_has_its_own_answer() {
    let world = World::new().await;
    let tools = [("a", "worker"), ("b", "worker")];
    let talk = called(&world, &tools, &[("c1", "a"), ("c2", "b")]).await;
    let ask = json!({"actions": [{"type": "interrupt", "reason": "may I?"}]});
    let mut ids = Vec::new();
    for n in [1, 2] {
        talk.answer_next("tool.execute", &ask).await;
        let id = open(&talk).await.remove(0);
        talk.submit(&resume(&id, json!({ "n": n }))).await.unwrap();
        let told = trigger(&talk.answer_next("interrupt.resumed", &json!({})).await);
        assert_eq!((&told["interrupt_id"], &told["payload"]), (&json!(id), &json!({ "n": n })));
        ids.push(id);
    }
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn f65_two_that_are_open_at_once_are_told_apart() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    let ask = json!({"type": "interrupt", "reason": "may I?"});
    talk.answer_next("client.messages", &json!({"actions": [ask, ask]})).await;
    let ids = open(&talk).await;
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    talk.submit(&resume(&ids[1], json!("second"))).await.unwrap();
    assert_eq!(open(&talk).await, ids[..1]);
    assert_eq!(talk.asked().await, None);
    talk.submit(&resume(&ids[0], json!("first"))).await.unwrap();
    let told = trigger(&talk.next("interrupt.resumed").await);
    assert_eq!((&told["interrupt_id"], &told["payload"]), (&json!(ids[0]), &json!("first")));
    let resumed = talk.events_of("session.interrupt_resumed").await;
    let answers = resumed.iter().map(|it| (&it.payload["interrupt_id"], &it.payload["payload"]));
    let expected = [(&json!(ids[1]), &json!("second")), (&json!(ids[0]), &json!("first"))];
    assert!(answers.eq(expected));
}

#[tokio::test]
async fn f67_a_read_and_the_log_tell_of_the_same_interrupt() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.interrupt_as(machine(), "i1").await.unwrap();
    let logged = talk.events_of("session.interrupted").await.remove(0).payload;
    let read = talk.view().await;
    assert_eq!(read["status"], json!("interrupted"));
    assert_eq!(read["interrupts"].as_array().unwrap().len(), 1);
    for field in ["interrupt_id", "reason", "payload", "origin"] {
        assert_eq!(read["interrupts"][0][field], logged[field], "{field}");
    }
}

#[tokio::test]
async fn f68_an_answer_says_what_it_answers() {
    let world = World::new().await;
    let talk = world.talk(&config()).await;
    talk.interrupt_as(frontend("anna"), "i1").await.unwrap();
    talk.interrupt_as(frontend("anna"), "i2").await.unwrap();
    for input in [
        json!({"type": "interrupt.resume", "payload": 1}),
        json!({"type": "interrupt.resume", "interrupt_id": null, "payload": 1}),
    ] {
        let error = talk.refused(talk.submit(&input)).await;
        assert_eq!(error.code(), "invalid", "{error}");
    }
    // One that was never there is as one that was answered: nothing happens.
    assert!(!talk.submit(&resume("", json!(1))).await.unwrap().applied);
    assert_eq!(open(&talk).await, ["i1", "i2"]);
}
