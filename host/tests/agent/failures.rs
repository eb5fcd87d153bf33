//! Turns that fail, and a host that does: what clients are told of it, and what they are not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use axum::routing::post;
use axum::{Json, Router};
use quixos_engine::worker::http::Endpoint;
use quixos_host::config::WorkerConfig;
use quixos_runtime::store::tapped::{Tap, Tapped};
use quixos_runtime::store::{Batch, CommitError, MemoryStore, StoreError};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::client::says;
use crate::setting::{AGENT, config};
use crate::support::{Running, answer, message};

/// What no client is to read.
const INNER: &str = "a secret of the worker";

/// Starts a worker that does what is proposed, whose tools fail, and that fails for good where it is
/// asked one thing.
async fn failing_at(trigger: &'static str) -> Endpoint {
    let decide = async move |Json(request): Json<Value>| {
        let asked = request["trigger"]["type"].as_str().unwrap_or_default();
        Json(if asked == trigger {
            json!({ "error": INNER })
        } else if asked == "tool.execute" {
            json!({ "actions": [{ "type": "tool.error", "error": INNER, "retryable": false }] })
        } else {
            request["proposed"].clone()
        })
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/", post(decide));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    Endpoint::new(&address).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_fails_says_whether_its_agent_did_or_a_tool() {
    for (trigger, text, code) in [
        ("client.messages", "Hi", "agent_error"),
        ("llm.finished", "Hi", "agent_error"),
        ("tool.finished", "How is the weather?", "tool_error"),
    ] {
        let mut config = config(0);
        config.agents[0].worker = WorkerConfig::Http(Box::new(failing_at(trigger).await));
        let host = Running::with(config, Arc::new(MemoryStore::new())).await;
        let told = host.told(AGENT, &says(text)).await;
        let end = told.end.unwrap();
        assert_eq!((&end["event"], &end["code"]), (&json!("error"), &json!(code)), "{trigger}");
        assert_eq!((&end["retryable"], &end["requestId"]), (&json!(false), &json!(told.request)));
        assert!(!end.to_string().contains(INNER), "{end}");
        // Whoever reads it later is told the same.
        let path = format!("/v1/requests/{}/stream", told.request);
        let again = host.ask(Method::GET, &path, Some(host.token()), None).await;
        assert!(again.text().await.unwrap().contains(&end.to_string()), "{trigger}");
        host.stop().await;
    }
}

/// Makes a store fail: not at all, to be read, or to be written for want of room.
#[derive(Default)]
struct Failing(AtomicU8);

const SOUND: u8 = 0;
const UNREADABLE: u8 = 1;
const FULL: u8 = 2;

impl Failing {
    fn is(&self, how: u8) -> bool {
        self.0.load(Ordering::SeqCst) == how
    }
}

impl Tap for Failing {
    fn viewed(&self) -> Result<(), StoreError> {
        if self.is(UNREADABLE) { Err(StoreError::Io(INNER.to_owned())) } else { Ok(()) }
    }

    fn submitted(&self, _batch: &Batch) -> Result<(), CommitError> {
        if self.is(FULL) { Err(CommitError::NoSpace { free: 1, floor: 2 }) } else { Ok(()) }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_fails_says_so_and_not_why() {
    let failing = Arc::new(Failing::default());
    let store = Tapped::new(Arc::new(MemoryStore::new()), Arc::clone(&failing));
    let host = Running::with(config(0), Arc::new(store)).await;
    let thread = host.told(AGENT, &says("Hi")).await.thread;
    let path = format!("/v1/threads/{thread}");
    assert_eq!(host.get(&path).await.0, 200);
    failing.0.store(UNREADABLE, Ordering::SeqCst);
    let (status, error) = host.get(&path).await;
    assert_eq!((status, &error["code"], &error["retryable"]), (503, &Value::Null, &json!(true)));
    assert!(!error.to_string().contains(INNER) && error["requestId"].is_string(), "{error}");
    let (status, error) = host.get("/ready").await;
    assert_eq!((status, &error["code"]), (503, &json!("storage")), "{error}");
    failing.0.store(FULL, Ordering::SeqCst);
    let (status, error) = answer(host.begin(AGENT, &says("Hi")).await).await;
    assert_eq!((status, &error["code"], &error["retryable"]), (503, &Value::Null, &json!(true)));
    assert!(!error.to_string().contains(INNER), "{error}");
    for (method, path) in
        [(Method::POST, "/api/client/sessions/input"), (Method::PUT, "/v1/stream/s")]
    {
        let mut input = message("s", "t1", "Hi!");
        input["input"]["agent_id"] = json!(AGENT);
        let body = Some(input.to_string());
        let (status, error) = answer(host.ask(method, path, Some(host.token()), body).await).await;
        assert_eq!((status, &error["code"]), (503, &json!("storage")), "{path} {error}");
    }
    failing.0.store(SOUND, Ordering::SeqCst);
    assert_eq!(host.begin(AGENT, &says("Hi")).await.status(), 200);
    host.stop().await;
}
