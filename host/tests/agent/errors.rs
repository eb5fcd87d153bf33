//! What is wrong, each with its status and its code; and what is checked before what.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quixos_host::{Bearer, Config, Identity};
use quixos_runtime::store::MemoryStore;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{answers, says};
use crate::setting::{AGENT, config, host};
use crate::support::{Running, answer};

async fn post(host: &Running, path: &str, token: Option<&str>, body: &str) -> (u16, Value) {
    answer(host.ask(Method::POST, path, token, Some(body.to_owned())).await).await
}

fn stream(agent: &str) -> String {
    format!("/v1/agents/{agent}/stream")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_has_its_status_and_code() {
    let host = host().await;
    let begun = host.told(AGENT, &says("Please book it")).await;
    let token = Some(host.token());
    let good = says("Hi").to_string();
    let of_thread = |thread: &str, text: &str| {
        let mut request = says(text);
        request["threadId"] = json!(thread);
        request.to_string()
    };
    let image = json!({ "messages": [{ "content": [{ "type": "image" }] }] }).to_string();
    let long = says(&"x".repeat((1 << 20) + 1)).to_string();
    let huge = says(&"x".repeat(5 << 20)).to_string();
    let unknown = [json!({ "actionId": "nothing", "kind": "tool" })];
    let unknown_action = answers(&begun.thread, &unknown, &json!(1)).to_string();
    let mut no_thread = answers("t", &unknown, &json!(1));
    no_thread.as_object_mut().unwrap().remove("threadId");
    let busy = of_thread(&begun.thread, "Hi");
    for (what, agent, token, body, status, code) in [
        ("not JSON", AGENT, token, "{", 400, Some("invalid_message_format")),
        ("nothing", AGENT, token, r#"{"messages": []}"#, 400, Some("invalid_message_format")),
        ("a picture", AGENT, token, image.as_str(), 400, Some("invalid_message_format")),
        ("a long text", AGENT, token, long.as_str(), 413, Some("message_too_large")),
        ("a huge body", AGENT, token, huge.as_str(), 413, Some("message_too_large")),
        ("nobody", AGENT, None, good.as_str(), 401, Some("auth_failed")),
        ("a bad token", AGENT, Some("nonsense"), good.as_str(), 401, Some("auth_failed")),
        ("no agent", "nobody", token, good.as_str(), 404, Some("thread_not_found")),
        ("no thread", AGENT, token, &of_thread("none", "Hi"), 404, Some("thread_not_found")),
        ("another agent's", "quiet", token, busy.as_str(), 409, None),
        ("no such agent's", "nobody", token, busy.as_str(), 404, Some("thread_not_found")),
        ("a turn runs", AGENT, token, busy.as_str(), 409, None),
        ("no such action", AGENT, token, &unknown_action, 400, Some("invalid_action_id")),
        ("an action nowhere", AGENT, token, &no_thread.to_string(), 400, Some("invalid_action_id")),
    ] {
        let (seen, error) = post(&host, &stream(agent), token, body).await;
        assert_eq!((seen, error["code"].as_str()), (status, code), "{what}: {error}");
        assert_eq!(error["event"], "error", "{what}");
        assert!(!error["requestId"].as_str().unwrap().is_empty(), "{what}");
        assert!(error["message"].is_string() && error["timestamp"].is_string(), "{what}");
        assert_eq!(error["retryable"], json!(false), "{what}");
    }
    let (_, told) = post(&host, &stream(AGENT), token, &image).await;
    assert!(told["message"].as_str().unwrap().contains("/messages/0/content/0"), "{told}");
    let bad = format!("/v1/requests/{}/stream?after=x", begun.request);
    assert_eq!(host.get(&bad).await.0, 400);
    assert_eq!(host.get("/v1/threads?limit=0").await.0, 400);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_anothers_is_not_seen() {
    let mut of_bob = config(0);
    of_bob.limits.requests = 10_000;
    let (host, bob) = Running::with_token(of_bob, Arc::new(MemoryStore::new()), |host| {
        let identity = Identity { id: "bob".to_owned(), ..Identity::default() };
        let tenant = Config::DEMO_TENANT.to_owned();
        host.token(&Bearer { tenant, identity, agents: None }).unwrap()
    })
    .await;
    let turn = host.told(AGENT, &says("Please book it")).await;
    let mut more = says("Hi");
    more["threadId"] = json!(turn.thread);
    let (request, thread) = (&turn.request, &turn.thread);
    for (method, path, body) in [
        (Method::POST, stream(AGENT), Some(more.to_string())),
        (Method::GET, format!("/v1/requests/{request}/stream"), None),
        (Method::POST, format!("/v1/requests/{request}/abort"), None),
        (Method::GET, format!("/v1/threads/{thread}"), None),
        (Method::PATCH, format!("/v1/threads/{thread}"), Some("{\"title\": \"Mine\"}".to_owned())),
    ] {
        let ask = async |token: Option<&str>| {
            answer(host.ask(method.clone(), &path, token, body.clone()).await).await
        };
        let (status, error) = ask(None).await;
        assert_eq!((status, &error["code"]), (401, &json!("auth_failed")), "{path}");
        let (status, error) = ask(Some(&bob)).await;
        assert_eq!((status, &error["code"]), (403, &json!("thread_access_denied")), "{path}");
        // What is not there says the same to all.
        let nowhere = path.replace(request.as_str(), "none").replace(thread.as_str(), "none");
        if nowhere != path {
            let (status, error) =
                answer(host.ask(method.clone(), &nowhere, Some(&bob), body.clone()).await).await;
            assert_eq!((status, &error["code"]), (404, &json!("thread_not_found")), "{nowhere}");
        }
    }
    let listed = answer(host.ask(Method::GET, "/v1/threads", Some(&bob), None).await).await.1;
    assert_eq!(listed["threads"], json!([]));
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_for_some_agents_opens_the_threads_of_no_other() {
    let mut config = config(0);
    config.limits.requests = 10_000;
    let (host, limited) = Running::with_token(config, Arc::new(MemoryStore::new()), |host| {
        let identity = Identity { id: "ann".to_owned(), ..Identity::default() };
        let agents = Some(vec!["quiet".to_owned()]);
        let tenant = Config::DEMO_TENANT.to_owned();
        host.token(&Bearer { tenant, identity, agents }).unwrap()
    })
    .await;
    let mut turn = host.told(AGENT, &says("Please book it")).await;
    let asked = turn.asked();
    let own = host.told("quiet", &says("Hi")).await;
    let mut more = says("Hi");
    more["threadId"] = json!(turn.thread);
    let (request, thread) = (&turn.request, &turn.thread);
    let answered = answers(thread, &asked, &json!("yes")).to_string();
    let input = |input: Value| Some(json!({ "session_id": thread, "input": input }).to_string());
    let approved = json!({ "type": "tool.result", "id": asked[0]["actionId"], "content": "yes" });
    let resumed = json!({ "type": "interrupt.resume", "interrupt_id": "i" });
    let session = format!("/api/client/sessions/{thread}");
    for (method, path, body) in [
        (Method::POST, stream(AGENT), Some(more.to_string())),
        (Method::POST, stream(AGENT), Some(answered.clone())),
        (Method::POST, stream("quiet"), Some(answered)),
        (Method::GET, format!("/v1/requests/{request}/stream"), None),
        (Method::POST, format!("/v1/requests/{request}/abort"), None),
        (Method::GET, format!("/v1/threads/{thread}"), None),
        (Method::PATCH, format!("/v1/threads/{thread}"), Some("{\"title\": \"Mine\"}".to_owned())),
        (Method::PATCH, format!("/v1/threads/{thread}"), Some("{\"archived\": true}".to_owned())),
        (Method::GET, session.clone(), None),
        (Method::GET, format!("{session}/events/stream?after_seq=0"), None),
        (Method::POST, format!("{session}/interrupt"), Some("{}".to_owned())),
        (Method::POST, format!("{session}/cancel"), Some("{\"turn_id\": \"t\"}".to_owned())),
        (Method::POST, "/api/client/sessions/input".to_owned(), input(approved)),
        (Method::POST, "/api/client/sessions/input".to_owned(), input(resumed)),
    ] {
        let response = host.ask(method.clone(), &path, Some(&limited), body.clone()).await;
        assert_eq!(response.status(), 403, "{method} {path} {body:?}");
    }
    // Nor does it begin one.
    let (status, _) = post(&host, &stream(AGENT), Some(&limited), &says("Hi").to_string()).await;
    assert_eq!(status, 404);
    let listed = answer(host.ask(Method::GET, "/v1/threads", Some(&limited), None).await).await.1;
    let listed = listed["threads"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["threadId"], json!(own.thread));
    // Nothing has come of all that, and its own agent is open to it.
    let shown = host.get(&format!("/v1/threads/{thread}")).await.1;
    assert_eq!((&shown["state"], &shown["title"]), (&json!("waiting"), &json!("")), "{shown}");
    assert_eq!(shown["archived"], json!(false));
    let own = format!("/v1/threads/{}", own.thread);
    assert_eq!(host.ask(Method::GET, &own, Some(&limited), None).await.status(), 200);
    let (status, _) = post(&host, &stream(AGENT), Some(&limited), &says("Hi").to_string()).await;
    assert_eq!(status, 404);
    let (status, _) = post(&host, &stream("quiet"), Some(&limited), &says("Hi").to_string()).await;
    assert_eq!(status, 200);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_too_much_is_told_when_to_come_back() {
    let mut config = config(50);
    config.limits.requests = 5;
    config.limits.streams = 1;
    let host = Running::with(config, Arc::new(MemoryStore::new())).await;
    let open = host.read(AGENT, &says("Something long")).await;
    let second = host.begin(AGENT, &says("Hi")).await;
    assert_eq!(second.status(), 429);
    assert!(second.headers().contains_key("retry-after"));
    drop(open);
    let mut statuses = Vec::new();
    for _ in 0..6 {
        statuses.push(host.get("/v1/threads").await.0);
    }
    assert_eq!(statuses[..3], [200, 200, 200]);
    assert_eq!(statuses[3..], [429, 429, 429]);
    let (_, error) = host.get("/v1/threads").await;
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&json!("rate_limit_exceeded"), &json!(true))
    );
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_makes_no_progress_ends_the_stream_and_not_itself() {
    let mut config = config(0);
    config.limits.stream_timeout = Duration::from_millis(1500);
    let host = Running::with(config, Arc::new(MemoryStore::new())).await;
    let mut turn = host.told(AGENT, &says("Please book it")).await;
    // Nobody answers: whoever follows on is told so.
    let reading = host.follow(&turn.request, turn.last.as_deref()).await;
    let last = turn.last.clone();
    host.to_end(reading, &mut turn).await;
    let end = turn.end.clone().unwrap();
    assert_eq!((&end["code"], &end["retryable"]), (&json!("stream_timeout"), &json!(true)));
    assert_eq!(turn.last, last, "it is not recorded");
    let asked = turn.asked();
    let reading = host.read(AGENT, &answers(&turn.thread, &asked, &json!("yes"))).await;
    drop(reading);
    let reading = host.follow(&turn.request, turn.last.as_deref()).await;
    host.to_end(reading, &mut turn).await;
    assert_eq!(turn.reason(), "stop");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_goes_on_for_longer_than_it_may_stand_still_is_followed_to_its_end() {
    let patience = Duration::from_secs(3);
    let mut config = config(250);
    config.limits.stream_timeout = patience;
    let host = Running::with(config, Arc::new(MemoryStore::new())).await;
    let begun = Instant::now();
    let told = host.told(AGENT, &says("Something long")).await;
    assert_eq!(told.reason(), "stop", "{:?}", told.end);
    assert!(begun.elapsed() > patience, "it took long enough to tell");
    host.stop().await;
}
