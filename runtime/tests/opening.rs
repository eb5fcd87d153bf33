//! Whether packages, their code and a store fit together, and what is said when they do not.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::sync::Arc;

use bytes::Bytes;
use quixos_runtime::store::{Batch, Durability, MemoryStore, Store};
use quixos_runtime::{
    Call, CallError, Caller, Change, FORMAT, ObjectRef, OpenError, PackageCode, Runtime, blocking,
    key,
};
use serde_json::Value as Json;
use support::{NOTING, Shelf, noting, package_of, step};

const SHELF: &str = include_str!("support/shelf.quixos");

fn nothing(_: &Call<'_>, _: &[u8]) -> Result<Vec<u8>, CallError> {
    Ok(postcard::to_allocvec(&None::<ObjectRef>).unwrap())
}

fn package() -> PackageCode {
    package_of(SHELF, nothing)
}

fn open_with(package: PackageCode, store: &Arc<MemoryStore>) -> Result<Runtime, OpenError> {
    Runtime::builder().package(package).open(Arc::clone(store) as Arc<dyn Store>)
}

fn refusal(opened: Result<Runtime, OpenError>) -> OpenError {
    opened.err().expect("should be refused")
}

fn store() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new())
}

#[test]
fn a_store_says_what_wrote_it() {
    let store = store();
    let runtime = open_with(package(), &store).unwrap();
    let packages = blocking(runtime.read(|it| it.packages())).unwrap();
    assert_eq!(packages.len(), 1);
    assert_eq!(packages[0].id, "package:test:shelves");
    assert_eq!(packages[0].digest, package().digest);
    assert_eq!(packages[0].sources, [("shelf.quixos".to_owned(), SHELF.to_owned())]);
    runtime.close();
    // Comments and layout are not what it means.
    let other_layout = SHELF.replace("  ", "\t").replace("// A", "// B").leak();
    open_with(package_of(other_layout, nothing), &store).unwrap().close();
}

#[test]
fn other_definitions_are_refused_and_the_difference_is_said() {
    let store = store();
    let runtime = open_with(package(), &store).unwrap();
    let on = Shelf::new(&runtime).shelf;
    runtime.close();
    let changed = SHELF
        .replace(
            "state data id \"data\": NoteData;",
            "state data id \"data\": NoteData;\n  state more id \"more\": string;",
        )
        .replace(
            "{data: NoteData; shelf: atom-ref<Shelf>;}",
            "{data: NoteData; more: string; shelf: atom-ref<Shelf>;}",
        )
        .leak();
    let error = refusal(open_with(package_of(changed, nothing), &store));
    let OpenError::PackageDigest { id, difference } = &error else { panic!("{error}") };
    assert_eq!(id, "package:test:shelves");
    assert!(difference.contains("more"), "{difference}");
    assert!(difference.contains("would have to be converted"), "{difference}");
    // Asking for it does not make it safe, and nothing was changed by the attempts.
    let builder = Runtime::builder().package(package_of(changed, nothing)).accept_safe_upgrades();
    refusal(builder.open(Arc::clone(&store) as Arc<dyn Store>));
    let runtime = open_with(package(), &store).unwrap();
    assert!(blocking(runtime.read(|it| it.exists(on))).unwrap());
}

#[test]
fn an_upgrade_that_is_safe_is_accepted_when_asked_for() {
    let store = store();
    let runtime = open_with(package(), &store).unwrap();
    let on = Shelf::new(&runtime).shelf;
    runtime.close();
    let grown = SHELF
        .replace("  root input", "  state mood id \"mood\": optional<string>;\n  root input")
        .leak();
    let grown = || package_of(grown, nothing);
    let error = refusal(open_with(grown(), &store));
    assert!(error.to_string().contains("accept the upgrade"), "{error}");
    let builder = Runtime::builder().package(grown()).accept_safe_upgrades();
    let runtime = builder.open(Arc::clone(&store) as Arc<dyn Store>).unwrap();
    let mood = blocking(runtime.read(|it| it.state(on, "mood"))).unwrap();
    assert_eq!(mood, quixos_runtime::Value::Optional(None));
    let report = blocking(runtime.verify()).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    runtime.close();
    // It is the new revision's from then on.
    open_with(grown(), &store).unwrap().close();
    assert!(matches!(refusal(open_with(package(), &store)), OpenError::PackageDigest { .. }));
}

/// The shelves, but that a note may be on none, and `write` brings it to another.
fn with_loose_notes() -> PackageCode {
    let text = SHELF
        .replace("edge shelf: one atom", "edge shelf: optional-one atom")
        .replace("edge shelf id \"shelf\": one atom", "edge shelf id \"shelf\": optional-one atom")
        .replace("shelf: atom-ref<Shelf>;", "shelf: optional<atom-ref<Shelf>>;")
        .replace("write: NoteData -> unit", "write: optional<atom-ref<Shelf>> -> unit")
        .replace(
            "\"test:note_write\": NoteData ->",
            "\"test:note_write\": optional<atom-ref<Shelf>> ->",
        )
        .replace(
            "state data id \"data\": NoteData [read, write];",
            "edge shelf id \"shelf\": optional-one atom Shelf [resolve, connect, disconnect];",
        );
    let mut package = package_of(text.leak(), nothing);
    for (id, handler) in &mut package.handlers {
        if *id == "test:note_write" {
            *handler = bring;
        }
    }
    package
}

fn bring(call: &Call<'_>, input: &[u8]) -> Result<Vec<u8>, CallError> {
    if let Some(from) = call.edge_optional(0)? {
        assert!(call.edge_disconnect(0, from)?);
        assert!(!call.edge_disconnect(0, from)?);
    }
    if let Some(to) = postcard::from_bytes::<Option<ObjectRef>>(input).unwrap() {
        assert!(call.edge_connect(0, to)?);
        assert!(!call.edge_connect(0, to)?);
    }
    Ok(Vec::new())
}

/// Where the notes are, which the headers of both say, holds on after an upgrade by which they may
/// be elsewhere; until they are.
#[test]
fn an_edge_that_becomes_optional_keeps_its_targets() {
    let store = store();
    let runtime = open_with(package(), &store).unwrap();
    let shelf = Shelf::new(&runtime);
    let notes = ["a", "b"].map(|key| shelf.create(key));
    let (home, other) = (shelf.shelf, Shelf::new(&runtime).shelf);
    runtime.close();

    let builder = Runtime::builder().package(with_loose_notes()).accept_safe_upgrades();
    let mut runtime = builder.open(Arc::clone(&store) as Arc<dyn Store>).unwrap();
    let changes = [
        (Some(home), Some(home)),
        (Some(home), None),
        (None, Some(other)),
        (Some(other), Some(home)),
        (Some(home), None),
    ];
    for (from, to) in changes {
        let session = runtime.session(Caller::operator("anna"));
        let on = |note| blocking(session.member_optional(note, NOTING, noting::SHELF)).unwrap();
        assert_eq!(notes.map(on), [Some(home), from]);
        if from != to {
            let input = to.map_or(Json::Null, |it| format!("atom:test:shelf/{}", it.id).into());
            let preview = blocking(session.preview_json(notes[1], "write", &input)).unwrap();
            let edge = |change: &Change| match change {
                Change::Connected { edge, target, .. } => format!("to {edge} {target}"),
                Change::Disconnected { edge, target, .. } => format!("from {edge} {target}"),
                Change::Created { .. } | Change::State { .. } | Change::Appended { .. } => {
                    panic!("{change:?}")
                }
            };
            let shown: Vec<_> = preview.changes.iter().map(edge).collect();
            // A change from one to another is one of the entry, which shows what it has now.
            let word = if to.is_some() { "to" } else { "from" };
            let shelf = to.or(from).unwrap().id;
            assert_eq!(shown, [format!("{word} shelf atom:test:shelf/{shelf}")]);
            let () = blocking(session.member_call(notes[1], NOTING, noting::WRITE, &to)).unwrap();
            assert_eq!(notes.map(on), [Some(home), to]);
        }
        let held = |on| blocking(runtime.read(|it| it.edge(on, "notes", None, 9))).unwrap().len();
        assert_eq!(held(home), 1 + usize::from(to == Some(home)));
        assert_eq!(held(other), usize::from(to == Some(other)));
        let report = blocking(runtime.verify()).unwrap();
        assert!(report.is_clean(), "{:#?}", report.findings);
        runtime.close();
        runtime = open_with(with_loose_notes(), &store).unwrap();
    }
}

#[test]
fn a_package_that_is_missing_is_named() {
    let store = store();
    open_with(package(), &store).unwrap().close();
    let error = refusal(Runtime::builder().open(store as Arc<dyn Store>));
    assert!(matches!(error, OpenError::PackageMissing { .. }), "{error}");
    assert!(error.to_string().contains("package:test:shelves@1"), "{error}");
}

const BAD: &str = r#"
atom A id "atom:a" { state s id "s": strin; edge e id "e": one atom B; }
package P id "package:p" revision "package:p@1" {}
"#;

#[test]
fn faulty_definitions_are_refused_with_every_fault() {
    let package = PackageCode { sources: vec![("bad.quixos", BAD)].leak(), ..package() };
    let error = refusal(open_with(package, &store()));
    let OpenError::Definitions { text } = &error else { panic!("{error}") };
    assert!(text.contains("strin") && text.contains("`B`"), "{text}");
}

#[test]
fn code_that_does_not_fit_its_definitions_is_refused() {
    let without_one = PackageCode { handlers: package().handlers.split_off(1), ..package() };
    let error = refusal(open_with(without_one, &store()));
    assert!(error.to_string().contains("`test:shelf_play` has no handler"), "{error}");

    let mut one_more = package();
    one_more.handlers.push(("test:other", nothing));
    let error = refusal(open_with(one_more, &store()));
    assert!(error.to_string().contains("`test:other`"), "{error}");

    let mut twice = package();
    twice.handlers.push(("test:shelf_play", nothing));
    let error = refusal(open_with(twice, &store()));
    assert!(error.to_string().contains("two handlers"), "{error}");

    let stale = PackageCode { digest: "stale", ..package() };
    let error = refusal(open_with(stale, &store()));
    assert!(matches!(error, OpenError::CodeDigest { .. }), "{error}");

    let other = PackageCode { id: "package:test:other", ..package() };
    let error = refusal(open_with(other, &store()));
    assert!(error.to_string().contains("package:test:other"), "{error}");
}

#[test]
fn a_store_of_another_format_or_of_something_else_is_refused() {
    let write = |key: Bytes, value: &[u8]| {
        let store = store();
        let writes = vec![(key, Some(Bytes::copy_from_slice(value)))];
        store.commit(Batch { writes, ..Batch::default() }, Durability::Durable).unwrap();
        store
    };
    let newer = write(key::meta("format"), &[u8::try_from(FORMAT + 1).unwrap()]);
    let error = refusal(open_with(package(), &newer));
    assert!(matches!(error, OpenError::Format { found } if found == FORMAT + 1), "{error}");
    let older = refusal(open_with(package(), &write(key::meta("format"), &[1])));
    let text = older.to_string();
    assert!(text.contains("format 1, this version reads format 2"), "{text}");
    assert!(text.contains("the target of a `one` edge has a key of its own"), "{text}");
    let foreign = write(Bytes::from_static(b"hello"), b"world");
    let error = refusal(open_with(package(), &foreign));
    assert!(matches!(error, OpenError::Foreign), "{error}");
    let damaged = write(key::meta("format"), &[0xFF; 9]);
    let error = refusal(open_with(package(), &damaged));
    assert!(matches!(error, OpenError::Read(CallError::Corrupt { .. })), "{error}");
}

#[test]
fn a_store_that_others_write_to_is_refused() {
    let error = refusal(open_with(package(), &Arc::new(MemoryStore::optimistic())));
    assert!(matches!(error, OpenError::Concurrent), "{error}");
}

#[test]
fn a_closed_runtime_has_finished_what_was_asked_for() {
    let store = store();
    let runtime = open_with(package(), &store).unwrap();
    let shelf = Shelf::new(&runtime);
    let on = shelf.shelf;
    let callers: Vec<_> = (0..8)
        .map(|_| {
            let shelf = shelf.clone();
            std::thread::spawn(move || {
                (0..50).take_while(|_| shelf.play(&[step("log", "x", None)]).is_ok()).count() as u64
            })
        })
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(5));
    runtime.close();
    let told: u64 = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
    let runtime = open_with(package(), &store).unwrap();
    let kept = blocking(runtime.stream(on, "log").unwrap().len()).unwrap();
    assert_eq!(kept, told);
}
