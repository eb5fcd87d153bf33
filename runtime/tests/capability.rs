//! A handler reaches what its `requires` names, on references that it was handed, and nothing
//! else. The handlers here go around generated code and try everything.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock};

use quixos_runtime::store::MemoryStore;
use quixos_runtime::{
    Call, CallError, Caller, Door, Handler, ManualClock, ObjectRef, PackageCode, Runtime, Ulid,
    blocking,
};
use quixos_schema::{Target, Verb};
use serde_json::json;
use support::{
    CreateNote, NOTING, NoteData, Probe, SHELVING, Seen, Shelf, Step, builder, dump, note_data,
    noting, package, requires, shelving, step,
};

/// Does what the probe says, whatever it is, and answers the note.
fn probe(call: &Call<'_>, bytes: &[u8]) -> Result<Vec<u8>, CallError> {
    let Probe { verb, requirement, member, note } = postcard::from_bytes(bytes).unwrap();
    let (at, member) = (requirement as usize, member as usize);
    let on = note.unwrap_or(call.receiver());
    match verb.as_str() {
        "read" => drop(call.state_read::<String>(at)?),
        "write" => call.state_write(at, "text")?,
        "one" => drop(call.edge_one(at)?),
        "optional" => drop(call.edge_optional(at)?),
        "contains" => drop(call.edge_contains(at, on)?),
        "page" => drop(call.edge_page(at, None, 9)?),
        "at" => drop(call.edge_at(at, "k")?),
        "entries" => drop(call.edge_entries(at, None, 9)?),
        "connect" => drop(call.edge_connect(at, on)?),
        "connect_at" => drop(call.edge_connect_at(at, "k", on)?),
        "disconnect" => drop(call.edge_disconnect(at, on)?),
        "disconnect_at" => drop(call.edge_disconnect_at(at, "k")?),
        "append" => drop(call.stream_append(at, &seen(note))?),
        "stream" => drop(call.stream_read::<Seen>(at, 0, 9)?),
        "len" => drop(call.stream_len(at)?),
        "create" => drop(call.create(at, &creation(call.receiver(), None))?),
        "get" => drop(call.member_get::<NoteData>(at, member, on)?),
        "member_one" => drop(call.member_one(at, member, on)?),
        "member_optional" => drop(call.member_optional(at, member, on)?),
        "member_contains" => drop(call.member_contains(at, member, on, on)?),
        "member_targets" => drop(call.member_targets(at, member, on, None, 9)?),
        "member_entries" => drop(call.member_entries(at, member, on, None, 9)?),
        "member_at" => drop(call.member_at(at, member, on, "k")?),
        "member_read" => drop(call.member_read::<Seen>(at, member, on, 0, 9)?),
        "call" => call.member_call::<_, ()>(at, member, on, &note_data("k"))?,
        other => panic!("no such probe: {other}"),
    }
    Ok(postcard::to_allocvec(&note).unwrap())
}

fn seen(note: Option<ObjectRef>) -> Seen {
    Seen { text: "seen".into(), note }
}

fn creation(shelf: ObjectRef, friend: Option<ObjectRef>) -> CreateNote {
    CreateNote { data: NoteData { friend, ..note_data("new") }, shelf }
}

fn runtime(probe: Handler) -> (Runtime, Shelf) {
    let runtime = Runtime::builder().package(package(probe)).open(Arc::new(MemoryStore::new()));
    let runtime = runtime.unwrap();
    let shelf = Shelf::new(&runtime);
    (runtime, shelf)
}

fn try_probe(shelf: &Shelf, probe: &Probe) -> Result<Option<ObjectRef>, CallError> {
    blocking(shelf.session.member_call(shelf.shelf, SHELVING, shelving::PROBE, probe))
}

/// What `shelf_probe` requires, as verb and position.
const GRANTED: [(&str, usize); 7] = [
    ("read", requires::DATA),
    ("optional", requires::TOP),
    ("connect", requires::MARKED),
    ("disconnect_at", requires::NAMED),
    ("append", requires::LOG),
    ("create", requires::CREATE_NOTE),
    ("get", requires::NOTE),
];

/// Granted too, but ways to read or write that the edge does not have.
const OTHER_SHAPE: [(&str, usize); 8] = [
    ("one", requires::TOP),
    ("contains", requires::TOP),
    ("page", requires::TOP),
    ("at", requires::TOP),
    ("entries", requires::TOP),
    ("connect_at", requires::MARKED),
    ("disconnect", requires::NAMED),
    ("get", 99),
];

#[test]
fn every_verb_that_is_not_granted_is_refused() {
    let (runtime, shelf) = runtime(probe);
    let note = shelf.create("n");
    let verbs = [
        "read",
        "write",
        "one",
        "optional",
        "contains",
        "page",
        "at",
        "entries",
        "connect",
        "connect_at",
        "disconnect",
        "disconnect_at",
        "append",
        "stream",
        "len",
        "create",
        "get",
        "member_one",
        "member_optional",
        "member_contains",
        "member_targets",
        "member_entries",
        "member_at",
        "member_read",
        "call",
    ];
    let (mut granted, mut refused) = (0, 0);
    for verb in verbs {
        // One position more than there are requirements.
        for requirement in 0..=requires::SHELF {
            for member in 0..=noting::WRITE + 1 {
                let probe = Probe {
                    verb: verb.into(),
                    requirement: u32::try_from(requirement).unwrap(),
                    member: u32::try_from(member).unwrap(),
                    note: Some(note),
                };
                let is_member = verb == "get" || verb == "call" || verb.starts_with("member");
                let may = GRANTED.contains(&(verb, requirement))
                    && (!is_member || member == noting::DATA);
                if OTHER_SHAPE.contains(&(verb, requirement)) {
                    let error = try_probe(&shelf, &probe).unwrap_err();
                    assert_eq!(error.code(), "invalid", "{probe:?}: {error}");
                    continue;
                }
                let before = dump(&runtime);
                match try_probe(&shelf, &probe) {
                    Ok(_) => {
                        assert!(may, "{probe:?} was let through");
                        granted += 1;
                    }
                    Err(CallError::Capability(denied)) => {
                        assert!(!may, "{probe:?}: {denied}");
                        assert_eq!(denied.operation, "test:shelf_probe");
                        assert_eq!(dump(&runtime), before);
                        refused += 1;
                    }
                    Err(other) => panic!("{probe:?}: {other}"),
                }
            }
        }
    }
    // Six that are no member's, at five member positions each, and the one member.
    assert_eq!(granted, 31);
    assert!(refused > 900, "{refused}");
}

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
    let (runtime, shelf) = runtime(leak);
    let note = shelf.create("n");
    REMEMBERED.set(note).unwrap();
    *TEXT.lock().unwrap() = format!("atom:test:note/{}", note.id);
    let before = dump(&runtime);
    for verb in ["member", "connect", "append", "create", "output"] {
        for requirement in 0..3 {
            let probe = Probe { verb: verb.into(), requirement, member: 0, note: None };
            let error = try_probe(&shelf, &probe).unwrap_err();
            let CallError::Capability(denied) = error else { panic!("{probe:?}: {error}") };
            assert_eq!(denied.reference.unwrap().atom, note.atom, "{probe:?}");
            assert!(denied.why.contains("not handed"), "{denied}");
            assert_eq!(dump(&runtime), before);
        }
    }
    // The same with the note in the input is let through.
    for verb in ["member", "connect", "append", "create", "output"] {
        let probe = Probe { verb: verb.into(), requirement: 0, member: 0, note: Some(note) };
        try_probe(&shelf, &probe).unwrap();
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
    let package = with("test:shelf_play", find);
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
        let package = with(operation, handler);
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
fn a_refusal_names_the_member() {
    let (_runtime, shelf) = runtime(probe);
    let probe = |member: usize| Probe {
        verb: "call".into(),
        requirement: u32::try_from(requires::NOTE).unwrap(),
        member: u32::try_from(member).unwrap(),
        note: Some(shelf.create("n")),
    };
    for (member, why) in [(noting::WRITE, "`write.call`"), (noting::WRITE + 1, "`?.call`")] {
        let error = try_probe(&shelf, &probe(member)).unwrap_err();
        let CallError::Capability(denied) = error else { panic!("{error}") };
        assert_eq!((denied.requirement.as_str(), denied.verb), ("note", Verb::Call));
        assert_eq!(denied.why, format!("{why} is not granted"));
    }
}

/// Uses what `shelf_play` is granted, each in its way.
fn use_all(call: &Call<'_>, _: &[u8]) -> Result<Vec<u8>, CallError> {
    let shelf = call.receiver();
    let note = call.create(requires::CREATE_NOTE, &creation(shelf, None))?;
    let event = |text: &str| Seen { text: text.into(), note: Some(note) };

    assert_eq!(call.state_read::<String>(requires::DATA)?, "a shelf");
    call.state_write(requires::DATA, "other")?;
    assert!(call.edge_connect(requires::MARKED, note)?);
    assert!(call.edge_contains(requires::MARKED, note)?);
    assert!(call.edge_disconnect(requires::MARKED, note)?);
    assert!(call.edge_connect_at(requires::NAMED, "k", note)?);
    assert_eq!(call.edge_at(requires::NAMED, "k")?, Some(note));
    assert_eq!(call.edge_disconnect_at(requires::NAMED, "k")?, Some(note));
    assert_eq!(call.stream_append(requires::LOG, &event("one"))?, 0);
    assert_eq!(call.stream_read::<Seen>(requires::LOG, 0, 9)?, [event("one")]);
    assert_eq!(call.stream_len(requires::LOG)?, 1);

    let data: NoteData = call.member_get(requires::NOTE, noting::DATA, note)?;
    call.member_call::<_, ()>(requires::NOTE, noting::WRITE, note, &data)?;
    assert_eq!(call.member_one(requires::NOTE, noting::SHELF, note)?, shelf);
    let entries = call.member_entries(requires::SHELF, shelving::NOTES, shelf, None, 9)?;
    assert_eq!(entries, [("new".to_owned(), note)]);
    let offset: u64 = call.member_call(requires::SHELF, shelving::NOTE, shelf, &event("two"))?;
    let read = call.member_read::<Seen>(requires::SHELF, shelving::LOG, shelf, offset, 9)?;
    assert_eq!((offset, read), (1, vec![event("two")]));
    Ok(postcard::to_allocvec(&vec![note]).unwrap())
}

/// Returns the package with another handler for an operation.
fn with(operation: &str, handler: Handler) -> PackageCode {
    let mut package = package(probe);
    let found = package.handlers.iter_mut().find(|(name, _)| *name == operation);
    found.unwrap().1 = handler;
    package
}

#[test]
fn a_preview_notes_all_that_was_used() {
    let package = with("test:shelf_play", use_all);
    let runtime = Runtime::builder().package(package).open(Arc::new(MemoryStore::new())).unwrap();
    let shelf = Shelf::new(&runtime);
    let preview = blocking(shelf.session.preview_json(shelf.shelf, "play", &json!([]))).unwrap();
    let used: Vec<_> =
        preview.trace.iter().map(|it| format!("{} {}", it.verb, it.through)).collect();
    assert_eq!(
        used,
        [
            "create create_note",
            "read data",
            "write data",
            "connect marked",
            "resolve marked",
            "disconnect marked",
            "connect named",
            "resolve named",
            "disconnect named",
            "append log",
            "read log",
            "read log",
            "get note.data",
            "call note.write",
            "write data",
            "resolve note.shelf",
            "resolve shelf.notes",
            "call shelf.note",
            "read shelf.log",
        ]
    );
}

/// Logs who called, on what, and when.
fn sign(call: &Call<'_>, _: &[u8]) -> Result<Vec<u8>, CallError> {
    let on = call.reference_text(call.receiver());
    let text = format!("{} on {on} at {}", call.actor(), call.instant().to_rfc3339());
    call.stream_append(requires::LOG, &Seen { text, note: None })?;
    Ok(postcard::to_allocvec(&None::<ObjectRef>).unwrap())
}

#[test]
fn a_call_knows_who_called_on_what_and_when() {
    let runtime = Runtime::builder()
        .package(package(sign))
        .clock(Arc::new(ManualClock::at(support::start())))
        .open(Arc::new(MemoryStore::new()))
        .unwrap();
    let shelf = Shelf::new(&runtime);
    try_probe(&shelf, &Probe { verb: String::new(), requirement: 0, member: 0, note: None })
        .unwrap();
    let log = shelf.session.member_read::<Seen>(shelf.shelf, SHELVING, shelving::LOG, 0, 9);
    let id = shelf.shelf.id;
    let signed = format!("anna on atom:test:shelf/{id} at {}", support::start().to_rfc3339());
    assert_eq!(blocking(log).unwrap(), [Seen { text: signed, note: None }]);
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
fn a_host_that_is_not_a_target_refuses() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let away = |shelf: &Shelf| {
        blocking(shelf.session.member_call::<_, ()>(shelf.shelf, SHELVING, shelving::AWAY, &()))
    };
    let CallError::Capability(denied) = away(&shelf).unwrap_err() else { panic!() };
    assert_eq!(denied.requirement, "targets");
    let worker = builder().target(Target::Worker).open(Arc::new(MemoryStore::new())).unwrap();
    let shelf = Shelf::new(&worker);
    away(&shelf).unwrap();
    assert_eq!(shelf.play(&[]).unwrap_err().code(), "capability");
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

#[test]
fn references_of_the_wrong_atom_are_invalid() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let error = shelf.play(&[step("mark", "", Some(shelf.shelf))]).unwrap_err();
    let CallError::Invalid { path, message } = &error else { panic!("{error}") };
    assert_eq!(path, "$[0].note");
    assert!(message.contains("Note"), "{message}");
}
