//! What comes in from outside: which objects its caller may name, what is open to them, and that it
//! is of its type.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use quixos_runtime::{CallError, Caller, Door, ObjectRef, Tag, Ulid, blocking};
use quixos_schema::Verb;
use serde_json::json;
use support::{SHELVING, Shelf, dump, shelving, step};

#[test]
fn the_door_decides_what_may_be_named() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let (mine, hers) = (shelf.create("mine"), shelf.create("hers"));
    let only = Door::Objects(Arc::new(BTreeSet::from([shelf.shelf, mine])));
    let rule = {
        let may = [shelf.shelf, mine];
        Door::Rule(Arc::new(move |snapshot, object| {
            // A rule can look at the store.
            Ok(may.contains(&object) && snapshot.exists(object)?)
        }))
    };
    let other = Shelf::new(&runtime).shelf;
    let refused = |error: CallError| {
        let CallError::Capability(denied) = error else { panic!("{error}") };
        assert!(denied.why.contains("may not name"), "{denied}");
        denied.requirement
    };
    for door in [only, rule] {
        let session = runtime.session(Caller::client("ben", door));
        let shelf = Shelf { session: session.clone(), shelf: shelf.shelf };
        shelf.play(&[step("mark", "", Some(mine))]).unwrap();
        let before = dump(&runtime);
        let error = shelf.play(&[step("mark", "", Some(hers))]).unwrap_err();
        assert_eq!(error.code(), "capability", "{error}");
        let error = blocking(session.invoke_json(hers, "data", &json!(null))).unwrap_err();
        assert_eq!(refused(error), "Noting.data");
        let event = json!({"text": "seen", "note": format!("atom:test:note/{}", hers.id)});
        let error = blocking(session.invoke_json(shelf.shelf, "note", &event)).unwrap_err();
        assert_eq!(refused(error), "note");
        let log = runtime.stream(other, "log").unwrap();
        assert_eq!(
            refused(blocking(log.advance(session.caller(), "ben", 0)).unwrap_err()),
            "cursor"
        );
        let guessed = ObjectRef { id: hers.id.increment().unwrap(), ..hers };
        let error = blocking(session.invoke_json(guessed, "data", &json!(null))).unwrap_err();
        // Whether it is there is not told.
        assert_eq!(error.code(), "capability", "{error}");
        assert_eq!(dump(&runtime), before);
    }
    let operator = shelf.session;
    let nobody = ObjectRef { id: Ulid::from_parts(1, 1), ..hers };
    let error = blocking(operator.invoke_json(nobody, "data", &json!(null))).unwrap_err();
    assert_eq!(error.code(), "not-found");
    let steps = vec![step("mark", "", Some(nobody))];
    let error = Shelf { session: operator, ..shelf }.play(&steps).unwrap_err();
    let CallError::Invalid { path, .. } = &error else { panic!("{error}") };
    assert_eq!(path, "$[0].note");
}

#[test]
fn a_caller_is_printed_with_its_door() {
    let printed = |door| format!("{:?}", Caller::client("ben", door));
    let named = BTreeSet::from([ObjectRef { atom: Tag::of("atom:test:note"), id: Ulid::nil() }]);
    let objects = format!("Objects({named:?})");
    for (door, name) in [
        (Door::Open, "Open"),
        (Door::Objects(Arc::new(named)), objects.as_str()),
        (Door::Rule(Arc::new(|_, _| Ok(true))), "Rule"),
    ] {
        let expected = format!(r#"Caller {{ actor: "ben", door: {name}, internal: false }}"#);
        assert_eq!(printed(door), expected);
    }
}

#[test]
fn internal_members_take_an_override_that_is_recorded() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let call = |session: &quixos_runtime::Session| {
        let text = "hidden".to_owned();
        blocking(session.member_call::<_, ()>(shelf.shelf, SHELVING, shelving::HIDDEN, &text))
    };
    let CallError::Capability(denied) = call(&shelf.session).unwrap_err() else { panic!() };
    assert_eq!((denied.operation.as_str(), denied.verb), ("anna", Verb::Call));
    assert_eq!(denied.requirement, "Shelving.hidden");
    call(&shelf.session.with_internal()).unwrap();
    shelf.play(&[step("say", "x", None)]).unwrap();
    let history = blocking(runtime.read(|it| it.history(0, 99))).unwrap();
    assert_eq!(history.iter().map(|it| it.internal).collect::<Vec<_>>(), [false, true, false]);
    let error = blocking(shelf.session.invoke_json(shelf.shelf, "hidden", &json!("x")));
    assert_eq!(error.unwrap_err().code(), "capability");
}

#[test]
fn what_a_root_is_created_from_is_of_its_type() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let before = dump(&runtime);
    let error = blocking(shelf.session.create_root(shelf.shelf.atom, &[9_u8, 9])).unwrap_err();
    assert_eq!(error.code(), "invalid", "{error}");
    assert_eq!(dump(&runtime), before);
}

/// What a root is created from is asked at the door as any other input is: which objects it names,
/// and whether they are there.
#[test]
fn what_a_root_is_created_from_names_what_its_caller_may_name() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let (mine, hers) = (shelf.create("mine"), shelf.create("hers"));
    let may = BTreeSet::from([shelf.shelf, mine]);
    let ben = runtime.session(Caller::client("ben", Door::Objects(Arc::new(may))));
    let slip = Tag::of("atom:test:slip");
    let create = |session: &quixos_runtime::Session, note: ObjectRef| {
        blocking(session.create_root(slip, &note))
    };
    assert_eq!(create(&ben, mine).unwrap().atom, slip);
    let before = dump(&runtime);
    let CallError::Capability(denied) = create(&ben, hers).unwrap_err() else { panic!() };
    assert_eq!(denied.requirement, "data.note");
    assert!(denied.why.contains("may not name"), "{denied}");
    let nobody = ObjectRef { id: Ulid::from_parts(1, 1), ..hers };
    let error = create(&shelf.session, nobody).unwrap_err();
    let CallError::Invalid { path, .. } = &error else { panic!("{error}") };
    assert_eq!(path, "data.note");
    assert_eq!(dump(&runtime), before);
}

#[test]
fn references_of_the_wrong_atom_are_invalid() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let error = shelf.play(&[step("mark", "", Some(shelf.shelf))]).unwrap_err();
    let CallError::Invalid { path, message } = &error else { panic!("{error}") };
    assert_eq!(path, "$[0].note");
    assert!(message.contains("Note"), "{message}");
}
