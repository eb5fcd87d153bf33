//! Golden cases: `tests/turns/NAME.ndjson` are the events of a turn, `NAME.chunks.ndjson` beside it is
//! the UI message stream of them. `UPDATE_EXPECT=1` rewrites those; the diff is the review.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use expect_test::expect_file;
use quixos_protocol::agent::AgentEvent;
use serde_json::{Value, json};

use super::{Approval, Encoder};
use crate::front::cases::{self, Case};

fn encoded(events: Vec<AgentEvent>) -> Vec<Value> {
    let mut encoder = Encoder::new(Vec::new());
    let chunks = events.into_iter().flat_map(|event| encoder.encode(event));
    chunks.map(|chunk| serde_json::to_value(chunk).unwrap()).collect()
}

#[test]
fn turns_are_told_as_they_were() {
    for Case { name, events } in cases::all() {
        let file = cases::folder().join(format!("{name}.chunks.ndjson"));
        expect_file![file].assert_eq(&cases::lines(&encoded(events)));
    }
}

/// What the AI SDK holds against each stream, or loses without a word.
#[test]
fn every_stream_keeps_the_rules() {
    for Case { name, events } in cases::all() {
        let (mut open, mut calls) = (BTreeSet::new(), BTreeSet::new());
        let mut has_step = false;
        for (at, chunk) in encoded(events).into_iter().enumerate() {
            let kind = chunk["type"].as_str().unwrap();
            assert_eq!(at == 0, kind == "start", "{name}: {chunk}");
            let id = || chunk["id"].as_str().unwrap().to_owned();
            let call = || chunk["toolCallId"].as_str().unwrap().to_owned();
            match kind {
                "start-step" => assert!(!std::mem::replace(&mut has_step, true), "{name}"),
                // What is open when a step ends cannot go on.
                "finish-step" => {
                    assert!(std::mem::take(&mut has_step) && open.is_empty(), "{name}");
                }
                "text-start" | "reasoning-start" => {
                    assert!(has_step && open.insert(id()), "{name}: {chunk}");
                }
                "text-delta" | "reasoning-delta" => assert!(open.contains(&id()), "{name}"),
                "text-end" | "reasoning-end" => assert!(open.remove(&id()), "{name}"),
                "tool-input-start" => assert!(has_step && calls.insert(call()), "{name}"),
                "tool-input-available" | "tool-input-error" => {
                    calls.insert(call());
                }
                "tool-output-available" | "tool-output-error" | "tool-approval-request" => {
                    assert!(calls.contains(&call()), "{name}: {chunk}");
                }
                "finish" | "abort" => assert!(open.is_empty(), "{name}"),
                _ => {}
            }
        }
        assert!(!has_step || name == "aborted", "{name}");
    }
}

#[test]
fn an_approval_is_told_as_given_or_denied() {
    let approval = |id: &str, approved| Approval { id: id.to_owned(), approved };
    let mut encoder = Encoder::new(vec![approval("a", true), approval("b", false)]);
    let metadata = cases::named("text").events.remove(0);
    let chunks: Vec<Value> =
        encoder.encode(metadata).iter().map(|it| serde_json::to_value(it).unwrap()).collect();
    let told = json!([
        {
            "type": "tool-output-available",
            "toolCallId": "a",
            "output": {"approved": true},
            "providerExecuted": true,
        },
        {"type": "tool-output-denied", "toolCallId": "b"},
    ]);
    assert_eq!(chunks[1..], *told.as_array().unwrap());
}
