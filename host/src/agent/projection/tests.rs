//! Logs as they may be, and what clients are told of them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Projection, Told, Turn};
use crate::agent::log::{Entry, Logged};

/// Folds a log: each entry its kind and its payload.
fn told(log: &[(&str, Value)]) -> Vec<Value> {
    let turn = Turn {
        request_id: "r".to_owned(),
        thread_id: "t".to_owned(),
        agent_id: "a".to_owned(),
        turn_id: "1".to_owned(),
    };
    let mut projection = Projection::new(Arc::new(turn));
    let mut all = Vec::new();
    for (offset, (kind, payload)) in (0..).zip(log) {
        let logged = Logged::read(kind, &payload.to_string()).unwrap();
        for told in projection.fold(&Entry { offset, instant: "now".to_owned(), logged }) {
            all.push(match told {
                Told::Start { event, .. } | Told::Event { event, .. } => {
                    serde_json::to_value(event).unwrap()
                }
                Told::Text { block, text } => json!({ "block": block.id, "text": text }),
            });
        }
    }
    all
}

/// Returns events in short: what, the block, the stage or the text.
fn short(told: &[Value]) -> Vec<String> {
    told.iter()
        .map(|event| match (event["block"].as_str(), event["blockId"].as_str()) {
            (Some(block), _) => format!("{block} {:?}", event["text"].as_str().unwrap()),
            (_, Some(block)) => format!("{block} {}", event["stage"].as_str().unwrap()),
            _ => event["event"].as_str().unwrap().to_owned(),
        })
        .collect()
}

fn content(told: &[Value]) -> Value {
    told.iter().rev().find(|event| event["event"] == "done").unwrap()["content"].clone()
}

fn requested() -> (&'static str, Value) {
    ("llm.call.requested", json!({ "call_id": "c", "attempt": 1 }))
}

fn started(attempt: u32, index: u32, kind: &str) -> (&'static str, Value) {
    let payload = json!({
        "call_id": "c", "attempt": attempt, "index": index, "kind": kind,
        "tool_call_id": "k", "name": "find",
    });
    ("llm.block.started", payload)
}

fn stopped(attempt: u32, index: u32, text: &str) -> (&'static str, Value) {
    let payload = json!({ "call_id": "c", "attempt": attempt, "index": index, "text": text });
    ("llm.block.stopped", payload)
}

fn replied(text: &str, calls: &[(&str, &str)]) -> (&'static str, Value) {
    let calls: Vec<_> = calls
        .iter()
        .map(|(id, arguments)| {
            let function = json!({ "name": "find", "arguments": arguments });
            json!({ "id": id, "type": "function", "function": function })
        })
        .collect();
    let message = json!({ "role": "assistant", "content": text, "tool_calls": calls });
    (
        "llm.call.completed",
        json!({ "call_id": "c", "attempt": 1, "message": message,
        "truncated": false, "usage": { "input_tokens": 3, "output_tokens": 4 } }),
    )
}

fn recorded(id: &str, text: &str) -> (&'static str, Value) {
    let message = json!({ "id": id, "role": "assistant", "content": text });
    ("message.new", json!({ "message": message }))
}

fn completed(error: Option<&str>) -> (&'static str, Value) {
    ("turn.completed", json!({ "data": null, "error": error }))
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

#[test]
fn a_reply_that_was_not_streamed_is_one_piece() {
    let log = [requested(), replied("Hi", &[("k", "{\"a\":1}")]), completed(None)];
    let told = told(&log);
    let expected = [
        "c#0 start",
        "c#0 \"Hi\"",
        "c#0 stop",
        "c#1 start",
        "c#1 \"{\\\"a\\\":1}\"",
        "c#1 stop",
        "done",
    ];
    assert_eq!(short(&told), expected);
    assert_eq!(told[5]["args"], json!({ "a": 1 }));
    let end = told.last().unwrap();
    assert_eq!(end["usage"], json!({ "promptTokens": 3, "completionTokens": 4 }));
    assert_eq!((&end["messageId"], &end["finishReason"]), (&json!("c"), &json!("stop")));
    assert_eq!(self::told(&log), told, "the same log is told in the same words");
}

#[test]
fn arguments_that_are_no_object_are_none() {
    for arguments in ["", "[1]", "{\"a\":"] {
        let told = told(&[requested(), replied("", &[("k", arguments)]), completed(None)]);
        let stop = told.iter().find(|it| it["stage"] == "stop").unwrap();
        assert!(stop.get("args").is_none(), "{stop}");
        assert_eq!(content(&told)[0]["args"], json!({}));
    }
}

#[test]
fn a_reply_that_is_not_what_was_streamed_is_told_anew() {
    let told = told(&[
        requested(),
        started(1, 0, "text"),
        stopped(1, 0, "Hallo"),
        replied("Hello", &[]),
        completed(None),
    ]);
    let expected = [
        "c#0 start",
        "c#0 \"Hallo\"",
        "c#0 stop",
        "c#1 start",
        "c#1 \"Hello\"",
        "c#1 stop",
        "done",
    ];
    assert_eq!(short(&told), expected);
    assert_eq!(content(&told), json!([text("Hello")]));
}

#[test]
fn what_the_worker_makes_of_a_reply_counts() {
    let told = told(&[
        requested(),
        replied("Hello", &[]),
        recorded("c", "Good day"),
        recorded("m", "And one of my own"),
        completed(None),
    ]);
    assert_eq!(content(&told), json!([text("Good day"), text("And one of my own")]));
    assert_eq!(told.last().unwrap()["messageId"], json!("m"));
}

#[test]
fn a_reply_that_the_worker_does_not_record_is_left_out() {
    let asked =
        json!({ "decision_id": "d", "trigger": { "type": "llm.finished" }, "call_id": "c" });
    let told = told(&[
        requested(),
        replied("Hello", &[]),
        ("decision.queued", asked),
        ("decision.completed", json!({ "decision_id": "d" })),
        completed(None),
    ]);
    assert_eq!(content(&told), json!([]));
    assert_eq!(told.last().unwrap()["messageId"], json!("r"));
}

#[test]
fn blocks_are_counted_on_over_attempts() {
    let error =
        json!({ "call_id": "c", "attempt": 1, "error": "e", "retryable": true, "retry_at": "x" });
    let mut second = replied("Hello", &[]);
    second.1["attempt"] = json!(2);
    let told = told(&[
        requested(),
        started(1, 0, "reasoning"),
        stopped(1, 0, "Hm"),
        started(1, 1, "text"),
        ("llm.call.errored", error),
        started(2, 0, "text"),
        second,
        completed(None),
    ]);
    let expected = [
        "c#0 start",
        "c#0 \"Hm\"",
        "c#0 stop",
        "c#1 start",
        "c#1 stop",
        "c#2 start",
        "c#2 \"Hello\"",
        "c#2 stop",
        "done",
    ];
    assert_eq!(short(&told), expected);
    assert_eq!(content(&told), json!([text("Hello")]));
}

#[test]
fn a_call_that_ended_is_told_under_its_message_once() {
    let result = json!({ "call_id": "k", "attempt": 1, "outcome": "result", "result": "a secret" });
    let message = json!({ "id": "m", "role": "tool", "tool_call_id": "k", "content": "a secret" });
    let told = told(&[
        requested(),
        replied("", &[("k", "{}")]),
        ("tool.call.completed", result),
        ("message.new", json!({ "message": message })),
        completed(None),
    ]);
    assert_eq!(told.iter().filter(|it| it["event"] == "tool_result").count(), 2);
    let stop = told.iter().rfind(|it| it["event"] == "tool_result").unwrap();
    assert_eq!((&stop["messageId"], &stop["status"]), (&json!("c"), &json!("success")));
    assert!(!json!(told).to_string().contains("secret"));
}

#[test]
fn how_a_turn_fails_is_told_by_a_code_and_not_by_its_error() {
    let queued = |trigger: &str| json!({ "decision_id": "d", "trigger": { "type": trigger }, "call_id": "k" });
    let failed = json!({ "decision_id": "d", "error": "inner", "retryable": true });
    let tool = json!({ "call_id": "k", "attempt": 1, "error": "inner", "retryable": false });
    let of_agent = [
        ("decision.queued", queued("client.messages")),
        ("decision.errored", failed.clone()),
        completed(Some("inner")),
    ];
    let of_tool = [
        ("tool.call.errored", tool),
        ("decision.queued", queued("tool.finished")),
        ("decision.errored", failed),
        completed(Some("inner")),
    ];
    for (log, code) in [(&of_agent[..], "agent_error"), (&of_tool[..], "tool_error")] {
        let told = told(log);
        let end = told.last().unwrap();
        assert_eq!((&end["event"], &end["code"]), (&json!("error"), &json!(code)));
        assert_eq!(end["retryable"], json!(true));
        assert!(!end.to_string().contains("inner"), "{end}");
    }
}

#[test]
fn a_cancelled_turn_names_the_message_that_was_under_way() {
    let voided = json!({ "call_id": "c", "attempt": 1, "reason": "cancelled" });
    let told = told(&[
        requested(),
        started(1, 0, "text"),
        stopped(1, 0, "He"),
        ("call.voided", voided.clone()),
        completed(Some("cancelled")),
    ]);
    let end = told.last().unwrap();
    assert_eq!((&end["event"], &end["messageId"]), (&json!("aborted"), &json!("c")));
    let between = self::told(&[requested(), ("call.voided", voided), completed(Some("cancelled"))]);
    assert!(between.last().unwrap().get("messageId").is_none());
}

#[test]
fn a_reply_that_was_cut_off_is_told_by_the_reason() {
    let mut cut = replied("Hel", &[]);
    cut.1["truncated"] = json!(true);
    let told = told(&[requested(), cut, recorded("c", "Hel"), completed(None)]);
    assert_eq!(told.last().unwrap()["finishReason"], json!("length"));
}

#[test]
fn a_turn_that_waits_ends_a_segment() {
    let question = json!({
        "action_id": "i", "kind": "interrupt", "reason": "It costs",
        "payload": { "kind": "approval", "dollars": 3 },
    });
    let tool = json!({
        "action_id": "k", "kind": "tool_call", "name": "find", "arguments": "{\"a\":1}", "attempt": 1,
    });
    let told = told(&[
        requested(),
        replied("One", &[]),
        recorded("c", "One"),
        ("turn.waiting", json!({ "actions": [question, tool] })),
        recorded("m", "Two"),
        completed(None),
    ]);
    let waits: Vec<_> = told.iter().filter(|it| it["event"] == "continuation").collect();
    assert_eq!((&waits[0]["kind"], &waits[1]["kind"]), (&json!("approval"), &json!("tool")));
    assert_eq!(waits[0]["payload"]["payload"]["dollars"], json!(3));
    assert_eq!(waits[1]["payload"]["payload"]["args"], json!({ "a": 1 }));
    let ends: Vec<_> = told.iter().filter(|it| it["event"] == "done").collect();
    assert_eq!(ends[0]["finishReason"], json!("action_required"));
    assert_eq!(
        (&ends[0]["content"], &ends[1]["content"]),
        (&json!([text("One")]), &json!([text("Two")]))
    );
    assert!(ends[1].get("usage").is_none(), "what was used is told with its segment");
}

/// A model may go on speaking behind the end of its turn: nobody is told of that.
#[test]
fn a_block_that_is_open_at_the_end_stops_and_is_left_out() {
    let told = told(&[
        requested(),
        started(1, 0, "text"),
        stopped(1, 0, "One"),
        started(1, 1, "text"),
        completed(None),
    ]);
    let expected = ["c#0 start", "c#0 \"One\"", "c#0 stop", "c#1 start", "c#1 stop", "done"];
    assert_eq!(short(&told), expected);
    assert_eq!(content(&told), json!([text("One")]));
}
