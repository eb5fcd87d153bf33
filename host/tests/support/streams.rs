//! Streams of every kind that clients read, over a model that takes its time.

use std::sync::Arc;
use std::time::Duration;

use quixos_engine::provider::scripted::{Script, Scripted};
use quixos_host::Config;
use quixos_host::config::Place;
use quixos_runtime::store::MemoryStore;
use reqwest::header::ACCEPT;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::{KEY, Running, SECRET};

/// Lines of JSON.
pub(crate) const NDJSON: &str = "application/x-ndjson";

/// What begins a turn, in each way that there is: the path, and the body.
pub(crate) fn begins() -> [(&'static str, &'static str, Value); 3] {
    let text = json!([{ "type": "text", "text": "Speak." }]);
    let run = json!({
        "threadId": "a", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{ "id": "u", "role": "user", "content": "Speak." }],
    });
    let chat = json!({
        "id": "b", "trigger": "submit-message",
        "messages": [{ "id": "u", "role": "user", "parts": text }],
    });
    [
        ("a turn", "/v1/agents/concierge/stream", json!({ "messages": [{ "content": text }] })),
        ("AG-UI", "/v1/agents/concierge/ag-ui", run),
        ("the AI SDK", "/v1/agents/concierge/ui-message-stream", chat),
    ]
}

/// Starts a host whose model says six words, at a pace.
pub(crate) async fn host(pace: Duration, grace: Duration) -> Running {
    let mut config = Config::demo(KEY, SECRET.to_owned().into());
    let script = json!({
        "pace_ms": pace.as_millis(), "lines": [{ "say": "one two three four five six" }],
    });
    let script: Script = serde_json::from_value(script).unwrap();
    config.providers[0].place = Place::Scripted(Box::new(Scripted::new(script)));
    config.grace = grace;
    Running::with(config, Arc::new(MemoryStore::new())).await
}

/// Opens a stream of each kind, with what it is called.
pub(crate) async fn of_every_kind(host: &Running) -> Vec<(&'static str, Response)> {
    host.ask(Method::PUT, "/v1/stream/s", Some(host.token()), None).await;
    let read = [
        ("a session", "/api/client/sessions/s/events/stream"),
        ("a public stream", "/v1/stream/s?offset=now&live=sse"),
    ];
    let mut open = Vec::new();
    for (what, path) in read {
        open.push((what, host.ask(Method::GET, path, Some(host.token()), None).await));
    }
    for (what, path, body) in begins() {
        let body = Some(body.to_string());
        open.push((what, host.ask(Method::POST, path, Some(host.token()), body).await));
    }
    let [(_, path, body), ..] = begins();
    let lines = host.client.post(format!("{}{path}", host.url)).bearer_auth(host.token());
    let lines = lines.header(ACCEPT, NDJSON).body(body.to_string());
    open.push(("a turn, as lines", lines.send().await.unwrap()));
    for (what, response) in &open {
        assert!(response.status().is_success(), "{what}: {}", response.status());
    }
    open
}

/// Says whether what is read are lines of JSON.
pub(crate) fn is_lines(response: &Response) -> bool {
    response.headers()["content-type"] == NDJSON
}
