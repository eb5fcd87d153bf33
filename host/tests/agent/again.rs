//! What is sent again under its key, because its answer was lost, is the same turn.

use std::collections::BTreeSet;
use std::sync::Arc;

use quixos_host::{Bearer, Config, Identity};
use quixos_runtime::store::MemoryStore;
use reqwest::Response;
use serde_json::{Value, json};

use crate::client::{Conversation, Reading, answers, says};
use crate::setting::{AGENT, QUIET, config, host, paced};
use crate::support::{Running, answer};

async fn send(host: &Running, token: &str, agent: &str, key: &str, body: &Value) -> Response {
    let request = host.client.post(format!("{}/v1/agents/{agent}/stream", host.url));
    let request = request.bearer_auth(token).header("Idempotency-Key", key);
    request.body(body.to_string()).send().await.unwrap()
}

async fn told(host: &Running, key: &str, body: &Value) -> Conversation {
    goes_on(host, key, body, Conversation::default()).await
}

async fn goes_on(host: &Running, key: &str, body: &Value, mut turn: Conversation) -> Conversation {
    let response = send(host, host.token(), AGENT, key, body).await;
    assert_eq!(response.status(), 200, "{key}");
    host.to_end(Reading::of(response), &mut turn).await;
    turn
}

async fn threads(host: &Running) -> usize {
    host.get("/v1/threads").await.1["threads"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn it_begins_once_also_at_once_and_after_a_restart() {
    let store = Arc::new(MemoryStore::new());
    let host = paced(20, store.clone()).await;
    let asked = says("Something long");
    // Nobody hears the first answer.
    drop(send(&host, host.token(), AGENT, "k", &asked).await);
    let (one, two) = tokio::join!(told(&host, "k", &asked), told(&host, "k", &asked));
    assert_eq!((&one.request, &one.thread), (&two.request, &two.thread));
    assert_eq!((one.reason(), &one.content), ("stop", &two.content));
    // The next turn of the thread as well.
    let mut more = says("Hello");
    more["threadId"] = json!(one.thread);
    let next = told(&host, "more", &more).await;
    assert_ne!(next.request, one.request);
    assert_eq!(told(&host, "more", &more).await.request, next.request);
    host.stop().await;
    let host = paced(0, store).await;
    let late = told(&host, "k", &asked).await;
    assert_eq!((&late.request, &late.content), (&one.request, &one.content));
    assert_eq!(threads(&host).await, 1);
    // Without a key, and under another one, it is asked anew.
    assert_ne!(host.told(AGENT, &asked).await.request, one.request);
    assert_ne!(told(&host, "k2", &asked).await.request, one.request);
    assert_eq!(threads(&host).await, 3);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_answered_when_its_agent_is_gone_and_when_the_host_stops() {
    let store = Arc::new(MemoryStore::new());
    let host = paced(0, store.clone()).await;
    let asked = says("Hello");
    let once = told(&host, "k", &asked).await;
    let mut more = says("More");
    more["threadId"] = json!(once.thread);
    let next = told(&host, "more", &more).await;
    host.stop().await;
    let mut config = config(0);
    config.agents.retain(|agent| agent.name != AGENT);
    let host = Running::with(config, store).await;
    for (key, body, was) in [("k", &asked, &once), ("more", &more, &next)] {
        let late = told(&host, key, body).await;
        assert_eq!((&late.request, &late.content), (&was.request, &was.content));
    }
    assert_eq!(send(&host, host.token(), AGENT, "new", &asked).await.status(), 503);
    host.begin_to_stop();
    let late = send(&host, host.token(), AGENT, "k", &asked).await;
    assert_eq!(late.status(), 200);
    assert_eq!(send(&host, host.token(), QUIET, "new", &asked).await.status(), 503);
    host.stop().await;
}

/// Many that come at once under one key, as of a page that is open more than once.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_at_once_one_begins() {
    let host = host().await;
    let asked = says("Hello");
    let all = futures_util::future::join_all((0..8).map(|_| told(&host, "k", &asked))).await;
    let requests: BTreeSet<_> = all.iter().map(|turn| &turn.request).collect();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(all.iter().all(|turn| turn.content == all[0].content && turn.reason() == "stop"));
    assert_eq!(threads(&host).await, 1);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_aborted_is_not_begun_again() {
    // It would speak for longer than anything here may take.
    let host = paced(2000, Arc::new(MemoryStore::new())).await;
    let asked = says("Something long");
    let mut turn = Conversation::default();
    let mut reading = Reading::of(send(&host, host.token(), AGENT, "k", &asked).await);
    turn.connect();
    turn.take(&reading.next().await.unwrap());
    drop(reading);
    let abort = format!("/v1/requests/{}/abort", turn.request);
    assert_eq!(host.post(&abort, &json!({})).await.1["aborted"], json!(true));
    let again = told(&host, "k", &asked).await;
    assert_eq!((&again.request, &again.thread), (&turn.request, &turn.thread));
    assert_eq!(again.end.unwrap()["event"], "aborted");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_counts_once_and_is_told_from_where_it_was() {
    let host = host().await;
    let mut turn = told(&host, "asks", &says("Please book it")).await;
    let asked = turn.asked();
    let answered = answers(&turn.thread, &asked, &json!("yes"));
    let once = goes_on(&host, "answers", &answered, turn.clone()).await;
    let again = goes_on(&host, "answers", &answered, turn.clone()).await;
    assert_eq!((once.reason(), &once.request), ("stop", &turn.request));
    assert_eq!((&again.request, &again.content), (&once.request, &once.content));
    // What was asked first is told up to where the client came in.
    assert_eq!(told(&host, "asks", &says("Please book it")).await.reason(), "action_required");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_of_its_owner_and_of_what_was_sent_under_it() {
    let config = Config { page: false, ..config(0) };
    let (host, bob) = Running::with_token(config, Arc::new(MemoryStore::new()), |host| {
        let identity = Identity { id: "bob".to_owned(), ..Identity::default() };
        let tenant = Config::DEMO_TENANT.to_owned();
        host.token(&Bearer { tenant, identity, agents: None }).unwrap()
    })
    .await;
    let ann = host.token();
    let hello = says("Hello");
    let refused = async |token: &str, agent: &str, key: &str, body: &Value| {
        let (status, error) = answer(send(&host, token, agent, key, body).await).await;
        assert_eq!(error["event"], "error", "{error}");
        (status, error["code"].as_str().map(str::to_owned))
    };
    // What is refused takes no key.
    let mut nowhere = hello.clone();
    nowhere["threadId"] = json!("none");
    let not_found = (404, Some("thread_not_found".to_owned()));
    assert_eq!(refused(ann, AGENT, "k", &nowhere).await, not_found);
    let turn = told(&host, "k", &hello).await;
    assert_eq!(refused(ann, AGENT, "k", &says("Goodbye")).await, (422, None));
    assert_eq!(refused(ann, QUIET, "k", &hello).await, (422, None));
    let mut theirs = Conversation::default();
    host.to_end(Reading::of(send(&host, &bob, AGENT, "k", &hello).await), &mut theirs).await;
    assert_ne!((&theirs.request, &theirs.thread), (&turn.request, &turn.thread));
    let invalid = (400, Some("invalid_message_format".to_owned()));
    for key in ["", "two words", "é", &"k".repeat(256)] {
        assert_eq!(refused(ann, AGENT, key, &hello).await, invalid, "{key}");
    }
    told(&host, &"k".repeat(255), &hello).await;
    let twice = host.client.post(format!("{}/v1/agents/{AGENT}/stream", host.url));
    let twice = twice.header("Idempotency-Key", "a").header("Idempotency-Key", "b");
    let twice = twice.bearer_auth(ann).body(hello.to_string()).send().await.unwrap();
    assert_eq!(twice.status(), 400);
    assert_eq!(threads(&host).await, 2);
    host.stop().await;
}
