//! Turns that come to a thread by another door, and wait there behind the one that runs.

use std::time::Duration;

use quixos_package::agent_runtime::{
    AgentRequest, AgentRequestObject, AgentSubmission, AgentThread,
};
use quixos_runtime::{Atom as _, Caller, ObjectRef, Ref, Ulid};
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Conversation, answers, says};
use crate::setting::{AGENT, host};
use crate::support::Running;

/// Begins a turn that waits for an answer, and so for as long as a test likes. Returns it, with what
/// it asks.
async fn begin(host: &Running) -> (Conversation, Vec<Value>) {
    let mut turn = host.told(AGENT, &says("Please book it")).await;
    let asked = turn.asked();
    assert_eq!(asked.len(), 1);
    (turn, asked)
}

/// Answers what a turn asks, and reads it to its end.
async fn finish(host: &Running, turn: &mut Conversation, asked: &[Value]) {
    let reading = host.read(AGENT, &answers(&turn.thread, asked, &json!("yes"))).await;
    host.to_end(reading, turn).await;
    assert_eq!(turn.reason(), "stop");
}

/// Sees that a thread is still at a turn: whatever came behind it waits.
async fn is_at(host: &Running, turn: &Conversation) {
    let (_, shown) = host.get(&format!("/v1/threads/{}", turn.thread)).await;
    let at = (&shown["state"], &shown["requestId"]);
    assert_eq!(at, (&json!("waiting"), &json!(turn.request)), "{shown}");
}

/// Sends to the thread of a request what no client says, and returns the request that it is, once it
/// is known to the thread's session.
async fn send(host: &Running, request: &str, text: &str) -> String {
    let session = host.engine.runtime().session(Caller::operator("test"));
    let id = Ulid::from_string(request).unwrap();
    let request = ObjectRef { atom: AgentRequestObject::TAG, id };
    let request =
        AgentRequest::on(&session, Ref::<AgentRequestObject>::from_object(request).unwrap());
    let thread = AgentThread::on(&session, request.thread().await.unwrap());
    let submission = AgentSubmission {
        text: text.to_owned(),
        data: None,
        profile: None,
        response: None,
        source_kind: "user".to_owned(),
        source_label: "ben".to_owned(),
        publication: None,
        created_at: "2020-01-01T00:00:00.000Z".to_owned(),
        contexts: Vec::new(),
        related: None,
        retry_of: None,
        root: None,
        causal_depth: 0,
    };
    let sent = thread.send(&submission).await.unwrap().id().to_string();
    for _ in 0..200 {
        if host.engine.turn_of(&sent).await.unwrap().is_some() {
            return sent;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nobody takes up {sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_waits_behind_another_is_followed_from_before_it_begins() {
    let host = host().await;
    let (mut first, asked) = begin(&host).await;
    let request = send(&host, &first.request, "Think of it").await;
    let mut next = Conversation::default();
    let mut following = host.follow(&request, None).await;
    next.connect();
    next.take(&following.next().await.unwrap());
    assert_eq!((&next.request, &next.thread), (&request, &first.thread));
    is_at(&host, &first).await;
    finish(&host, &mut first, &asked).await;
    while let Some(came) = following.next().await {
        next.take(&came);
    }
    assert_eq!(next.reason(), "stop");
    assert_eq!(next.put_together(), next.content);
    assert_eq!(next.content.last().unwrap()["text"], "It is clear.");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_turn_asks_that_has_waited_is_told_to_who_follows_it() {
    let host = host().await;
    let (mut first, asked) = begin(&host).await;
    let request = send(&host, &first.request, "Please book it").await;
    let mut next = Conversation::default();
    let following = host.follow(&request, None).await;
    is_at(&host, &first).await;
    finish(&host, &mut first, &asked).await;
    host.to_end(following, &mut next).await;
    assert_eq!(next.reason(), "action_required");
    assert_eq!(next.asked().len(), 1);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_is_aborted_while_it_waits_never_begins() {
    let host = host().await;
    let (mut first, asked) = begin(&host).await;
    let request = send(&host, &first.request, "Think of it").await;
    let following = host.follow(&request, None).await;
    is_at(&host, &first).await;
    let (status, aborted) = host.post(&format!("/v1/requests/{request}/abort"), &json!({})).await;
    assert_eq!((status, &aborted["aborted"]), (200, &json!(true)), "{aborted}");
    let mut next = Conversation::default();
    host.to_end(following, &mut next).await;
    let end = next.end.clone().unwrap();
    assert_eq!(end["event"], "aborted");
    assert_eq!(next.content, Vec::<Value>::new());
    // Whoever reads it later is told the same.
    let path = format!("/v1/requests/{request}/stream");
    let again = host.ask(Method::GET, &path, Some(host.token()), None).await;
    assert_eq!(again.status(), 200);
    let told = again.text().await.unwrap();
    assert!(told.contains(&Value::to_string(&end)), "{told}");
    finish(&host, &mut first, &asked).await;
    host.stop().await;
}
