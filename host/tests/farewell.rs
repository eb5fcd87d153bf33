//! Streams of every kind, when the host is told to stop: each is told why it ends, and how soon to come
//! back.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use quixos_engine::provider::scripted::{Script, Scripted};
use quixos_host::Config;
use quixos_host::config::Place;
use quixos_runtime::store::MemoryStore;
use reqwest::Method;
use serde_json::{Value, json};
use support::{KEY, PATIENCE, Running, SECRET};

#[tokio::test(flavor = "multi_thread")]
async fn every_stream_is_told_that_the_host_stops() {
    let mut config = Config::demo(KEY, SECRET.to_owned().into());
    // A model that would speak for long, in a host that waits for nobody.
    let script = json!({ "pace_ms": 1000, "lines": [{ "say": "one two three four five six" }] });
    let script: Script = serde_json::from_value(script).unwrap();
    config.providers[0].place = Place::Scripted(Box::new(Scripted::new(script)));
    config.grace = Duration::ZERO;
    let host = Running::with(config, Arc::new(MemoryStore::new())).await;
    let open = async |method: Method, path: &str, body: Option<Value>| {
        let body = body.map(|body| body.to_string());
        let response = host.ask(method, path, Some(host.token()), body).await;
        assert!(response.status().is_success(), "{path}: {}", response.status());
        response
    };
    open(Method::PUT, "/v1/stream/s", None).await;
    let text = json!([{ "type": "text", "text": "Speak." }]);
    let turn = json!({ "messages": [{ "content": text }] });
    let run = json!({
        "threadId": "a", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{ "id": "u", "role": "user", "content": "Speak." }],
    });
    let chat = json!({
        "id": "b", "trigger": "submit-message",
        "messages": [{ "id": "u", "role": "user", "parts": text }],
    });
    let streams = [
        ("a session", Method::GET, "/api/client/sessions/s/events/stream", None),
        ("a public stream", Method::GET, "/v1/stream/s?offset=now&live=sse", None),
        ("a turn", Method::POST, "/v1/agents/concierge/stream", Some(turn)),
        ("AG-UI", Method::POST, "/v1/agents/concierge/ag-ui", Some(run)),
        ("the AI SDK", Method::POST, "/v1/agents/concierge/ui-message-stream", Some(chat)),
    ];
    let mut reading = Vec::new();
    for (what, method, path, body) in streams {
        let response = open(method, path, body).await;
        reading.push((what, tokio::spawn(async move { response.text().await.unwrap() })));
    }
    let lines = host.client.post(format!("{}/v1/agents/concierge/stream", host.url));
    let lines = lines.bearer_auth(host.token()).header("Accept", "application/x-ndjson");
    let lines = lines.body(json!({ "messages": [{ "content": text }] }).to_string());
    let lines = lines.send().await.unwrap();
    host.stop().await;
    for (what, text) in reading {
        let text = tokio::time::timeout(PATIENCE, text).await.unwrap().unwrap();
        let (_, end) =
            text.rsplit_once(": the host stops\n").unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(end.starts_with("retry:") && end.trim_end().ends_with("1000"), "{what}: {end}");
    }
    // Lines have no way to say it but that the last one is no end.
    let text = tokio::time::timeout(PATIENCE, lines.text()).await.unwrap().unwrap();
    let events = text.lines().filter(|line| !line.is_empty());
    let events: Vec<Value> = events.map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_end = |event: &Value| ["done", "error"].contains(&event["event"].as_str().unwrap());
    assert!(!events.is_empty() && !events.iter().any(is_end), "{text}");
}
