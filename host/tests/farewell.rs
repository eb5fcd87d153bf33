//! Streams of every kind, when the host is told to stop: what runs has its time, nothing more begins,
//! and each reader is told why its stream ends, and how soon to come back.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;
use support::streams::{begins, host, is_lines, of_every_kind};
use support::{PATIENCE, message};

#[tokio::test(flavor = "multi_thread")]
async fn every_stream_is_told_that_the_host_stops() {
    // A model that would speak for long, in a host that waits for nobody.
    let host = host(Duration::from_secs(1), Duration::ZERO).await;
    let mut reading = Vec::new();
    for (what, response) in of_every_kind(&host).await {
        let is_lines = is_lines(&response);
        let text = tokio::spawn(async move { response.text().await.unwrap() });
        reading.push((what, is_lines, text));
    }
    host.stop().await;
    for (what, is_lines, text) in reading {
        let text = tokio::time::timeout(PATIENCE, text).await.unwrap().unwrap();
        if is_lines {
            // Lines have no way to say it but that the last one is no end.
            let events = text.lines().filter(|line| !line.is_empty());
            let events: Vec<Value> = events.map(|it| serde_json::from_str(it).unwrap()).collect();
            let is_end =
                |it: &Value| ["done", "error", "aborted"].contains(&it["event"].as_str().unwrap());
            assert!(!events.is_empty() && !events.iter().any(is_end), "{text}");
            continue;
        }
        let (_, end) =
            text.rsplit_once(": the host stops\n").unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(end.starts_with("retry:") && end.trim_end().ends_with("1000"), "{what}: {end}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_goes_on_while_the_host_is_to_stop_and_nothing_begins() {
    let host = host(Duration::from_millis(500), PATIENCE).await;
    let [(_, path, turn), ..] = begins();
    let begin = async |path: &str, body: &Value| {
        let body = Some(body.to_string());
        host.ask(Method::POST, path, Some(host.token()), body).await
    };
    let running = begin(path, &turn).await;
    assert_eq!(running.status(), 200);
    host.begin_to_stop();
    for _ in 0..200 {
        if host.get("/ready").await.0 == 503 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let input = ("an input", "/api/client/sessions/input", message("s", "t", "Speak."));
    for (what, path, body) in begins().into_iter().chain([input]) {
        let refused = begin(path, &body).await;
        assert_eq!(refused.status(), 503, "{what}");
        assert!(refused.headers().contains_key("retry-after"), "{what}");
        let told = refused.text().await.unwrap();
        assert!(told.contains("the host is about to stop"), "{what}: {told}");
    }
    // What there is can still be asked for.
    assert_eq!(host.get("/v1/threads").await.0, 200);
    let told = tokio::time::timeout(PATIENCE, running.text()).await.unwrap().unwrap();
    assert!(told.contains("\"finishReason\":\"stop\""), "{told}");
    host.stop().await;
}
