//! What a host tells operators: figures that move with what happens, in a form that Prometheus
//! reads, and whether it lives and can be used.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::{Value, json};
use support::Running;

/// Returns the figures, each under its name and labels.
async fn figures(host: &Running) -> BTreeMap<String, f64> {
    let (status, text) = host.figure("/metrics").await;
    assert_eq!(status, 200);
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{text} in {text}"));
    let figures = lines.map(|line| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), number(value))
    });
    figures.collect()
}

fn sum(figures: &BTreeMap<String, f64>, of: &[&str]) -> f64 {
    figures.iter().filter(|(name, _)| of.iter().all(|it| name.contains(it))).map(|it| it.1).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_turn_does_is_counted() {
    let host = Running::demo().await;
    let before = figures(&host).await;
    assert_eq!(sum(&before, &["quixos_admissions_total"]), 0.0);
    host.say("s", "t1", "How is the weather?").await;
    host.turn("s", "t1").await;
    let after = figures(&host).await;
    let count = |of: &[&str]| sum(&after, of);
    assert_eq!(count(&["quixos_admissions_total"]), 1.0);
    assert_eq!(count(&["quixos_claims_total{outcome=\"claimed\"}"]), 1.0);
    assert_eq!(count(&["quixos_session_events_total{event=\"turn.completed\"}"]), 1.0);
    assert_eq!(count(&["quixos_session_events_total{event=\"llm.call.completed\"}"]), 2.0);
    assert_eq!(count(&["quixos_model_calls_total", "answered"]), 2.0);
    assert!(count(&["quixos_model_tokens_total{direction=\"input\"}"]) > 5.0);
    assert!(count(&["quixos_model_tokens_total{direction=\"output\"}"]) > 5.0);
    let delivered = count(&["quixos_deliveries_total", "concierge", "answered"]);
    assert!(delivered >= 3.0, "{delivered}");
    assert_eq!(count(&["quixos_delivery_seconds_count", "concierge"]), delivered);
    assert_eq!(count(&["quixos_retries_total"]), 0.0);
    assert!(count(&["quixos_calls_total", "registry_submit", "done"]) == 1.0);
    assert!(count(&["quixos_groups_total{outcome=\"written\"}"]) > 3.0);
    assert_eq!(count(&["quixos_commits_durable"]), count(&["quixos_commits_executed"]));
    assert_eq!(count(&["quixos_store_state{state=\"good\"}"]), 1.0);
    assert_eq!(count(&["quixos_requests_pending"]), 0.0);
    let route = "route=\"/api/client/sessions/input\",status=\"202\"";
    assert_eq!(count(&["quixos_http_requests_total", route]), 1.0);
    assert!(count(&["quixos_http_connections"]) >= 1.0);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_counted_by_its_reason() {
    let host = Running::demo().await;
    host.say("s", "t1", "Please book it.").await;
    let (status, _) = host.say("s", "t2", "Hi!").await;
    assert_eq!(status, 409);
    let (status, _) = host.say("s", "t3", "Hi!").await;
    assert_eq!(status, 409);
    let told = figures(&host).await;
    let reason = "quixos_refusals_total{reason=\"turn-already-active\"}";
    assert_eq!(sum(&told, &[reason]), 2.0);
    assert_eq!(sum(&told, &["quixos_requests_pending"]), 1.0);
    host.stop().await;
}

/// However clients write their requests, the series are as many.
#[tokio::test(flavor = "multi_thread")]
async fn no_client_makes_a_series() {
    let host = Running::demo().await;
    for at in 0..20 {
        let method = format!("M{at}").parse().unwrap();
        host.ask(method, &format!("/nowhere/{at}"), None, None).await;
        host.get(&format!("/api/client/sessions/s{at}")).await;
        host.say(&format!("s{at}"), "t", "Hi!").await;
    }
    let told = figures(&host).await;
    let series = told.keys().filter(|it| it.starts_with("quixos_http_requests_total")).count();
    assert!(series <= 4, "{told:?}");
    assert!(told.keys().all(|it| !it.contains("s1") && !it.contains("nowhere")), "{told:?}");
    host.stop().await;
}

/// Waits until so many streams of a kind are open.
async fn until(host: &Running, kind: &str, count: f64) {
    let name = format!("quixos_streams_open{{kind=\"{kind}\"}}");
    for _ in 0..200 {
        if sum(&figures(host).await, &[&name]) == count {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("{name} is not {count}: {:?}", figures(host).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_of_each_kind_are_counted_while_they_are_read() {
    let host = Running::demo().await;
    let ask = async |method: Method, path: &str, body: Option<Value>| {
        let body = body.map(|body| body.to_string());
        host.ask(method, path, Some(host.token()), body).await
    };
    let put = ask(Method::PUT, "/v1/stream/s", None).await;
    assert_eq!(put.status(), 201);
    let text = json!([{ "type": "text", "text": "Tell me a story." }]);
    let says = json!({ "messages": [{ "content": text }] });
    for (kind, method, path, body) in [
        ("events", Method::GET, "/api/client/sessions/s/events/stream", None),
        ("public", Method::GET, "/v1/stream/s?offset=now&live=sse", None),
        ("turns", Method::POST, "/v1/agents/concierge/stream", Some(says)),
    ] {
        let stream = ask(method, path, body).await;
        assert_eq!(stream.status(), 200, "{path}");
        until(&host, kind, 1.0).await;
        drop(stream);
        until(&host, kind, 0.0).await;
    }
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_readers_of_turns_are_handed_late_is_measured() {
    let host = Running::demo().await;
    let lag = async || sum(&figures(&host).await, &["quixos_stream_lag_seconds_count"]);
    let before = lag().await;
    let text = json!([{ "type": "text", "text": "How is the weather?" }]);
    let says = json!({ "messages": [{ "content": text }] }).to_string();
    let path = "/v1/agents/concierge/stream";
    let stream = host.ask(Method::POST, path, Some(host.token()), Some(says)).await;
    let text = stream.text().await.unwrap();
    assert!(text.contains("event: done"));
    // An entry of the log may be told by several events, and those that only the host needs by none.
    let ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
    let entries: BTreeSet<&str> = ids.filter_map(|id| id.split('.').next()).collect();
    let handed = lag().await - before;
    assert!(handed > 0.0 && handed <= entries.len() as f64, "{handed} {text}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_reader_of_a_session_is_not_shown_is_not_counted() {
    let host = Running::demo().await;
    let lag = async || sum(&figures(&host).await, &["quixos_stream_lag_seconds_count"]);
    let path = "/api/client/sessions/s/events/stream?after_seq=0&turn_id=t2";
    let second = host.ask(Method::GET, path, Some(host.token()), None).await;
    until(&host, "events", 1.0).await;
    host.say("s", "t1", "Hi!").await;
    while host.get("/api/client/sessions/s").await.1["turn_id"] != Value::Null {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    host.say("s", "t2", "Hi!").await;
    let shown = second.text().await.unwrap().matches("id: ").count();
    assert!(shown > 2, "{shown}");
    assert_eq!(lag().await, shown as f64);
    host.stop().await;
}
