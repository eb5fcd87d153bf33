//! All or nothing: a call that fails, at any depth and for whatever reason, leaves the store as it
//! was, byte for byte.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::sync::Arc;

use proptest::prelude::*;
use quixos_runtime::store::MemoryStore;
use quixos_runtime::{CallError, Limits, ObjectRef, blocking};
use serde_json::json;
use support::{
    NOTING, SHELVING, Shelf, Step, builder, dump, in_memory, nested, note_data, noting, shelving,
    step,
};

/// Steps that succeed and touch all that there is.
fn busy(note: ObjectRef) -> Vec<Step> {
    vec![
        step("say", "other words", None),
        step("create", "new", Some(note)),
        step("top", "", Some(note)),
        step("mark", "", Some(note)),
        step("name", "a", Some(note)),
        step("name", "b", Some(note)),
        step("key", "moved", Some(note)),
        step("log", "an event", Some(note)),
        step("untop", "", Some(note)),
        step("unname", "a", None),
    ]
}

#[test]
fn a_failed_call_leaves_no_byte() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("first");
    let before = dump(&runtime);
    for end in ["fail", "panic", "no such verb"] {
        let mut steps = busy(note);
        steps.push(step(end, "reason", None));
        shelf.play(&steps).unwrap_err();
        assert_eq!(dump(&runtime), before, "after {end}");
    }
    shelf.play(&busy(note)).unwrap();
    assert_ne!(dump(&runtime), before);
}

#[test]
fn what_fails_half_way_leaves_no_half_though_its_handler_goes_on() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    // The note and its edge are written before the key of its inverse is found to be too long.
    let steps = [step("create or not", &"k".repeat(5_000), None), step("say", "went on", None)];
    assert_eq!(shelf.play(&steps).unwrap(), []);
    let report = blocking(runtime.verify()).unwrap();
    assert!(report.is_clean(), "{report:?}");
    let after = dump(&runtime);
    let other = in_memory();
    Shelf::new(&other).play(&steps[1..]).unwrap();
    assert_eq!(after.len(), dump(&other).len());
}

#[test]
fn an_error_below_that_is_passed_on_leaves_no_byte() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("first");
    let before = dump(&runtime);
    let mut deep = busy(note);
    deep.push(step("fail", "deep", None));
    let mut steps = busy(note);
    steps.push(nested("nest", &[nested("nest", &deep)]));
    assert_eq!(shelf.play(&steps).unwrap_err(), CallError::refused("deep"));
    assert_eq!(dump(&runtime), before);
}

#[test]
fn a_panic_is_answered_and_the_lane_goes_on() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    let error = shelf.play(&[step("panic", "at the disco", None)]).unwrap_err();
    assert_eq!(error.code(), "unavailable");
    assert!(error.to_string().contains("at the disco"), "{error}");
    shelf.play(&[step("say", "still here", None)]).unwrap();
    assert_eq!(shelf.data(), "still here");
}

#[test]
fn limits_are_answered_and_leave_no_byte() {
    let limits = Limits {
        depth: 4,
        writes: 40,
        bytes: 4000,
        value: 100,
        input: 8000,
        key: 10,
        ..Limits::default()
    };
    let runtime = builder().limits(limits).open(Arc::new(MemoryStore::new())).unwrap();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("n");
    let before = dump(&runtime);
    let nest = |depth: usize| {
        (0..depth).fold(step("say", "deep", None), |inner, _| nested("nest", &[inner]))
    };
    let over = [
        ("depth", vec![nest(4)]),
        ("writes", (0..41).map(|at| step("name", &at.to_string(), Some(note))).collect()),
        ("bytes written", (0..39).map(|_| step("say", &"x".repeat(99), None)).collect()),
        ("bytes in a value", vec![step("say", &"x".repeat(101), None)]),
        ("bytes in an input", vec![step("say", &"x".repeat(8001), None)]),
        ("bytes in a key", vec![step("name", "eleven char", Some(note))]),
        ("bytes in an inverse key", vec![step("key", "eleven char", Some(note))]),
    ];
    for (what, steps) in over {
        let error = shelf.play(&steps).unwrap_err();
        assert_eq!(error.code(), "limit", "{what}: {error}");
        assert!(error.to_string().contains(what), "{what}: {error}");
        assert_eq!(dump(&runtime), before, "after {what}");
    }
    shelf.play(&[nest(3)]).unwrap();
    assert_eq!(shelf.data(), "deep");
    // One after the other they do not add up.
    shelf.play(&vec![nest(1); 20]).unwrap();
}

#[test]
fn every_input_and_output_has_its_limit() {
    let limits = Limits { input: 150, value: 100, ..Limits::default() };
    let runtime = builder().limits(limits).open(Arc::new(MemoryStore::new())).unwrap();
    let shelf = Shelf::new(&runtime);
    // The note's text grows with its key, so what is created, and what is called below, is larger
    // than what was asked for from outside.
    let note = shelf.create(&"k".repeat(30));
    let before = dump(&runtime);
    let data = "x".repeat(150);
    for (what, asked) in [
        ("created", shelf.play(&[step("create", &"k".repeat(70), None)]).map(drop)),
        ("called", shelf.play(&[step("key", &"k".repeat(110), Some(note))]).map(drop)),
        ("root", blocking(shelf.session.create_root(shelf.shelf.atom, &data)).map(drop)),
    ] {
        let error = asked.unwrap_err();
        assert_eq!(error.code(), "limit", "{what}: {error}");
        assert!(error.to_string().contains("bytes in an input"), "{what}: {error}");
        assert_eq!(dump(&runtime), before, "after {what}");
    }
    // As long as a value may be, and the answer is a little longer.
    shelf.play(&[step("say", &"x".repeat(99), None)]).unwrap();
    let peek = shelf.session.member_call::<_, String>(shelf.shelf, SHELVING, shelving::PEEK, &());
    let error = blocking(peek).unwrap_err();
    assert!(error.to_string().contains("bytes in an output"), "{error}");
}

#[test]
fn a_preview_shows_everything_and_writes_nothing() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("first");
    let before = dump(&runtime);
    let text = blocking(shelf.session.invoke_json(note, "data", &json!(null))).unwrap();
    let steps = json!([
        {"verb": "say", "key": "other", "steps": ""},
        {"verb": "mark", "key": "", "note": format!("atom:test:note/{}", note.id), "steps": ""},
        {"verb": "create", "key": "new", "steps": ""},
        {"verb": "log", "key": "event", "steps": ""},
    ]);
    let preview = blocking(shelf.session.preview_json(shelf.shelf, "play", &steps)).unwrap();
    assert_eq!(dump(&runtime), before);
    assert_eq!(text.value["key"], "first");
    let changes = serde_json::to_value(&preview.changes).unwrap();
    let kinds: Vec<_> = changes.as_array().unwrap().iter().map(|it| it["change"].clone()).collect();
    // Created, its state and the shelf's, the new note's shelf and the mark, the event.
    assert_eq!(kinds, ["created", "state", "state", "connected", "connected", "appended"]);
    assert!(changes.to_string().contains(r#""before":"a shelf","after":"other""#), "{changes}");
    let verbs: Vec<_> =
        preview.trace.iter().map(|it| format!("{} {}", it.verb, it.through)).collect();
    assert_eq!(verbs, ["write data", "connect marked", "create create_note", "append log"]);

    // What was shown is what happens.
    let answer = blocking(shelf.session.invoke_json(shelf.shelf, "play", &steps)).unwrap();
    assert_eq!(answer.value, preview.answer);
}

#[test]
fn a_preview_of_what_fails_says_why_and_writes_nothing() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    let before = dump(&runtime);
    let steps = json!([{"verb": "say", "key": "x", "steps": ""}, {"verb": "fail", "key": "no", "steps": ""}]);
    let error = blocking(shelf.session.preview_json(shelf.shelf, "play", &steps)).unwrap_err();
    assert_eq!(error, CallError::refused("no"));
    assert_eq!(dump(&runtime), before);
}

#[test]
fn a_query_sees_a_whole_commit_or_none_of_it() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("n");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..300 {
                // Both, or neither.
                shelf.play(&[step("mark", "", Some(note)), step("name", "k", Some(note))]).unwrap();
                shelf.play(&[step("unmark", "", Some(note)), step("unname", "k", None)]).unwrap();
            }
        });
        while !writer.is_finished() {
            let seen: String =
                blocking(shelf.session.member_call(shelf.shelf, SHELVING, shelving::PEEK, &()))
                    .unwrap();
            assert!(["a shelf 0 0", "a shelf 1 1"].contains(&seen.as_str()), "{seen}");
        }
    });
}

/// Steps on a few notes, of which nested ones may fail and be swallowed.
fn any_steps() -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
    prop::collection::vec((0..9_usize, 0..3_usize, 0..3_usize), 1..8)
}

fn steps(drawn: &[(usize, usize, usize)], notes: &[ObjectRef]) -> Vec<Step> {
    let verb = ["say", "top", "untop", "mark", "unmark", "name", "unname", "key", "log"];
    let key = ["a", "b", "c"];
    drawn.iter().map(|(v, k, n)| step(verb[*v], key[*k], Some(notes[*n]))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What a swallowed failure wrote is as if it had never been: the same bytes as without it.
    #[test]
    fn a_swallowed_failure_is_as_if_it_had_never_been(
        before in any_steps(), failing in any_steps(), after in any_steps()
    ) {
        let run = |with_failure: bool| {
            let runtime = in_memory();
            let shelf = Shelf::new(&runtime);
            let notes: Vec<_> = ["x", "y", "z"].iter().map(|key| shelf.create(key)).collect();
            let mut failing = steps(&failing, &notes);
            failing.push(step("create", "lost", None));
            failing.push(step("fail", "", None));
            let mut all: Vec<Step> = notes.iter().map(|it| step("hand", "", Some(*it))).collect();
            all.extend(steps(&before, &notes));
            if with_failure {
                all.push(nested("try", &failing));
            }
            all.extend(steps(&after, &notes));
            all.push(step("create", "kept", None));
            let answer = shelf.play(&all).map_err(|error| error.code());
            // The history tells of another input; all else is the same.
            let mut stored = dump(&runtime);
            stored.retain(|(key, _)| key[0] != 0x30 && key[0] != 0x01);
            (answer, stored)
        };
        prop_assert_eq!(run(true), run(false));
    }
}

#[test]
fn the_typed_path_reads_what_was_written() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("k");
    let data = support::NoteData { friend: Some(note), ..note_data("l") };
    blocking(shelf.session.member_call::<_, ()>(note, NOTING, noting::WRITE, &data)).unwrap();
    let read: support::NoteData =
        blocking(shelf.session.member_get(note, NOTING, noting::DATA)).unwrap();
    assert_eq!(read, data);
    let on: ObjectRef = blocking(shelf.session.member_one(note, NOTING, noting::SHELF)).unwrap();
    assert_eq!(on, shelf.shelf);
    let found =
        blocking(shelf.session.member_at(shelf.shelf, SHELVING, shelving::NOTES, "l")).unwrap();
    assert_eq!(found, [note]);
}
