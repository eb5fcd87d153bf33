//! The history: an entry a commit, chained, with nothing secret in it; and the feed of it.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use quixos_runtime::{Action, CallError, HistoryEntry, Runtime, Ulid, blocking};
use quixos_schema::Tag;
use serde_json::json;
use support::{Shelf, dump, in_memory, step};

fn history(runtime: &Runtime) -> Vec<HistoryEntry> {
    blocking(runtime.read(|it| it.history(0, usize::MAX))).unwrap()
}

#[test]
fn an_entry_says_when_who_what_and_on_which_object() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    let id = Ulid::from_parts(9, 9);
    let session = shelf.session.with_transaction_id(id);
    let note = Shelf { session, ..shelf.clone() }.create("n");
    let [created, played] = <[HistoryEntry; 2]>::try_from(history(&runtime)).unwrap();
    assert_eq!(created.action, Action::Create { atom: "atom:test:shelf".into() });
    assert_eq!((created.commit, created.receiver), (1, shelf.shelf));
    assert_eq!(created.previous, [0; 32]);
    let action = Action::Call {
        interface: "interface:test:shelving".into(),
        member: "play".into(),
        operation: Some("test:shelf_play".into()),
    };
    assert_eq!(played.action, action);
    assert_eq!(played.actor, "anna");
    assert_eq!(played.instant, support::start());
    assert_eq!(played.transaction, Some(id));
    assert_eq!(played.receiver, shelf.shelf);
    let input = postcard::to_allocvec(&vec![step("create", "n", None)]).unwrap();
    assert_eq!(played.input, *blake3::hash(&input).as_bytes());
    let outcome = postcard::to_allocvec(&vec![note]).unwrap();
    assert_eq!(played.outcome, *blake3::hash(&outcome).as_bytes());
    let touched: Vec<_> =
        played.touched.iter().map(|it| (it.object, it.created, it.slots.clone())).collect();
    let mut slots = vec![Tag::of("data"), Tag::of("shelf")];
    slots.sort_unstable();
    assert_eq!(touched, [(note, true, slots)]);
    let recent = blocking(runtime.read(|it| it.recent_history(1))).unwrap();
    assert_eq!(recent, [played]);
    let before = |commit| blocking(runtime.read(|it| it.history_before(commit, 9))).unwrap();
    assert_eq!(before(None), [recent[0].clone(), created.clone()]);
    assert_eq!(before(Some(2)), [created]);
    assert_eq!(before(Some(1)), []);
}

#[test]
fn the_chain_shows_every_edit() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    for at in 0..5 {
        shelf.play(&[step("say", &at.to_string(), None)]).unwrap();
    }
    let entries = history(&runtime);
    let intact = |entries: &[HistoryEntry]| {
        let mut previous = [0; 32];
        entries.iter().all(|entry| {
            let fits = entry.previous == previous && entry.hash == entry.expected_hash();
            previous = entry.hash;
            fits
        })
    };
    assert!(intact(&entries));
    let edits: [fn(&mut HistoryEntry); 6] = [
        |entry| entry.actor = "ben".into(),
        |entry| entry.internal = true,
        |entry| entry.commit += 1,
        |entry| entry.outcome[0] ^= 1,
        |entry| entry.instant += std::time::Duration::from_millis(1),
        |entry| entry.touched.clear(),
    ];
    for edit in edits {
        let mut edited = entries.clone();
        edit(&mut edited[2]);
        assert!(!intact(&edited));
    }
    let mut swapped = entries.clone();
    swapped.swap(2, 3);
    assert!(!intact(&swapped));
    let mut cut = entries;
    cut.remove(2);
    assert!(!intact(&cut));
}

#[test]
fn nothing_of_an_input_is_copied_into_the_history() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    shelf.play(&[step("say", "hunter2", None), step("log", "hunter2", None)]).unwrap();
    let holds = |bytes: &[u8]| bytes.windows(7).any(|it| it == b"hunter2");
    let stored = dump(&runtime);
    assert!(stored.iter().any(|(_, value)| holds(value)));
    let history = stored.iter().filter(|(key, _)| key[0] == 0x30);
    assert!(history.clone().count() == 2 && !history.clone().any(|(_, value)| holds(value)));
}

#[test]
fn the_feed_replays_and_goes_on_live() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    (0..3).for_each(|_| drop(shelf.play(&[step("log", "x", None)]).unwrap()));
    std::thread::scope(|scope| {
        let feeds: Vec<_> = [0_u64, 2, 4]
            .map(|after| {
                let mut feed = runtime.feed(after);
                scope.spawn(move || {
                    let mut seen = Vec::new();
                    while seen.last() != Some(&600) {
                        seen.push(blocking(feed.next()).unwrap().unwrap().commit);
                    }
                    assert!(seen.into_iter().eq(after + 1..=600));
                })
            })
            .into();
        (4..600).for_each(|_| drop(shelf.play(&[step("log", "x", None)]).unwrap()));
        feeds.into_iter().for_each(|feed| feed.join().unwrap());
    });
}

#[test]
fn a_member_is_found_by_its_name() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("n");
    let text = json!(format!("atom:test:note/{}", note.id));
    shelf.play(&[step("mark", "", Some(note)), step("name", "k", Some(note))]).unwrap();
    let get = |on, member: &str, input| {
        blocking(shelf.session.invoke_json(on, member, &input)).map(|answer| answer.value)
    };
    let on = shelf.shelf;
    assert_eq!(get(on, "data", json!(null)).unwrap(), "a shelf");
    assert_eq!(get(on, "Shelving.data", json!(null)).unwrap(), "a shelf");
    assert_eq!(get(on, "top", json!(null)).unwrap(), json!(null));
    assert_eq!(get(on, "marked", json!(null)).unwrap(), json!([text]));
    assert_eq!(get(on, "marked", json!({"after": text})).unwrap(), json!([]));
    assert_eq!(get(on, "named", json!({})).unwrap(), json!([{"key": "k", "target": text}]));
    assert_eq!(get(on, "named", json!({"key": "k"})).unwrap(), text);
    assert_eq!(get(on, "named", json!({"key": "x"})).unwrap(), json!(null));
    assert_eq!(get(on, "notes", json!({"key": "n"})).unwrap(), json!([text]));
    assert_eq!(get(on, "peek", json!(null)).unwrap(), "a shelf 1 1");
    assert_eq!(get(note, "shelf", json!(null)).unwrap(), format!("atom:test:shelf/{}", on.id));
    let CallError::NotFound { what } = get(on, "pleek", json!(null)).unwrap_err() else { panic!() };
    assert!(what.contains("did you mean `peek`?"), "{what}");
    assert_eq!(get(on, "Noting.data", json!(null)).unwrap_err().code(), "not-found");
    assert_eq!(get(on, "data", json!(1)).unwrap_err().code(), "invalid");
    assert_eq!(get(on, "marked", json!({"after": "x"})).unwrap_err().code(), "invalid");
}

#[test]
fn only_roots_are_created_at_the_door() {
    let runtime = in_memory();
    let shelf = Shelf::new(&runtime);
    let create = |atom, input| blocking(shelf.session.create_json(atom, &input));
    let made = create("Shelf", json!({"data": "by name"})).unwrap();
    assert_eq!(made.commit, Some(2));
    create("atom:test:shelf", json!({"data": "by id"})).unwrap();
    let before = dump(&runtime);
    let note = json!({"data": {"key": "k", "text": "t"}, "shelf": made.value});
    assert_eq!(create("Note", note).unwrap_err().code(), "capability");
    assert_eq!(create("Shell", json!(null)).unwrap_err().code(), "not-found");
    let CallError::Invalid { path, .. } = create("Shelf", json!({"data": 1})).unwrap_err() else {
        panic!()
    };
    assert_eq!(path, "data");
    let preview = blocking(shelf.session.preview_create_json("Shelf", &json!({"data": "x"})));
    assert_eq!(preview.unwrap().changes.len(), 2);
    assert_eq!(dump(&runtime), before);
}
