//! What a client may ask, what it is told that may not, and what events know of themselves.

#![allow(clippy::unwrap_used, reason = "tests")]

use quixos_protocol::agent::{
    AgentEvent, AgentRequest, ErrorCode, EventStage, RequestError, RequestLimits,
};
use quixos_protocol::parse_value;
use serde_json::{Value, json};

const LIMITS: RequestLimits = RequestLimits { body: 10_000, text: 20 };

fn read(request: &Value) -> Result<AgentRequest, RequestError> {
    AgentRequest::read(request.to_string().as_bytes(), LIMITS)
}

fn says(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn answer(action: &str) -> Value {
    json!({ "actionId": action, "kind": "input", "status": "success" })
}

#[test]
fn a_request_asks_something() {
    for good in [
        json!({ "messages": [says("Hi")] }),
        json!({ "messages": [says("Hi"), says("there")], "threadId": "t", "more": 1 }),
        json!({ "messages": [], "threadId": "t", "context": { "actionResults": [answer("a")] } }),
        json!({ "messages": [says("Hi")], "threadId": null, "context": null }),
        json!({ "messages": [says("Hi")], "context": { "actionResults": null, "page": "/" } }),
    ] {
        read(&good).unwrap_or_else(|error| panic!("{good}: {error}"));
    }
}

#[test]
fn what_is_wrong_is_told_by_its_place() {
    for (bad, told) in [
        (json!({}), "missing field `messages`"),
        (json!([[says("Hi")]]), "a list where an object is expected"),
        (
            json!({ "messages": [says("Hi")], "context": [[answer("a")]] }),
            "`/context`: a list where an object is expected",
        ),
        (
            json!({ "messages": [[[{ "type": "text", "text": "Hi" }]]] }),
            "`/messages/0`: a list where an object is expected",
        ),
        (
            json!({ "messages": [], "context": { "actionResults": [["a", "input", "success"]] } }),
            "`/context/actionResults/0`: a list where an object is expected",
        ),
        (
            json!({ "messages": "Hi" }),
            "`/messages`: invalid type: string \"Hi\", expected a sequence",
        ),
        (
            json!({ "messages": [] }),
            "`/messages`: there is no message, and no action result either",
        ),
        (
            json!({ "messages": [], "context": { "actionResults": [] } }),
            "`/messages`: there is no message, and no action result either",
        ),
        (
            json!({ "messages": [says("Hi"), { "content": [{ "type": "image", "url": "u" }] }] }),
            "`/messages/1/content/0`: unknown variant `image`, expected `text`",
        ),
        (
            json!({ "messages": [{ "content": [{ "text": "Hi" }] }] }),
            "`/messages/0/content/0`: missing field `type`",
        ),
        (
            json!({ "messages": [{ "content": [{ "type": "text", "text": 7 }] }] }),
            "`/messages/0/content/0/text`: invalid type: integer `7`, expected a string",
        ),
        (json!({ "messages": [{}] }), "`/messages/0`: missing field `content`"),
        (json!({ "messages": [{ "content": [] }] }), "`/messages/0/content`: says nothing"),
        (json!({ "messages": [says(" \n")] }), "`/messages/0/content`: says nothing"),
        (
            json!({ "messages": [says("Hi")], "threadId": 7 }),
            "`/threadId`: invalid type: integer `7`, expected a string",
        ),
        (
            json!({ "messages": [says("Hi")], "threadId": " " }),
            "`/threadId`: is blank: leave it out to begin a new thread",
        ),
        (
            json!({ "messages": [], "context": { "actionResults": [{ "actionId": "a" }] } }),
            "`/context/actionResults/0`: missing field `kind`",
        ),
        (
            json!({ "messages": [], "context": { "actionResults": [
                { "actionId": "a", "kind": "tool", "status": "fine" }] } }),
            "`/context/actionResults/0/status`: unknown variant `fine`, expected `success` or \
             `error`",
        ),
        (
            json!({ "messages": [], "context": { "actionResults": [answer("a"), answer("a")] } }),
            "`/context/actionResults/1/actionId`: `a` is answered twice",
        ),
        (
            json!({ "messages": [], "context": { "actionResults": [answer("")] } }),
            "`/context/actionResults/0/actionId`: is empty",
        ),
    ] {
        let error = read(&bad).unwrap_err();
        assert_eq!(error.to_string(), told, "{bad}");
        assert_eq!(error.code(), ErrorCode::InvalidMessageFormat, "{bad}");
    }
    let error = AgentRequest::read(b"{", LIMITS).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidMessageFormat);
    assert!(error.to_string().starts_with("not JSON: "), "{error}");
}

#[test]
fn what_is_too_large_is_told_apart() {
    let long = json!({ "messages": [says("short"), says("longer than twenty bytes")] });
    let error = read(&long).unwrap_err();
    assert_eq!(error.code(), ErrorCode::MessageTooLarge);
    assert_eq!(
        error.to_string(),
        "`/messages/1/content`: 24 bytes of text, where at most 20 are taken"
    );
    let parts = json!({ "messages": [{ "content": [
        { "type": "text", "text": "eleven byte" }, { "type": "text", "text": "eleven byte" }] }] });
    assert_eq!(read(&parts).unwrap_err().code(), ErrorCode::MessageTooLarge);
    let error = AgentRequest::read(&[b' '; 10_001], LIMITS).unwrap_err();
    assert_eq!(error.code(), ErrorCode::MessageTooLarge);
}

#[test]
fn what_a_worker_is_told_is_all_but_the_answers() {
    let request = read(&json!({
        "messages": [says("Hi")],
        "context": { "actionResults": [answer("a")], "page": "/", "none": null },
    }));
    let context = request.unwrap().context.unwrap();
    assert_eq!(context.action_results.len(), 1);
    assert_eq!(Value::Object(context.forwarded), json!({ "page": "/", "none": null }));
}

#[test]
fn each_code_has_a_status() {
    for (code, status) in [
        ("auth_failed", 401),
        ("thread_not_found", 404),
        ("thread_access_denied", 403),
        ("invalid_message_format", 400),
        ("message_too_large", 413),
        ("rate_limit_exceeded", 429),
        ("stream_timeout", 504),
        ("agent_error", 500),
        ("tool_error", 500),
        ("internal_error", 500),
        ("invalid_action_id", 400),
    ] {
        let code: ErrorCode = parse_value(json!(code)).unwrap();
        assert_eq!(code.status(), status);
        assert_eq!(code.is_retryable(), [429, 504].contains(&status), "{code:?}");
        assert!(ErrorCode::ALL.contains(&code));
    }
    assert_eq!(ErrorCode::ALL.len(), 11);
}

#[test]
fn events_know_what_they_are_about() {
    let event = |text: &str| -> AgentEvent { serde_json::from_str(text).unwrap() };
    let start = event(include_str!("../examples/AgentEvent/tool_call~start.json"));
    assert_eq!((start.stage(), start.block_id()), (Some(EventStage::Start), Some("call_01#2")));
    assert_eq!(start.kind(), "tool_call");
    assert!(!start.is_terminal());
    for text in [
        include_str!("../examples/AgentEvent/done.json"),
        include_str!("../examples/AgentEvent/error.json"),
        include_str!("../examples/AgentEvent/aborted.json"),
    ] {
        let end = event(text);
        assert!(end.is_terminal() && end.stage().is_none() && end.block_id().is_none());
        assert_eq!(end.request_id(), start.request_id());
    }
}
