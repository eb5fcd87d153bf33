//! A host that is told to stop, while turns run: what runs may end, streams end, nothing is lost.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use std::time::{Duration, Instant};

use quixos_shell::Exit;
use reqwest::StatusCode;
use serde_json::Value;
use support::{PATIENCE, Place, Serving};
use tokio::time::timeout;

/// Reads a stream to its end, and returns its text.
async fn whole(response: reqwest::Response) -> String {
    timeout(PATIENCE, response.text()).await.unwrap().unwrap()
}

/// Reads a stream until something is in it.
async fn until(response: &mut reqwest::Response, word: &str) {
    let mut text = String::new();
    let read = async {
        while !text.contains(word) {
            let piece = response.chunk().await.unwrap().expect("the stream goes on");
            text.push_str(&String::from_utf8_lossy(&piece));
        }
    };
    timeout(PATIENCE, read).await.unwrap();
}

/// What a session has come to.
async fn view(host: &Serving, session: &str) -> Value {
    let text = host.get(&format!("/api/machine/sessions/{session}")).await.text().await.unwrap();
    serde_json::from_str(&text).unwrap()
}

fn last_message(view: &Value) -> &str {
    let messages = view["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ends_in_time_is_heard_to_its_end_and_nothing_new_begins() {
    // A second of words, and two to stop in.
    let place = Place::new(50, 20);
    let host = place.serve(&[]);
    assert_eq!(host.say("s", "t1").await.status(), StatusCode::ACCEPTED);
    let mut stream = host.stream("s", "t1").await;
    until(&mut stream, "llm.token.delta").await;
    host.signal("-TERM");
    let refused = loop {
        let response = host.say("other", "t1").await;
        if response.status() != StatusCode::ACCEPTED {
            break response;
        }
    };
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(host.get("/ready").await.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(whole(stream).await.contains("turn.completed"), "the turn had the time to end");
    let run = host.ended().ends(Exit::Good);
    assert!(run.err.contains("stopping: what runs has 2 s to end"), "{}", run.err);
    place.run(&["--store", "quixos-data", "verify"]).ends(Exit::Good);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_end_in_time_goes_on_at_the_next_start() {
    let place = Place::new(50, 200);
    let host = place.serve(&[]);
    host.say("s", "t1").await;
    let mut stream = host.stream("s", "t1").await;
    until(&mut stream, "llm.token.delta").await;
    let told = Instant::now();
    host.signal("-TERM");
    let text = whole(stream).await;
    assert!(!text.contains("turn.completed"), "{text}");
    assert!(text.contains(": the host stops\n"), "{text}");
    host.ended().ends(Exit::Good);
    let took = told.elapsed();
    assert!(took > Duration::from_secs(2), "it gives what runs the time of the config: {took:?}");
    // The next host says it faster.
    place.write("script.json", r#"{"lines": [{"say": "Done."}]}"#);
    let host = place.serve(&[]);
    assert!(whole(host.stream("s", "t1").await).await.contains("turn.completed"));
    assert_eq!(last_message(&view(&host, "s").await), "Done.");
    host.signal("-TERM");
    host.ended().ends(Exit::Good);
    place.run(&["--store", "quixos-data", "verify"]).ends(Exit::Good);
}

#[tokio::test(flavor = "multi_thread")]
async fn told_twice_or_killed_it_ends_at_once_and_goes_on_later() {
    for signals in [&["-TERM", "-TERM"][..], &["-TERM", "-INT"], &["-KILL"]] {
        let place = Place::new(50, 2000);
        let config = std::fs::read_to_string(place.path("quixos.toml")).unwrap();
        place.write("quixos.toml", &config.replace("stop_secs = 2", "stop_secs = 600"));
        let host = place.serve(&[]);
        host.say("s", "t1").await;
        let mut stream = host.stream("s", "t1").await;
        until(&mut stream, "llm.token.delta").await;
        for signal in signals {
            host.signal(signal);
            // Signals that are sent at once may come as one.
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        let run = host.ended();
        let expected = (signals.len() > 1).then_some(i32::from(Exit::Interrupted.number()));
        assert_eq!(run.exit, expected, "{signals:?}: {}", run.err);
        place.write("script.json", r#"{"lines": [{"say": "Done."}]}"#);
        let host = place.serve(&[]);
        assert!(whole(host.stream("s", "t1").await).await.contains("turn.completed"));
        assert_eq!(last_message(&view(&host, "s").await), "Done.");
        host.signal("-TERM");
        host.ended().ends(Exit::Good);
        place.run(&["--store", "quixos-data", "verify"]).ends(Exit::Good);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_half_a_request_holds_nobody_up() {
    use tokio::io::AsyncWriteExt as _;

    let place = Place::new(0, 1);
    let host = place.serve(&[]);
    let address = host.url().strip_prefix("http://").unwrap().to_owned();
    let mut half = tokio::net::TcpStream::connect(address).await.unwrap();
    half.write_all(b"POST /api/machine/sessions/submit HTTP/1.1\r\nHost: x\r\nContent-Le")
        .await
        .unwrap();
    let told = Instant::now();
    host.signal("-INT");
    host.ended().ends(Exit::Good);
    assert!(told.elapsed() < Duration::from_secs(20), "{:?}", told.elapsed());
}
