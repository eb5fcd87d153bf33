//! What a call was handed is its authority: its receiver, its input, what it created and what it was
//! answered. A reference that is only known is of no use, wherever it turns up.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::sync::{Arc, Mutex, OnceLock};

use quixos_runtime::store::MemoryStore;
use quixos_runtime::{Call, CallError, Caller, Handler, ObjectRef, Runtime, Ulid, blocking};
use support::{
    NOTING, NoteData, Probe, Seen, Shelf, Step, creation, dump, note_data, noting, package_with,
    requires, seen, shelving, step,
};

/// A note that a handler keeps from one call to the next, as it must not.
static REMEMBERED: OnceLock<ObjectRef> = OnceLock::new();
static TEXT: Mutex<String> = Mutex::new(String::new());

/// Uses a note that was not handed to the call, in the way that the probe says.
fn leak(call: &Call<'_>, bytes: &[u8]) -> Result<Vec<u8>, CallError> {
    let probe: Probe = postcard::from_bytes(bytes).unwrap();
    let known = *REMEMBERED.get().expect("the test remembers a note");
    let known = match probe.requirement {
        // Remembered from another call.
        0 => known,
        // Built from text, as JSON would be.
        1 => ObjectRef {
            id: Ulid::from_string(TEXT.lock().unwrap().rsplit_once('/').unwrap().1).unwrap(),
            ..known
        },
        // Guessed.
        _ => ObjectRef { id: known.id.increment().unwrap(), ..known },
    };
    match probe.verb.as_str() {
        "member" => drop(call.member_get::<NoteData>(requires::NOTE, noting::DATA, known)?),
        "connect" => drop(call.edge_connect(requires::MARKED, known)?),
        "append" => drop(call.stream_append(requires::LOG, &seen(Some(known)))?),
        "create" => {
            let input = creation(call.receiver(), Some(known));
            call.create(requires::CREATE_NOTE, &input)?;
        }
        "output" => return Ok(postcard::to_allocvec(&Some(known)).unwrap()),
        "contains" => drop(call.edge_contains(requires::TOP, known)?),
        "disconnect" => drop(call.edge_disconnect(requires::MARKED, known)?),
        other => panic!("no such leak: {other}"),
    }
    Ok(postcard::to_allocvec(&None::<ObjectRef>).unwrap())
}

#[test]
fn a_reference_that_was_not_handed_is_refused_wherever_it_turns_up() {
    let package = package_with("test:shelf_probe", leak);
    let runtime = Runtime::builder().package(package).open(Arc::new(MemoryStore::new())).unwrap();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("n");
    REMEMBERED.set(note).unwrap();
    *TEXT.lock().unwrap() = format!("atom:test:note/{}", note.id);
    let before = dump(&runtime);
    for verb in ["member", "connect", "append", "create", "output"] {
        for requirement in 0..3 {
            let probe = Probe { verb: verb.into(), requirement, member: 0, note: None };
            let error = shelf.probe(&probe).unwrap_err();
            let CallError::Capability(denied) = error else { panic!("{probe:?}: {error}") };
            assert_eq!(denied.reference.unwrap().atom, note.atom, "{probe:?}");
            assert!(denied.why.contains("not handed"), "{denied}");
            assert_eq!(dump(&runtime), before);
        }
    }
    // The same with the note in the input is let through.
    for verb in ["member", "connect", "append", "create", "output"] {
        let probe = Probe { verb: verb.into(), requirement: 0, member: 0, note: Some(note) };
        shelf.probe(&probe).unwrap();
    }
}

#[test]
fn what_was_read_resolved_created_or_answered_is_handed() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("a");
    // The friend in the state that a granted member answers is not in the input.
    let friend = shelf.create("friend");
    let data = NoteData { friend: Some(friend), ..note_data("a") };
    blocking(shelf.session.member_call::<_, ()>(note, NOTING, noting::WRITE, &data)).unwrap();
    // `key` reads the note's data, which holds the friend, and gives it on to a nested call.
    shelf.play(&[step("key", "b", Some(note))]).unwrap();
    let after: NoteData = blocking(shelf.session.member_get(note, NOTING, noting::DATA)).unwrap();
    assert_eq!(after, NoteData { key: "b".into(), ..data });
}

/// Answers the notes that it finds in the way that the first step says.
fn find(call: &Call<'_>, bytes: &[u8]) -> Result<Vec<u8>, CallError> {
    let steps: Vec<Step> = postcard::from_bytes(bytes).unwrap();
    let shelf = call.receiver();
    let of_entries =
        |entries: Vec<(String, ObjectRef)>| entries.into_iter().map(|it| it.1).collect();
    let of_events = |events: Vec<Seen>| events.into_iter().filter_map(|it| it.note).collect();
    let found: Vec<ObjectRef> = match steps[0].verb.as_str() {
        "optional" => call.edge_optional(requires::TOP)?.into_iter().collect(),
        "page" => call.edge_page(requires::MARKED, None, 9)?,
        "at" => call.edge_at(requires::NAMED, "k")?.into_iter().collect(),
        "entries" => of_entries(call.edge_entries(requires::NAMED, None, 9)?),
        "events" => of_events(call.stream_read(requires::LOG, 0, 9)?),
        "member at" => call.member_at(requires::SHELF, shelving::NOTES, shelf, "n")?,
        "member entries" => {
            of_entries(call.member_entries(requires::SHELF, shelving::NOTES, shelf, None, 9)?)
        }
        "member events" => {
            of_events(call.member_read(requires::SHELF, shelving::LOG, shelf, 0, 9)?)
        }
        "answered" => {
            call.member_call(requires::SHELF, shelving::PLAY, shelf, &vec![step("page", "", None)])?
        }
        "disconnected" => call.edge_disconnect_at(requires::NAMED, "k")?.into_iter().collect(),
        other => panic!("no such way: {other}"),
    };
    Ok(postcard::to_allocvec(&found).unwrap())
}

#[test]
fn whatever_is_found_is_handed_in_whichever_way() {
    let store = Arc::new(MemoryStore::new());
    let runtime = support::open(store.clone());
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("n");
    let set_up = [("top", ""), ("mark", ""), ("name", "k"), ("log", "seen")];
    shelf.play(&set_up.map(|(verb, key)| step(verb, key, Some(note)))).unwrap();
    runtime.close();
    let package = package_with("test:shelf_play", find);
    let runtime = Runtime::builder().package(package).open(store).unwrap();
    let shelf = Shelf { session: runtime.session(Caller::operator("anna")), ..shelf };
    for way in [
        "optional",
        "page",
        "at",
        "entries",
        "events",
        "member at",
        "member entries",
        "member events",
        "answered",
        "disconnected",
    ] {
        assert_eq!(shelf.play(&[step(way, "", None)]), Ok(vec![note]), "{way}");
    }
}

/// A note that no call was handed.
static KNOWN: OnceLock<ObjectRef> = OnceLock::new();

fn write_known(call: &Call<'_>, _: &[u8]) -> Result<Vec<u8>, CallError> {
    let friend = KNOWN.get().copied();
    call.state_write(0, &NoteData { friend, ..note_data("k") })?;
    Ok(Vec::new())
}

fn tell_known(call: &Call<'_>, _: &[u8]) -> Result<Vec<u8>, CallError> {
    let event = seen(KNOWN.get().copied());
    call.member_call::<_, u64>(requires::SHELF, shelving::NOTE, call.receiver(), &event)?;
    Ok(postcard::to_allocvec(&Vec::<ObjectRef>::new()).unwrap())
}

#[test]
fn a_reference_that_is_only_known_is_not_stored() {
    let store = Arc::new(MemoryStore::new());
    let runtime = support::open(store.clone());
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("n");
    KNOWN.set(shelf.create("known")).unwrap();
    runtime.close();
    for (operation, handler) in
        [("test:note_write", write_known as Handler), ("test:shelf_play", tell_known)]
    {
        let package = package_with(operation, handler);
        let runtime = Runtime::builder().package(package).open(store.clone()).unwrap();
        let session = runtime.session(Caller::operator("anna"));
        let before = dump(&runtime);
        let data = note_data("n");
        let wrote = if operation == "test:note_write" {
            blocking(session.member_call::<_, ()>(note, NOTING, noting::WRITE, &data))
        } else {
            Shelf { session, ..shelf.clone() }.play(&[]).map(drop)
        };
        let CallError::Capability(denied) = wrote.unwrap_err() else { panic!("{operation}") };
        assert!(denied.why.contains("not handed"), "{denied}");
        assert_eq!(dump(&runtime), before);
        runtime.close();
    }
}

#[test]
fn many_references_are_handed_like_few() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let other = shelf.create("other");
    for count in [15, 16, 17, 40] {
        let notes: Vec<_> = (0..count).map(|at| shelf.create(&format!("{count}.{at}"))).collect();
        let mut steps: Vec<_> = notes.iter().map(|note| step("mark", "", Some(*note))).collect();
        shelf.play(&steps).unwrap();
        // One more that is only known stays out, however many there are.
        let mut known = support::nested("nest", &[step("mark", "", Some(other))]);
        known.note = None;
        steps.push(known);
        assert_eq!(shelf.play(&steps).unwrap_err().code(), "capability", "beside {count}");
    }
}

#[test]
fn a_nested_call_is_handed_its_receiver_and_its_input_only() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("a");
    // The outermost call has the note; the one in the middle knows it from text alone, and so
    // cannot give it to the innermost.
    let mut inner = support::nested("nest", &[step("mark", "", Some(note))]);
    let given = support::nested("nest", std::slice::from_ref(&inner));
    inner.note = None;
    let kept = support::nested("nest", &[inner]);
    let error = shelf.play(&[step("hand", "", Some(note)), kept]).unwrap_err();
    assert_eq!(error.code(), "capability");
    shelf.play(&[given]).unwrap();
}
