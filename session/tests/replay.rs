//! A log that is folded: what it comes to, what cannot be, and what differs.

use quixos_session::replay::{Happened, Replay, ReplayFault, Stage};
use serde_json::{Value, json};

fn event(kind: &str, payload: Value) -> Happened {
    Happened { kind: kind.to_owned(), turn: Some("t1".to_owned()), payload }
}

/// A turn in which a model is being asked.
fn log() -> Vec<Happened> {
    let message = json!({ "id": "m1", "role": "user", "content": "Hello" });
    let call = json!({ "call_id": "c1", "attempt": 1, "handler": "server", "anchor": "m1" });
    vec![
        event("turn.started", json!({ "input": "client.messages" })),
        event("message.new", json!({ "message": message })),
        event("llm.call.requested", call),
        event("llm.call.dispatched", json!({ "call_id": "c1", "attempt": 1 })),
        event(
            "llm.block.started",
            json!({ "call_id": "c1", "attempt": 1, "index": 0, "kind": "text" }),
        ),
    ]
}

#[test]
fn a_log_says_what_is_under_way() {
    let replay = Replay::of(&log()).unwrap();
    assert_eq!((replay.turn.as_deref(), replay.head.as_deref()), (Some("t1"), Some("m1")));
    let call = &replay.calls["c1"];
    assert_eq!((call.kind.as_str(), call.stage), ("llm_call", Stage::Runs));
    assert_eq!(call.blocks[&0], "text");
}

#[test]
fn a_head_moves_with_what_is_written_and_by_itself() {
    let mut replay = Replay::of(&log()).unwrap();
    let message = json!({ "message": { "id": "m2" }, "parent_id": "m1" });
    replay.add(&event("message.new", message)).unwrap();
    assert_eq!(replay.head.as_deref(), Some("m2"));
    replay.add(&event("head.moved", json!({ "head_id": "m1" }))).unwrap();
    assert_eq!(replay.head.as_deref(), Some("m1"));
}

#[test]
fn an_interrupt_pauses_the_head_at_its_message_and_below_and_nowhere_else() {
    let mut replay = Replay::of(&log()).unwrap();
    let interrupt = |id: &str, anchor: Value| {
        let payload = json!({ "interrupt_id": id, "origin": "machine", "anchor": anchor });
        event("session.interrupted", payload)
    };
    let message = |id: &str, parent: &str| {
        event("message.new", json!({ "message": { "id": id }, "parent_id": parent }))
    };
    let moved = |head: &str| event("head.moved", json!({ "head_id": head }));
    let all = Value::Null;
    for (next, pausing) in [
        (interrupt("a", all), &["a"][..]),
        (message("m2", "m1"), &["a"]),
        (interrupt("b", json!("m2")), &["a", "b"]),
        (message("m3", "m2"), &["a", "b"]),
        (moved("m1"), &["a"]),
        (message("m4", "m1"), &["a"]),
        (moved("m3"), &["a", "b"]),
    ] {
        replay.add(&next).unwrap();
        let found = replay.interrupts.iter().filter(|(_, it)| it.pauses).map(|(id, _)| id);
        assert_eq!(found.collect::<Vec<_>>(), pausing, "{next:?}");
    }
    let mut stored = replay.clone();
    stored.interrupts.get_mut("b").unwrap().pauses = false;
    assert_eq!(replay.difference(&stored).unwrap().what, "interrupt `b`");
}

#[test]
fn what_cannot_follow_is_told_by_its_name() {
    let not_under_way =
        |event: &str, id: &str| ReplayFault::NotUnderWay { event: event.into(), id: id.into() };
    let completed = json!({ "call_id": "c2", "attempt": 1 });
    let open = json!({ "call_id": "c1", "attempt": 1 });
    let again = json!({ "message": { "id": "m1" } });
    let astray = json!({ "message": { "id": "m2" }, "parent_id": "m9" });
    for (next, fault) in [
        (event("llm.call.completed", completed), not_under_way("llm.call.completed", "c2")),
        (
            event("llm.call.completed", open),
            ReplayFault::Block { event: "llm.call.completed".into(), call: "c1".into(), index: 0 },
        ),
        (
            event("turn.started", json!({})),
            ReplayFault::TurnInTurn { begun: "t1".into(), active: "t1".into() },
        ),
        (event("message.new", again), ReplayFault::Tree("m1".into())),
        (event("message.new", astray), ReplayFault::Tree("m2".into())),
        (
            event("head.moved", json!({})),
            ReplayFault::Missing { event: "head.moved".into(), field: "head_id" },
        ),
    ] {
        let mut replay = Replay::of(&log()).unwrap();
        assert_eq!(replay.add(&next), Err(fault), "{next:?}");
    }
}

#[test]
fn a_turn_that_never_began_is_over_once() {
    let mut replay = Replay::of(&log()).unwrap();
    let cancelled = |turn: &str| {
        let payload = json!({ "error": "cancelled" });
        Happened { turn: Some(turn.to_owned()), ..event("turn.completed", payload) }
    };
    let again = |turn: &str| {
        Err(ReplayFault::NotUnderWay { event: "turn.completed".into(), id: turn.into() })
    };
    assert_eq!(replay.add(&cancelled("t2")), Ok(()));
    assert_eq!(replay.add(&cancelled("t2")), again("t2"));
    assert_eq!(replay.turn.as_deref(), Some("t1"));
    assert_eq!(replay.add(&cancelled("t1")), Ok(()));
    assert_eq!(replay.add(&cancelled("t1")), again("t1"));
}

#[test]
fn the_first_thing_that_differs_is_named() {
    let folded = Replay::of(&log()).unwrap();
    assert_eq!(folded.difference(&folded), None);

    let mut other = folded.clone();
    other.calls.remove("c1");
    let differs = folded.difference(&other).unwrap();
    assert_eq!((differs.what.as_str(), differs.stored.as_str()), ("call `c1`", "nothing"));

    other.head = None;
    let differs = folded.difference(&other).unwrap();
    assert_eq!(differs.to_string(), "head: by the log \"m1\", in the store none");

    other.head.clone_from(&folded.head);
    other.messages.insert("m0".to_owned(), None);
    let differs = folded.difference(&other).unwrap();
    assert_eq!((differs.what.as_str(), differs.log.as_str()), ("message `m0`", "nothing"));
}
