//! What clients ask of an engine beside an input: their turns by request, answers to all that
//! waits for them, their conversations, and the end of a turn with nothing left to do.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use async_trait::async_trait;
use quixos_engine::live::Sink;
use quixos_engine::worker::{Delivery, DeliveryError, Worker};
use quixos_engine::{Answered, Engine, EngineError, Options, Response, Roster, Submitted};
use quixos_protocol::{DraftMessage, Trigger};
use quixos_session::Refusal;
use quixos_session::sessions::{Once, Session};
use serde_json::{Value, json};

mod support;

use support::{AGENT, client, is_done, memory, open, said, say, set_up, start, view, wait_for};

#[tokio::test(flavor = "multi_thread")]
async fn a_request_leads_to_its_turn() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    let mut requests = Vec::new();
    for turn in ["t1", "t2"] {
        let submitted = say(&engine, "s", turn, "hello").await.unwrap();
        let again = say(&engine, "s", turn, "hello").await.unwrap();
        assert_eq!((submitted.request, again.applied), (again.request, false));
        requests.push(submitted.request.unwrap().id().to_string());
        wait_for(&engine, "s", "done", is_done).await;
    }
    for (request, turn) in requests.iter().zip(["t1", "t2"]) {
        let at = engine.turn_of(request).await.unwrap().unwrap();
        assert_eq!((at.session_id.as_str(), at.turn_id.as_str()), ("s", turn));
        let event = Session::on(engine.caller(), at.session).events(at.offset, 1).await.unwrap();
        assert_eq!(
            (event[0].r#type.as_str(), event[0].turn.as_deref()),
            ("turn.started", Some(turn))
        );
    }
    for odd in ["", "t1", "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        assert_eq!(engine.turn_of(odd).await.unwrap(), None, "{odd}");
    }
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_answers_what_waits_for_it() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    say(&engine, "s", "t1", "book me a trip").await.unwrap();
    let waiting = wait_for(&engine, "s", "waiting for its client", |view| {
        view["calls"][0]["handler"] == "client" && view["calls"][0]["status"] == "pending"
    })
    .await;
    let answer = |action: &str| Response {
        answers: vec![Answered { action_id: action.to_owned(), outcome: Ok(json!("yes")) }],
        ..Response::default()
    };
    let unknown = engine.respond(client(), "s", answer("none")).await.unwrap_err();
    assert_eq!(unknown, EngineError::Refused(Refusal::UnknownAction("none".to_owned())));
    let call = waiting["calls"][0]["id"].as_str().unwrap();
    let submitted = engine.respond(client(), "s", answer(call)).await.unwrap();
    assert_eq!(submitted.turn_id.as_deref(), Some("t1"));
    assert!(submitted.request.is_some());
    let view = wait_for(&engine, "s", "done", is_done).await;
    assert_eq!(said(&view).last().unwrap(), "assistant: It is booked.");
    engine.stop().await;
}

/// Under a key the engine says where it was taken, wherever it is sent now.
#[tokio::test(flavor = "multi_thread")]
async fn what_comes_again_under_its_key_is_told_with_its_session() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    let once = |key: &str| Some(Once { key: key.to_owned(), digest: "d".to_owned() });
    let input = json!({"type": "client.message", "agent_id": AGENT,
        "message": {"role": "user", "content": "hello"}});
    let submit = async |session: &str, key: &str| {
        let (session, metadata) = (session.to_owned(), "{}".to_owned());
        let input = input.to_string();
        engine.submit_followed(client(), session, metadata, input, once(key)).await.unwrap()
    };
    let first = submit("a", "k").await;
    let again = submit("b", "k").await;
    assert_eq!(again, Submitted { applied: false, ..first.clone() });
    assert_eq!(engine.session("b").await.unwrap(), None);
    submit("b", "other").await;
    let messages = vec![DraftMessage::user("one"), DraftMessage::user("two")];
    let response = Response { messages, once: once("k"), ..Response::default() };
    let again = engine.respond(client(), "b", response).await.unwrap();
    assert_eq!(again, Submitted { applied: false, ..first });
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_reads_names_and_puts_away() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    for session in ["a", "b", "c"] {
        say(&engine, session, "t", "hello").await.unwrap();
        wait_for(&engine, session, "done", is_done).await;
    }
    let first = engine.threads("default", "ann", None, 2).await.unwrap();
    let rest = engine.threads("default", "ann", first.next, 2).await.unwrap();
    let ids = first.threads.iter().chain(&rest.threads).map(|thread| thread.session_id.as_str());
    assert_eq!(ids.collect::<Vec<_>>(), ["c", "b", "a"]);
    assert_eq!(rest.next, None);
    engine.rename(client(), "c", "Greetings".to_owned()).await.unwrap();
    engine.archive(client(), "c", true).await.unwrap();
    let page = engine.threads("default", "ann", None, 1).await.unwrap();
    let thread = &page.threads[0];
    assert_eq!((thread.title.as_str(), thread.archived), ("Greetings", true));
    assert!(engine.threads("other", "ann", None, 1).await.unwrap().threads.is_empty());
    engine.stop().await;
}

/// A worker that never has anything to say.
struct Mute;

#[async_trait]
impl Worker for Mute {
    async fn decide(&self, delivery: Delivery<'_>, _: &Sink) -> Result<Value, DeliveryError> {
        let is_start = matches!(delivery.request.trigger, Trigger::SessionStart);
        Ok(if is_start { json!({"agent": {"model": "m"}}) } else { json!({}) })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_a_client_follows_ends_when_nothing_is_left() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let roster = Roster::new().worker(AGENT, Arc::new(Mute));
    let options = Options { id: "one".to_owned(), ..Options::default() };
    let engine = Engine::start(runtime.clone(), registry, roster, options).await.unwrap();
    say(&engine, "s", "t1", "hello").await.unwrap();
    let rests = |view: &Value| !view["turn_id"].is_null() && view["calls"] == json!([]);
    wait_for(&engine, "s", "resting", rests).await;
    // A client that comes later, and one that is there from the beginning.
    follow(&engine, "s", "t1").await;
    assert!(!engine.follow_turn(client(), "s", "t1").await.unwrap());
    let input = json!({"type": "client.message", "agent_id": AGENT,
        "message": {"role": "user", "content": "hello"}});
    let (session, metadata) = ("s2".to_owned(), "{}".to_owned());
    engine.submit_followed(client(), session, metadata, input.to_string(), None).await.unwrap();
    for session in ["s", "s2"] {
        let view = wait_for(&engine, session, "over", |view| view["turn_id"].is_null()).await;
        assert_eq!(view["status"], "idle");
    }
    let unknown = engine.follow_turn(client(), "s", "t9").await.unwrap_err();
    assert_eq!(unknown.code(), "not-found");
    engine.stop().await;
}

async fn follow(engine: &Engine, session: &str, turn: &str) {
    assert!(engine.follow_turn(client(), session, turn).await.unwrap());
    assert!(view(engine, session).await["session_id"] == session);
}

/// An engine that goes on with a session which it drove before has lost nothing on its way.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_is_asked_once_as_long_as_the_engine_lives() {
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let engine = start(&runtime, registry, "one").await;
    for turn in ["t1", "t2", "t3"] {
        say(&engine, "s", turn, "How is the weather?").await.unwrap();
        wait_for(&engine, "s", "done", |view| is_done(view) && view["turn_id"].is_null()).await;
        // The driver has gone by now.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let session = engine.session("s").await.unwrap().unwrap();
    let session = Session::on(engine.caller(), session);
    for event in session.events(0, usize::MAX).await.unwrap() {
        let payload: Value = serde_json::from_str(&event.payload).unwrap();
        let again = payload["attempts"].as_u64().or(payload["attempt"].as_u64()).unwrap_or(1);
        assert_eq!(again, 1, "{}: {payload}", event.r#type);
    }
    assert_eq!(session.data().await.unwrap().claim.generation, 1);
    engine.stop().await;
}
