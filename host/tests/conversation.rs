//! A conversation with the demo, over real sockets: a tool, a question to the user, a sub-agent.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::sync::Arc;

use quixos_runtime::store::MemoryStore;
use serde_json::{Value, json};
use support::{Frame, Running};

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_run_and_its_result_is_told() {
    let host = Running::demo().await;
    let (status, accepted) = host.say("s", "t1", "How is the weather?").await;
    assert_eq!((status, &accepted), (202, &json!({ "session_id": "s", "turn_id": "t1" })));
    let events = host.turn("s", "t1").await;
    assert!(names(&events).contains(&"tool.call.completed"), "{:?}", names(&events));
    assert_eq!(events.last().unwrap().event, "turn.completed");
    let (_, view) = host.get("/api/client/sessions/s").await;
    assert_eq!(view["status"], "done", "{view}");
    let last = view["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"], "I looked it up: 12 degrees and light rain in Oslo", "{view}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_says_is_heard_while_it_says_it() {
    let host = Running::demo().await;
    // Nobody has spoken in the session, and it is listened to already.
    let listening = host.turn("s", "t1");
    let speaking = async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        host.say("s", "t1", "Hi!").await
    };
    let (events, (status, _)) = tokio::join!(listening, speaking);
    assert_eq!(status, 202);
    let deltas = events.iter().filter(|it| it.event == "llm.token.delta");
    let deltas: Vec<_> = deltas.inspect(|it| assert_eq!(it.id, None)).collect();
    let text: String = deltas.iter().filter_map(|it| it.data["delta"]["text"].as_str()).collect();
    assert_eq!(
        text,
        "Hello! Ask me for the `weather`, to `book` a trip, or to `research` something."
    );
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_user_is_asked_and_answers() {
    let host = Running::demo().await;
    host.say("s", "t1", "Please book it.").await;
    let path = "/api/client/sessions/s/events/stream?after_seq=0&turn_id=t1";
    let mut call = Value::Null;
    // The call is open until it is settled: read until it is there.
    for count in 1.. {
        let events = host.first(path, None, count).await;
        let last = events.last().unwrap();
        if last.event == "tool.call.requested" {
            call = last.data["payload"]["call_id"].clone();
            assert_eq!(last.data["payload"]["handler"], "client", "{last:?}");
            break;
        }
    }
    let result = json!({
        "session_id": "s",
        "input": { "type": "tool.result", "id": call, "result": "yes" },
    });
    let (status, accepted) = host.post("/api/client/sessions/input", &result).await;
    assert_eq!((status, &accepted["turn_id"]), (202, &json!("t1")), "{accepted}");
    host.turn("s", "t1").await;
    let (_, view) = host.get("/api/client/sessions/s").await;
    assert_eq!(view["messages"].as_array().unwrap().last().unwrap()["content"], "It is booked.");
    let (status, error) = host.post("/api/client/sessions/input", &result).await;
    assert_eq!((status, &error["code"]), (409, &json!("not-pending")), "{error}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sub_agent_reports() {
    let host = Running::demo().await;
    host.say("s", "t1", "Please research trains.").await;
    let events = host.turn("s", "t1").await;
    assert!(names(&events).contains(&"sub_agent.turn_completed"), "{:?}", names(&events));
    let (_, view) = host.get("/api/client/sessions/s").await;
    let last = view["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(last["content"].as_str().unwrap().starts_with("My researcher reports: "), "{last}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_outlives_its_host() {
    let store = Arc::new(MemoryStore::new());
    let host = Running::over(store.clone()).await;
    host.say("s", "t1", "Hi!").await;
    let before = host.turn("s", "t1").await;
    host.stop().await;
    let host = Running::over(store).await;
    let logged = |events: Vec<Frame>| -> Vec<Frame> {
        events.into_iter().filter(|it| it.id.is_some()).collect()
    };
    assert_eq!(logged(host.turn("s", "t1").await), logged(before));
    host.say("s", "t2", "And the weather?").await;
    assert_eq!(host.turn("s", "t2").await.last().unwrap().event, "turn.completed");
    host.stop().await;
}

fn names(events: &[Frame]) -> Vec<&str> {
    events.iter().map(|it| it.event.as_str()).collect()
}
