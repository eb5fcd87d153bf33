//! What bad clients get over a real socket, and what they hold up: not the others.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use quixos_host::{Config, ConnectionLimits};
use quixos_runtime::store::MemoryStore;
use reqwest::Method;
use serde_json::json;
use support::{KEY, Running, SECRET};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

async fn host(limits: ConnectionLimits) -> Running {
    let mut config = Config::demo(KEY, SECRET.to_owned().into());
    config.limits.connections = limits;
    Running::with(config, Arc::new(MemoryStore::new())).await
}

async fn connect(host: &Running) -> TcpStream {
    TcpStream::connect(host.url.strip_prefix("http://").unwrap()).await.unwrap()
}

/// Reads all until the other end is closed.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await;
    // A connection that is reset is closed, too.
    drop(read.expect("the connection is closed in time"));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_comes_too_slowly_is_not_waited_for() {
    let head = Duration::from_millis(500);
    let host = host(ConnectionLimits { head, ..ConnectionLimits::default() }).await;
    let mut slow = connect(&host).await;
    slow.write_all(b"GET /health HTTP/1.1\r\n").await.unwrap();
    let mut silent = connect(&host).await;
    let begun = Instant::now();
    assert_eq!(rest(&mut slow).await, "");
    assert_eq!(rest(&mut silent).await, "");
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(host.get("/health").await.0, 200);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_too_many_is_told_to_come_again() {
    let host = host(ConnectionLimits { most: 2, ..ConnectionLimits::default() }).await;
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut stream = connect(&host).await;
        stream.write_all(b"GET /health HTTP/1.1\r\nhost: h\r\n\r\n").await.unwrap();
        let mut seen = [0; 15];
        stream.read_exact(&mut seen).await.unwrap();
        assert_eq!(&seen, b"HTTP/1.1 200 OK");
        open.push(stream);
    }
    let told = rest(&mut connect(&host).await).await;
    assert!(told.starts_with("HTTP/1.1 503 ") && told.contains("retry-after: 1"), "{told}");
    drop(open);
    for _ in 0..200 {
        let mut stream = connect(&host).await;
        stream.write_all(b"GET /health HTTP/1.1\r\nconnection: close\r\n\r\n").await.unwrap();
        if rest(&mut stream).await.starts_with("HTTP/1.1 200 ") {
            return host.stop().await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a place that is free again is not given away");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_answered_and_harms_nobody() {
    let host = host(ConnectionLimits::default()).await;
    let many = (0..200).map(|at| format!("x-{at}: 1\r\n")).collect::<String>();
    for (sent, expected) in [
        ("nonsense\r\n\r\n".to_owned(), "400"),
        ("GET / HTTP/9.9\r\n\r\n".to_owned(), "400"),
        (format!("GET /health HTTP/1.1\r\n{many}\r\n"), "431"),
        (format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(70_000)), "414"),
        ("POST /api/client/sessions/input HTTP/1.1\r\ncontent-length: x\r\n\r\n".into(), "400"),
        ("GET /health HTTP/1.1\r\nconnection: close\r\n\r\n".to_owned(), "200"),
    ] {
        let mut stream = connect(&host).await;
        // It may be answered before it has sent all.
        drop(stream.write_all(sent.as_bytes()).await);
        let told = rest(&mut stream).await;
        let start: String = sent.chars().take(60).collect();
        assert!(told.starts_with(&format!("HTTP/1.1 {expected} ")), "{start}: {told}");
    }
    assert_eq!(host.get("/health").await.0, 200);
    host.stop().await;
}

/// Each refusal that may pass says when to come again.
#[tokio::test(flavor = "multi_thread")]
async fn who_may_try_again_is_told_when() {
    let mut config = Config::demo(KEY, SECRET.to_owned().into());
    config.limits.connections = ConnectionLimits::default();
    let host = Running::with(config, Arc::new(MemoryStore::new())).await;
    let say = async |session: &str| {
        let body = support::message(session, "t", "Please book it.").to_string();
        let path = "/api/client/sessions/input";
        let response = host.ask(Method::POST, path, Some(host.token()), Some(body)).await;
        let again = response.headers().get("retry-after").map(|it| it.to_str().unwrap().to_owned());
        (response.status().as_u16(), again)
    };
    assert_eq!(say("first").await, (202, None));
    support::set_agent(&host, &json!({ "limits": { "maxPending": 1 } }), true).await;
    assert_eq!(say("full").await, (429, Some("1".to_owned())));
    support::set_agent(&host, &json!({}), false).await;
    assert_eq!(say("disabled").await, (503, Some("1".to_owned())));
    host.stop().await;
}
