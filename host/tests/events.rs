//! Streams of events: from wherever a reader begins, it sees the same list.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::time::Duration;

use reqwest::Method;
use support::{Running, answer};

const STREAM: &str = "/api/client/sessions/s/events/stream";

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_misses_nothing_and_sees_nothing_twice() {
    let host = Running::demo().await;
    host.say("s", "t1", "How is the weather?").await;
    host.turn("s", "t1").await;
    let all = host.turn("s", "t1").await.len();
    let whole = host.first(&format!("{STREAM}?after_seq=0"), None, all).await;
    let ids: Vec<_> = whole.iter().filter_map(|it| it.id).collect();
    assert_eq!(ids, (1..=whole.len() as u64).collect::<Vec<_>>());
    for (seen, rest) in (0..whole.len()).map(|seen| (seen as u64, &whole[seen..])) {
        let asked = host.first(&format!("{STREAM}?after_seq={seen}"), None, rest.len()).await;
        assert_eq!(asked, rest, "after {seen}");
        // What a reader had last counts more than what it asked for first.
        let returned = host.first(&format!("{STREAM}?after_seq=0"), Some(seen), rest.len()).await;
        assert_eq!(returned, rest, "back at {seen}");
    }
    for event in &whole {
        assert_eq!(event.data["payload"]["type"], event.event.as_str());
        assert_eq!(event.data["session_id"], "s");
        assert_eq!(event.data["seq"].as_u64(), event.id);
    }
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_seen_alone() {
    let host = Running::demo().await;
    for turn in ["t1", "t2"] {
        host.say("s", turn, "Hi!").await;
        let events = host.turn("s", turn).await;
        assert!(events.iter().all(|it| it.data["turn_id"] == turn), "{events:?}");
        assert_eq!(events.iter().filter(|it| it.event == "turn.completed").count(), 1);
        assert_eq!(events.last().unwrap().event, "turn.completed");
    }
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_is_a_number() {
    let host = Running::demo().await;
    let response =
        host.ask(Method::GET, &format!("{STREAM}?after_seq=two"), Some(host.token()), None).await;
    let (status, error) = answer(response).await;
    assert_eq!((status, error["code"].as_str()), (400, Some("malformed")), "{error}");
    host.stop().await;
}

/// F39: whoever goes is no longer counted.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_no_longer_reads_a_stream_is_no_listener_of_it() {
    let host = Running::demo().await;
    for _ in 0..10 {
        let mut open = Vec::new();
        for _ in 0..100 {
            open.push(host.ask(Method::GET, STREAM, Some(host.token()), None).await);
        }
        assert_eq!(host.engine.live().listeners("s"), 100);
        drop(open);
        let gone = async {
            while host.engine.live().listeners("s") > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), gone).await.unwrap();
    }
    host.stop().await;
}

/// F87: a host that is stopped while somebody reads ends as if nothing was wrong, and so does what
/// is read.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_stopped_while_it_is_read_ends_well() {
    let host = Running::demo().await;
    host.say("s", "t1", "Hi!").await;
    host.turn("s", "t1").await;
    let path = format!("{STREAM}?after_seq=0");
    let mut response = host.ask(Method::GET, &path, Some(host.token()), None).await;
    let mut text = String::new();
    while !text.contains("turn.completed") {
        let piece = tokio::time::timeout(Duration::from_secs(20), response.chunk()).await;
        text.push_str(&String::from_utf8_lossy(&piece.unwrap().unwrap().unwrap()));
    }
    let rest = tokio::spawn(response.text());
    host.stop().await;
    let rest = tokio::time::timeout(Duration::from_secs(20), rest).await.unwrap().unwrap();
    assert!(rest.is_ok(), "{rest:?}");
}
