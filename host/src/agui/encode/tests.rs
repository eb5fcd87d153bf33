//! Golden cases: `tests/turns/NAME.ndjson` are the events of a turn, `NAME.agui.ndjson` beside it is what
//! AG-UI makes of them. `UPDATE_EXPECT=1` rewrites those; the diff is the review.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use expect_test::expect_file;
use quixos_protocol::agent::AgentEvent;
use serde_json::Value;

use super::Encoder;
use crate::front::cases::{self, Case};

fn encoded(events: Vec<AgentEvent>) -> Vec<Value> {
    let mut encoder = Encoder::new("th1", "run1");
    let events = events.into_iter().flat_map(|event| encoder.encode(event));
    events.map(|event| serde_json::to_value(event).unwrap()).collect()
}

#[test]
fn turns_are_told_as_they_were() {
    for Case { name, events } in cases::all() {
        let file = cases::folder().join(format!("{name}.agui.ndjson"));
        expect_file![file].assert_eq(&cases::lines(&encoded(events)));
    }
}

/// What a client of AG-UI holds against each run.
#[test]
fn every_run_keeps_the_rules() {
    for Case { name, events } in cases::all() {
        let mut open = BTreeSet::new();
        let mut used = BTreeSet::new();
        let mut is_over = false;
        for (at, event) in encoded(events).into_iter().enumerate() {
            let kind = event["type"].as_str().unwrap();
            assert!(!is_over, "{name}: {event} comes behind the end");
            assert_eq!(at == 0, kind == "RUN_STARTED", "{name}: {event}");
            let id = ["toolCallId", "messageId"].iter().find_map(|key| event[*key].as_str());
            let key = |kind: &str| format!("{kind} {}", id.unwrap());
            match kind.rsplit_once('_').unwrap_or(("", "")) {
                (
                    what @ ("TEXT_MESSAGE" | "REASONING" | "REASONING_MESSAGE" | "TOOL_CALL"),
                    "START",
                ) => {
                    assert!(open.insert(key(what)), "{name}: {event} begins twice");
                    assert!(used.insert(key(what)), "{name}: {event} begins again");
                }
                (what, "CONTENT" | "ARGS") => {
                    assert!(open.contains(&key(what)), "{name}: {event} has not begun");
                    assert_ne!(event["delta"], "", "{name}");
                }
                (what, "END") => assert!(open.remove(&key(what)), "{name}: {event}"),
                ("RUN", "FINISHED" | "ERROR") => is_over = true,
                _ => {}
            }
        }
        assert!(is_over && open.is_empty(), "{name}: {open:?}");
    }
}
