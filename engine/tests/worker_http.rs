//! Deliveries over HTTP, against servers that behave as servers do.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod wire;

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use quixos_engine::http::{HttpClient, Limits};
use quixos_engine::worker::http::{Endpoint, HttpWorker};
use quixos_engine::worker::{Delivery, DeliveryError, Worker};
use quixos_protocol::{DecisionRequest, StreamDelta, parse_value};
use serde_json::{Value, json};
use sha2::Sha256;
use wire::{Listener, Server, Step, answer, send, stream_head};

fn client() -> HttpClient {
    HttpClient::new(Duration::from_secs(2)).unwrap()
}

/// Small amounts, so that tests are quick.
const LIMITS: Limits = Limits {
    answer: 64 << 10,
    event: 32 << 10,
    stream: 128 << 10,
    idle: Duration::from_millis(400),
};

fn request(trigger: &Value) -> DecisionRequest {
    let request = json!({
        "session_id": "s", "decision_id": "d", "agent_id": "a", "identity": {"id": "Zoë"},
        "trigger": trigger, "proposed": {}, "state": {"share": 2.50, "tiny": 1e-7, "name": "\u{1f980}"},
        "agent": null, "calls": [], "pending_calls": 0, "messages": [],
        "message_tree": {"nodes": []}, "ancestry": [], "attempts": 1, "deadline": null,
        "turn_id": null,
    });
    parse_value(request).unwrap()
}

fn start() -> DecisionRequest {
    request(&json!({"type": "session.start"}))
}

fn execute(format: Option<&str>, stream: bool) -> DecisionRequest {
    request(&json!({
        "type": "llm.execute", "id": "call", "request": {}, "format": format, "stream": stream,
        "attempt": 1,
    }))
}

async fn decide_at(
    endpoint: Endpoint,
    request: &DecisionRequest,
    listener: &Listener,
) -> Result<Value, DeliveryError> {
    let body = serde_json::to_string(request).unwrap();
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let delivery = Delivery { request, body: &body, traceparent };
    HttpWorker::new(client(), endpoint).decide(delivery, &listener.sink).await
}

async fn decide(server: &Server, request: &DecisionRequest) -> Result<Value, DeliveryError> {
    let endpoint = Endpoint::new(&server.url).unwrap().limits(LIMITS);
    decide_at(endpoint, request, &Listener::new(1)).await
}

/// Returns whether a delivery that must fail may be tried again, and why it failed.
async fn fault(server: &Server, request: &DecisionRequest) -> (bool, String) {
    let error = decide(server, request).await.unwrap_err();
    (error.retryable, error.message)
}

#[tokio::test]
async fn the_bytes_that_are_signed_are_those_that_are_sent() {
    let mut server = Server::answering("200 OK", "", "{}").await;
    let endpoint = Endpoint::new(&server.url).unwrap().signed("s3cret".into()).unwrap();
    let request = start();
    let answered = decide_at(endpoint.clone(), &request, &Listener::new(1)).await;
    assert_eq!(answered, Ok(json!({})));
    let received = server.received().unwrap();
    assert!(received.head.starts_with("POST / HTTP/1.1"), "{}", received.head);
    assert_eq!(received.body, serde_json::to_vec(&request).unwrap());
    assert_eq!(received.header("content-type"), Some("application/json"));
    assert_eq!(received.header("accept"), Some("text/event-stream, application/json"));
    assert!(received.header("traceparent").unwrap().starts_with("00-0af7"));
    let signature = received.header("x-substructure-signature").unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(b"s3cret").unwrap();
    mac.update(&received.body);
    let bytes = mac.finalize().into_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(signature, format!("sha256={hex}"));

    let other = endpoint.signature_header("X-Signed").unwrap();
    decide_at(other, &request, &Listener::new(1)).await.unwrap();
    let received = server.received().unwrap();
    assert!(received.header("x-signed").is_some());
    assert_eq!(received.header("x-substructure-signature"), None);
}

#[tokio::test]
async fn without_a_secret_nothing_is_signed() {
    let mut server = Server::answering("200 OK", "", "null").await;
    assert_eq!(decide(&server, &start()).await, Ok(Value::Null));
    assert_eq!(server.received().unwrap().header("x-substructure-signature"), None);
    assert!(Endpoint::new(&server.url).unwrap().signed("".into()).is_err());
    assert!(Endpoint::new("ftp://host/").is_err());
}

#[tokio::test]
async fn each_status_says_whether_to_ask_again() {
    for (status, body, retryable) in [
        ("500 Internal Server Error", "oops", true),
        ("503 Service Unavailable", "", true),
        ("400 Bad Request", r#"{"error": "unknown agent"}"#, false),
        ("404 Not Found", "{}", false),
        ("429 Too Many Requests", "{}", false),
        ("204 No Content", "", false),
        ("200 OK", "", false),
        ("200 OK", "<html>", false),
        ("200 OK", r#"{"error": "no such model"}"#, false),
        ("200 OK", r#"{"actions": [{"type": "dance"}]}"#, false),
    ] {
        let server = Server::answering(status, "", body).await;
        let (again, message) = fault(&server, &start()).await;
        assert_eq!(again, retryable, "{status} {body}: {message}");
    }
    let server = Server::answering("400 Bad Request", "", r#"{"error": "unknown agent"}"#).await;
    assert!(fault(&server, &start()).await.1.contains("unknown agent"));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let mut elsewhere = Server::answering("200 OK", "", "{}").await;
    let location = format!("Location: {}\r\n", elsewhere.url);
    for status in ["301 Moved Permanently", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let server = Server::answering(status, &location, "").await;
        assert!(!fault(&server, &start()).await.0, "{status}");
    }
    assert!(elsewhere.received().is_none());
}

#[tokio::test]
async fn nobody_at_home_may_come_back_and_no_address_is_told() {
    let endpoint = Endpoint::new("http://user:hidden@127.0.0.1:1/?token=hidden").unwrap();
    let error = decide_at(endpoint, &start(), &Listener::new(1)).await.unwrap_err();
    assert!(error.retryable);
    assert!(!error.message.contains("hidden"), "{}", error.message);
}

#[tokio::test]
async fn who_does_not_speak_tls_is_not_spoken_to() {
    let mut server = Server::answering("200 OK", "", "{}").await;
    let endpoint = Endpoint::new(&server.url.replace("http:", "https:")).unwrap();
    let error = decide_at(endpoint, &start(), &Listener::new(1)).await.unwrap_err();
    assert!(error.retryable, "{}", error.message);
    assert!(server.received().is_none());
}

#[tokio::test]
async fn an_answer_may_come_in_any_pieces() {
    let whole = answer("200 OK", "content-type: application/json\r\n", br#"{"state": 1}"#);
    let early = b"HTTP/1.1 100 Continue\r\n\r\n".as_slice();
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"sta\r\n7\r\nte\": 1}\r\n0\r\n\r\n";
    for steps in [
        vec![Step::Drip(whole.clone())],
        vec![send([early, &whole].concat())],
        vec![Step::Drip(chunked.into())],
    ] {
        let server = Server::start(steps).await;
        assert_eq!(decide(&server, &start()).await, Ok(json!({"state": 1})));
    }
}

/// `{"state": {"n": 1}}`, compressed.
const GZIP: [u8; 37] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 42, 46, 73, 44, 73, 85, 178, 82, 168, 86, 202, 3,
    146, 134, 181, 181, 0, 186, 245, 245, 132, 19, 0, 0, 0,
];

#[tokio::test]
async fn a_compressed_answer_is_read() {
    let server =
        Server::start(vec![send(answer("200 OK", "content-encoding: gzip\r\n", &GZIP))]).await;
    assert_eq!(decide(&server, &start()).await, Ok(json!({"state": {"n": 1}})));
    let torn = send(answer("200 OK", "content-encoding: gzip\r\n", &GZIP[..25]));
    let server = Server::start(vec![torn]).await;
    assert!(fault(&server, &start()).await.0, "a torn answer may come whole later");
}

#[tokio::test]
async fn an_answer_that_breaks_off_may_come_whole_later() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"state\": 1}";
    let unended = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"sta\r\n";
    for bytes in [cut, unended, "HTTP/1.1 200", ""] {
        let server = Server::start(vec![send(bytes)]).await;
        assert!(fault(&server, &start()).await.0, "{bytes}");
    }
}

#[tokio::test]
async fn silence_ends_an_answer_and_slowness_does_not() {
    let head = send("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n");
    let silent = vec![head, send("{\"st"), Step::Wait(Duration::from_secs(30))];
    let (again, message) = fault(&Server::start(silent).await, &start()).await;
    assert!(again && message.contains("nothing came"), "{message}");

    let mut slow = vec![stream_head()];
    for _ in 0..8 {
        slow.extend([Step::Wait(Duration::from_millis(100)), send(": still here\n\n")]);
    }
    slow.push(send("event: decision.result\ndata: {}\n\n"));
    let server = Server::start(slow).await;
    let listener = Listener::new(1);
    let endpoint = Endpoint::new(&server.url).unwrap().limits(LIMITS);
    assert_eq!(decide_at(endpoint, &start(), &listener).await, Ok(json!({})));
    assert!(listener.spoken.borrow().beats >= 9, "each byte shows life");
}

#[tokio::test]
async fn more_than_is_taken_is_refused() {
    let much = "x".repeat(16 << 10);
    let head = send("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
    let endless = vec![head, Step::Forever(much.clone().into())];
    let endless_line = vec![stream_head(), send("data: "), Step::Forever(much.into())];
    let endless_comments = vec![stream_head(), Step::Forever(b": still here\n\n".repeat(100))];
    let large =
        format!("event: decision.result\ndata: {{\"state\": \"{}\"}}\n\n", "x".repeat(33 << 10));
    for steps in [endless, endless_line, endless_comments, vec![stream_head(), send(large)]] {
        let (again, message) = fault(&Server::start(steps).await, &start()).await;
        assert!(!again && message.contains("more than"), "{message}");
    }
}

#[tokio::test]
async fn what_the_model_says_is_passed_on_as_it_comes() {
    let server = Server::streaming([
        "event:llm.token.delta\r\ndata:{\"text\":\"hé",
        "l\"}\r\n\r\n: note\r\n\r\nevent: llm.token.delta\r\ndata: {\"text\":\r\ndata: \"lo\"}\r\n\r\n",
        "event: llm.token.delta\ndata: {}\n\nevent: llm.token.delta\ndata: [DONE]\n\n",
        "event: decision.result\ndata: {\"actions\": [{\"type\": \"llm.result\",\n",
        "data: \"response\": {\"model\": \"m\", \"content\": \"héllo\"}}]}\n\n",
    ])
    .await;
    let mut listener = Listener::new(1);
    let endpoint = Endpoint::new(&server.url).unwrap();
    let answer = decide_at(endpoint, &execute(None, true), &listener).await.unwrap();
    assert_eq!(answer["actions"][0]["response"]["content"], json!("héllo"));
    assert_eq!(listener.text(), "héllo");
    assert_eq!(listener.deltas().len(), 2, "what carries nothing is passed over");
}

#[tokio::test]
async fn events_of_a_provider_are_passed_on_in_the_neutral_form() {
    let events = [
        json!({"type": "message_start", "message": {"model": "m"}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}),
    ];
    let frames = events.map(|event| format!("event: llm.token.delta\ndata: {event}\n\n"));
    let end = "event: decision.result\ndata: null\n\n".to_owned();
    let server = Server::streaming(frames.into_iter().chain([end])).await;
    let mut listener = Listener::new(1);
    let endpoint = Endpoint::new(&server.url).unwrap();
    let request = execute(Some("anthropic"), true);
    assert_eq!(decide_at(endpoint, &request, &listener).await, Ok(Value::Null));
    let said = StreamDelta { text: Some("Hi".to_owned()), ..StreamDelta::default() };
    let ended = StreamDelta { finish_reason: Some("stop".to_owned()), ..StreamDelta::default() };
    assert_eq!(listener.deltas(), [said, ended]);
}

#[tokio::test]
async fn each_stream_says_whether_to_ask_again() {
    let delta = b"event: llm.token.delta\ndata: {\"text\": \"x\"}\n\n".as_slice();
    let streaming = execute(None, true);
    for (events, request, retryable) in [
        (delta, &execute(None, false), false),
        (delta, &start(), false),
        (delta, &streaming, true),
        (b"", &streaming, true),
        (b"event: decision.result\ndata: {}\n", &streaming, true),
        (b"data: {}\n\n", &streaming, false),
        (b"event: surprise\ndata: {}\n\n", &streaming, false),
        (b"event: decision.result\ndata: {\"actions\": 3}\n\n", &streaming, false),
        (b"event: decision.result\ndata: {\"state\": \"\xff\xfe\"}\n\n", &streaming, false),
        (b"event: decision.error\ndata: {\"message\": \"busy\"}\n\n", &streaming, true),
        (
            b"event: decision.error\ndata: {\"message\": \"no\", \"retryable\": false}\n\n",
            &start(),
            false,
        ),
        (b"event: decision.error\ndata: what\n\n", &streaming, false),
    ] {
        let server = Server::streaming([events]).await;
        let (again, message) = fault(&server, request).await;
        assert_eq!(again, retryable, "{}: {message}", String::from_utf8_lossy(events));
    }
}

#[tokio::test]
async fn a_delta_of_bad_letters_is_passed_over() {
    let server = Server::streaming([
        b"event: llm.token.delta\ndata: {\"text\": \"\xff\"}\n\n".as_slice(),
        b"event: decision.result\ndata: {}\n\n",
    ])
    .await;
    assert_eq!(decide(&server, &execute(None, true)).await, Ok(json!({})));
}
