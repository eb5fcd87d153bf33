//! What a client says of its trace, and what workers are told of it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use axum::{Json, Router};
use quixos_engine::worker::http::Endpoint;
use quixos_host::Config;
use quixos_host::config::WorkerConfig;
use quixos_runtime::store::MemoryStore;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{KEY, Running, SECRET, message};

/// The place in its trace that a client says.
pub(crate) const PARENT: &str = "b7ad6b7169203331";
/// A trace of a client.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Submits a message as part of a trace.
pub(crate) async fn say_traced(host: &Running, session: &str, text: &str, trace: &str) {
    let request = host.client.post(format!("{}/api/client/sessions/input", host.url));
    let request = request.bearer_auth(host.token()).header("traceparent", trace);
    let body = message(session, "t1", text).to_string();
    assert_eq!(request.body(body).send().await.unwrap().status(), 202);
    host.turn(session, "t1").await;
}

/// The `traceparent` of each delivery.
type Asked = Arc<Mutex<Vec<String>>>;

/// Starts a worker that writes down in what traces it is asked, and does what is proposed.
async fn worker(asked: Asked) -> Endpoint {
    let decide = async move |headers: HeaderMap, body: Bytes| {
        let trace = headers["traceparent"].to_str().unwrap().to_owned();
        asked.lock().unwrap().push(trace);
        let request: Value = serde_json::from_slice(&body).unwrap();
        Json(request["proposed"].clone())
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/", post(decide));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    Endpoint::new(&address).unwrap()
}

/// Expects that workers are asked in the client's trace, also after a restart.
pub(crate) async fn is_passed_on() {
    let asked = Asked::default();
    let endpoint = worker(Arc::clone(&asked)).await;
    let store = Arc::new(MemoryStore::new());
    let mut config = Config::demo(KEY, SECRET.to_owned().into());
    config.agents[0].worker = WorkerConfig::Http(Box::new(endpoint));
    let take = || std::mem::take(&mut *asked.lock().unwrap());
    let host = Running::with(config.clone(), store.clone()).await;
    let said = format!("00-{TRACE}-{PARENT}-01");
    say_traced(&host, "s", "Hi!", &said).await;
    let asked = take();
    assert!(asked.len() >= 3, "{asked:?}");
    assert!(asked.iter().all(|it| it.starts_with(&format!("00-{TRACE}-"))), "{asked:?}");
    // Each delivery has a place of its own, and none has the client's.
    assert_eq!(asked.iter().collect::<BTreeSet<_>>().len(), asked.len(), "{asked:?}");
    assert!(!asked.contains(&said));

    // One that waits for its user, while the host is started anew.
    let booking = message("b", "t1", "Please book it.").to_string();
    let request = host.client.post(format!("{}/api/client/sessions/input", host.url));
    let request = request.bearer_auth(host.token()).header("traceparent", &said).body(booking);
    assert_eq!(request.send().await.unwrap().status(), 202);
    wait_for_call(&host).await;
    host.stop().await;
    take();
    let host = Running::with(config, store).await;
    let result = json!({
        "session_id": "b", "input": { "type": "tool.result", "id": "call_1", "result": "yes" },
    });
    let (status, told) = host.post("/api/client/sessions/input", &result).await;
    assert_eq!(status, 202, "{told}");
    host.turn("b", "t1").await;
    let asked = take();
    assert!(!asked.is_empty());
    assert!(asked.iter().all(|it| it.starts_with(&format!("00-{TRACE}-"))), "{asked:?}");

    // Without a trace, or with none that is one, a turn has one of its own.
    for (session, said) in [("c", "nonsense"), ("d", "00-0-0-00")] {
        say_traced(&host, session, "Hi!", said).await;
    }
    let asked = take();
    let traces: BTreeSet<_> = asked.iter().map(|it| it[3..35].to_owned()).collect();
    assert_eq!(traces.len(), 2, "{asked:?}");
    assert!(!traces.contains(TRACE));
    host.stop().await;
}

async fn wait_for_call(host: &Running) {
    for _ in 0..400 {
        let (_, view) = host.get("/api/client/sessions/b").await;
        if view.to_string().contains("call_1") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the user is not asked");
}
