//! A handler reaches what its `requires` names, on references that it was handed, and nothing
//! else. The handlers here go around generated code and try everything.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::sync::Arc;

use quixos_runtime::store::MemoryStore;
use quixos_runtime::{Call, CallError, Handler, ManualClock, ObjectRef, Runtime, blocking};
use quixos_schema::{Target, Verb};
use serde_json::json;
use support::{
    NoteData, Probe, SHELVING, Seen, Shelf, builder, creation, dump, note_data, noting, package,
    package_with, requires, seen, shelving,
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

fn runtime(probe: Handler) -> (Runtime, Shelf) {
    let runtime = Runtime::builder().package(package(probe)).open(Arc::new(MemoryStore::new()));
    let runtime = runtime.unwrap();
    let shelf = Shelf::new(&runtime);
    (runtime, shelf)
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
                    let error = shelf.probe(&probe).unwrap_err();
                    assert_eq!(error.code(), "invalid", "{probe:?}: {error}");
                    continue;
                }
                let before = dump(&runtime);
                match shelf.probe(&probe) {
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
        let error = shelf.probe(&probe(member)).unwrap_err();
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

#[test]
fn a_preview_notes_all_that_was_used() {
    let package = package_with("test:shelf_play", use_all);
    let runtime = Runtime::builder().package(package).open(Arc::new(MemoryStore::new())).unwrap();
    let shelf = Shelf::new(&runtime);
    let preview = blocking(shelf.session.preview_json(shelf.shelf, "play", &json!([]))).unwrap();
    let used: Vec<_> =
        preview.trace.iter().map(|it| format!("{} {} {}", it.depth, it.verb, it.through)).collect();
    assert_eq!(
        used,
        [
            "1 create create_note",
            "1 read data",
            "1 write data",
            "1 connect marked",
            "1 resolve marked",
            "1 disconnect marked",
            "1 connect named",
            "1 resolve named",
            "1 disconnect named",
            "1 append log",
            "1 read log",
            "1 read log",
            "1 get note.data",
            "1 call note.write",
            "2 write data",
            "1 resolve note.shelf",
            "1 resolve shelf.notes",
            "1 call shelf.note",
            "1 read shelf.log",
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
    shelf.probe(&Probe { verb: String::new(), requirement: 0, member: 0, note: None }).unwrap();
    let log = shelf.session.member_read::<Seen>(shelf.shelf, SHELVING, shelving::LOG, 0, 9);
    let id = shelf.shelf.id;
    let signed = format!("anna on atom:test:shelf/{id} at {}", support::start().to_rfc3339());
    assert_eq!(blocking(log).unwrap(), [Seen { text: signed, note: None }]);
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
