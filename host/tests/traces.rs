//! Traces, as a collector gets them: one from a client's request through operations, deliveries and
//! model calls, under the trace that the client came with, and also what workers are sent.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use quixos_engine::worker::http::Endpoint;
use quixos_host::config::WorkerConfig;
use quixos_host::{Config, Telemetry, TelemetryConfig};
use quixos_runtime::store::MemoryStore;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use support::{Running, message};
use tokio::net::TcpListener;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
/// The trace of the other test: both may run in one process, whose spans go to one subscriber.
const OTHER_TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
/// The traces of turns that are followed: the first of a thread, one of several messages, and one that
/// brings something along.
const FOLLOWED: &str = "7bf92f3577b34da6a3ce929d0e0e4799";
const SEVERAL: &str = "7bf92f3577b34da6a3ce929d0e0e479a";
const BRINGS: &str = "7bf92f3577b34da6a3ce929d0e0e479b";
const PARENT: &str = "b7ad6b7169203331";
/// What begins a turn with a tool call.
const WEATHER: &str = "How is the weather?";

/// What a collector was sent.
type Spans = Arc<Mutex<Vec<Span>>>;

/// Starts a collector, and returns its address.
async fn collector(spans: Spans) -> String {
    let take = async move |body: Bytes| {
        let request = ExportTraceServiceRequest::decode(body).unwrap();
        let sent = request.resource_spans.into_iter().flat_map(|it| it.scope_spans);
        spans.lock().unwrap().extend(sent.flat_map(|it| it.spans));
        StatusCode::OK
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/v1/traces", post(take));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// Submits a message as part of a trace.
async fn say_traced(host: &Running, session: &str, text: &str, trace: &str) {
    let request = host.client.post(format!("{}/api/client/sessions/input", host.url));
    let request = request.bearer_auth(host.token()).header("traceparent", trace);
    let body = message(session, "t1", text).to_string();
    assert_eq!(request.body(body).send().await.unwrap().status(), 202);
    host.turn(session, "t1").await;
}

/// Begins a turn as part of a trace, and follows it; returns its end.
async fn followed(host: &Running, trace: &str, body: &Value) -> Value {
    let request = host.client.post(format!("{}/v1/agents/concierge/stream", host.url));
    let request = request.header("traceparent", format!("00-{trace}-{PARENT}-01"));
    end(host, request.body(body.to_string())).await
}

/// Returns the end of a turn that is read again.
async fn replayed(host: &Running, turn: &Value) -> Value {
    let id = turn["requestId"].as_str().unwrap();
    end(host, host.client.get(format!("{}/v1/requests/{id}/stream", host.url))).await
}

async fn end(host: &Running, request: RequestBuilder) -> Value {
    let request = request.bearer_auth(host.token()).header("accept", "application/x-ndjson");
    let told = request.send().await.unwrap().text().await.unwrap();
    serde_json::from_str(told.lines().last().unwrap()).unwrap()
}

/// Returns messages of a client.
fn messages(texts: &[&str]) -> Value {
    let content = |text: &&str| json!({ "content": [{ "type": "text", "text": text }] });
    texts.iter().map(content).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Everything about exported spans is in one test: what a process traces goes to one subscriber.
#[tokio::test(flavor = "multi_thread")]
async fn one_trace_goes_from_the_client_to_the_model() {
    let spans = Spans::default();
    let address = collector(Arc::clone(&spans)).await;
    let config = TelemetryConfig::of(Some(address), None, &|_| None).unwrap();
    let telemetry = Telemetry::start(&config).unwrap();
    tracing_subscriber::registry().with(telemetry.layer()).init();

    let host = Running::demo().await;
    say_traced(&host, "s", WEATHER, &format!("00-{TRACE}-{PARENT}-01")).await;
    // A client that follows its turn is told by which trace it is found.
    let first = followed(&host, FOLLOWED, &json!({ "messages": messages(&[WEATHER]) })).await;
    let again = replayed(&host, &first).await;
    // Of the next turn as well, whatever it brings along.
    let (thread, context) = (&first["threadId"], json!({ "page": "home" }));
    let several = json!({ "threadId": thread, "messages": messages(&["Hi!", WEATHER]) });
    let several = followed(&host, SEVERAL, &several).await;
    let brings =
        json!({ "threadId": thread, "messages": messages(&[WEATHER]), "context": context });
    let brings = followed(&host, BRINGS, &brings).await;
    // Who does not want to be traced is not, and all goes on.
    say_traced(&host, "unsampled", WEATHER, &format!("00-{}-{PARENT}-00", "1".repeat(32))).await;
    host.stop().await;
    telemetry.stop().await.unwrap();

    let spans = spans.lock().unwrap().clone();
    let traced: Vec<_> = spans.iter().filter(|span| hex(&span.trace_id) == TRACE).collect();
    let named = |name: &str| traced.iter().find(|span| span.name == name);
    let names: BTreeSet<_> = spans.iter().map(|span| span.name.as_str()).collect();
    let request = named("POST /api/client/sessions/input").unwrap_or_else(|| panic!("{names:?}"));
    assert_eq!(hex(&request.parent_span_id), PARENT);
    let submit = named("registry_submit").unwrap_or_else(|| panic!("{names:?}"));
    assert_eq!(submit.parent_span_id, request.span_id);
    // The turn's deliveries and model calls are below the request that began it.
    for name in ["deliver concierge", "model concierge"] {
        let errand = named(name).unwrap_or_else(|| panic!("{name} in {names:?}"));
        assert_eq!(errand.parent_span_id, request.span_id, "{name}");
        let inner = traced.iter().find(|span| span.parent_span_id == errand.span_id);
        assert!(inner.is_some(), "an operation ends {name}");
    }
    assert!(spans.iter().all(|span| hex(&span.trace_id) != "1".repeat(32)));
    let is_of_model = |span: &&Span| span.name == "model concierge";
    for (end, trace) in [(first, FOLLOWED), (again, FOLLOWED), (several, SEVERAL), (brings, BRINGS)]
    {
        assert_eq!((&end["event"], &end["traceId"]), (&json!("done"), &json!(trace)), "{end}");
        assert!(spans.iter().filter(is_of_model).any(|it| hex(&it.trace_id) == trace), "{trace}");
    }
    // No span says what was said.
    let shown = format!("{spans:?}");
    for said in [WEATHER, "light rain", "Oslo"] {
        assert!(!shown.contains(said), "{said}");
    }
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

/// Where nothing is exported, the client's trace is passed on all the same, also after a restart.
#[tokio::test(flavor = "multi_thread")]
async fn workers_are_asked_in_the_clients_trace() {
    let asked = Asked::default();
    let endpoint = worker(Arc::clone(&asked)).await;
    let store = Arc::new(MemoryStore::new());
    let mut config = Config::demo(support::KEY, support::SECRET.to_owned().into());
    config.agents[0].worker = WorkerConfig::Http(Box::new(endpoint));
    let take = || std::mem::take(&mut *asked.lock().unwrap());
    let host = Running::with(config.clone(), store.clone()).await;
    let said = format!("00-{OTHER_TRACE}-{PARENT}-01");
    say_traced(&host, "s", "Hi!", &said).await;
    let asked = take();
    assert!(asked.len() >= 3, "{asked:?}");
    assert!(asked.iter().all(|it| it.starts_with(&format!("00-{OTHER_TRACE}-"))), "{asked:?}");
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
    assert!(asked.iter().all(|it| it.starts_with(&format!("00-{OTHER_TRACE}-"))), "{asked:?}");

    // Without a trace, or with none that is one, a turn has one of its own.
    for (session, said) in [("c", "nonsense"), ("d", "00-0-0-00")] {
        say_traced(&host, session, "Hi!", said).await;
    }
    let asked = take();
    let traces: BTreeSet<_> = asked.iter().map(|it| it[3..35].to_owned()).collect();
    assert_eq!(traces.len(), 2, "{asked:?}");
    assert!(!traces.contains(OTHER_TRACE));
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
