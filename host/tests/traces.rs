//! Traces, as a collector gets them: one from a client's request through operations, deliveries and
//! model calls, under the trace that the client came with, and also what workers are sent.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use quixos_host::{Telemetry, TelemetryConfig};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use support::Running;
use support::trace::{PARENT, is_passed_on, say_traced};
use tokio::net::TcpListener;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
/// The traces of turns that are followed: the first of a thread, one of several messages, and one that
/// brings something along.
const FOLLOWED: &str = "7bf92f3577b34da6a3ce929d0e0e4799";
const SEVERAL: &str = "7bf92f3577b34da6a3ce929d0e0e479a";
const BRINGS: &str = "7bf92f3577b34da6a3ce929d0e0e479b";
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

/// Here spans are exported; `untraced.rs` is about where they are not.
#[tokio::test(flavor = "multi_thread")]
async fn workers_are_asked_in_the_clients_trace() {
    is_passed_on().await;
}
