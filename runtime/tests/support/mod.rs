//! The shelves and notes that the tests of the runtime run on: definitions in `shelf.quixos`,
//! handlers here, written by hand against [`Call`].
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part of what it shares")]
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

pub mod faulty;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use quixos_runtime::store::{MemoryStore, Store};
use quixos_runtime::{
    Builder, Call, CallError, Caller, Handler, ManualClock, ObjectRef, PackageCode, Runtime,
    SeededIds, Session, blocking,
};
use quixos_schema::{Sources, Tag};
use serde::{Deserialize, Serialize};

pub const SHELVING: &str = "interface:test:shelving";
pub const NOTING: &str = "interface:test:noting";

/// Positions of the members of `Shelving`.
pub mod shelving {
    pub const DATA: usize = 0;
    pub const TOP: usize = 1;
    pub const MARKED: usize = 2;
    pub const NAMED: usize = 3;
    pub const NOTES: usize = 4;
    pub const LOG: usize = 5;
    pub const PLAY: usize = 6;
    pub const PROBE: usize = 7;
    pub const PEEK: usize = 8;
    pub const AWAY: usize = 9;
    pub const NOTE: usize = 10;
    pub const HIDDEN: usize = 11;
}

/// Positions of the members of `Noting`.
pub mod noting {
    pub const DATA: usize = 0;
    pub const SHELF: usize = 1;
    pub const HOLDERS: usize = 2;
    pub const WRITE: usize = 3;
}

/// Positions of the requirements of `shelf_play` and `shelf_probe`.
pub mod requires {
    pub const DATA: usize = 0;
    pub const TOP: usize = 1;
    pub const MARKED: usize = 2;
    pub const NAMED: usize = 3;
    pub const LOG: usize = 4;
    pub const CREATE_NOTE: usize = 5;
    pub const NOTE: usize = 6;
    pub const SHELF: usize = 7;
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NoteData {
    pub key: String,
    pub text: String,
    pub friend: Option<ObjectRef>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreateNote {
    pub data: NoteData,
    pub shelf: ObjectRef,
}

/// One thing that `shelf_play` does.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Step {
    pub verb: String,
    pub key: String,
    pub note: Option<ObjectRef>,
    /// Steps of a nested call, as JSON.
    pub steps: String,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Probe {
    pub verb: String,
    pub requirement: u32,
    pub member: u32,
    pub note: Option<ObjectRef>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Seen {
    pub text: String,
    pub note: Option<ObjectRef>,
}

pub fn step(verb: &str, key: &str, note: Option<ObjectRef>) -> Step {
    Step { verb: verb.into(), key: key.into(), note, steps: String::new() }
}

/// A nested call of `play` on the same shelf; with `verb` `try` its error is swallowed. A note is
/// handed along, so that it can be used below; others that the steps name have to be handed by a
/// step `hand`.
pub fn nested(verb: &str, steps: &[Step]) -> Step {
    let note = steps.iter().find_map(|step| step.note);
    Step {
        verb: verb.into(),
        note,
        steps: serde_json::to_string(steps).unwrap(),
        ..Step::default()
    }
}

pub fn note_data(key: &str) -> NoteData {
    NoteData { key: key.into(), text: format!("the text of {key}"), friend: None }
}

pub fn seen(note: Option<ObjectRef>) -> Seen {
    Seen { text: "seen".into(), note }
}

pub fn creation(shelf: ObjectRef, friend: Option<ObjectRef>) -> CreateNote {
    CreateNote { data: NoteData { friend, ..note_data("new") }, shelf }
}

fn input<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).unwrap()
}

fn output<T: Serialize>(value: &T) -> Result<Vec<u8>, CallError> {
    Ok(postcard::to_allocvec(value).unwrap())
}

fn play(call: &Call<'_>, bytes: &[u8]) -> Result<Vec<u8>, CallError> {
    let mut answer = Vec::new();
    for Step { verb, key, note, steps } in input::<Vec<Step>>(bytes) {
        let some = || note.expect("the step has a note");
        match verb.as_str() {
            "hand" => {}
            "say" => call.state_write(requires::DATA, &key)?,
            "top" => drop(call.edge_connect(requires::TOP, some())?),
            "untop" => drop(call.edge_disconnect(requires::TOP, some())?),
            "mark" => drop(call.edge_connect(requires::MARKED, some())?),
            "unmark" => drop(call.edge_disconnect(requires::MARKED, some())?),
            "name" => drop(call.edge_connect_at(requires::NAMED, &key, some())?),
            "unname" => drop(call.edge_disconnect_at(requires::NAMED, &key)?),
            "log" => drop(call.stream_append(requires::LOG, &Seen { text: key, note })?),
            "create" => {
                let data = NoteData { friend: note, ..note_data(&key) };
                let created = CreateNote { data, shelf: call.receiver() };
                answer.push(call.create(requires::CREATE_NOTE, &created)?);
            }
            "create or not" => {
                // A handler that goes on, whatever came of it.
                let data = NoteData { friend: note, ..note_data(&key) };
                let created = CreateNote { data, shelf: call.receiver() };
                answer.extend(call.create(requires::CREATE_NOTE, &created).ok());
            }
            "key" => {
                let data: NoteData = call.member_get(requires::NOTE, noting::DATA, some())?;
                let data = NoteData { key, ..data };
                call.member_call::<_, ()>(requires::NOTE, noting::WRITE, some(), &data)?;
            }
            "nest" | "try" => {
                let steps: Vec<Step> = serde_json::from_str(&steps).unwrap();
                let on = call.receiver();
                let nested = call.member_call::<_, Vec<ObjectRef>>(
                    requires::SHELF,
                    shelving::PLAY,
                    on,
                    &steps,
                );
                if verb == "nest" {
                    answer.extend(nested?);
                }
            }
            "fail" => return Err(CallError::refused(key)),
            "panic" => panic!("{key}"),
            other => return Err(CallError::invalid("verb", other)),
        }
    }
    output(&answer)
}

fn peek(call: &Call<'_>, _: &[u8]) -> Result<Vec<u8>, CallError> {
    let data: String = call.state_read(0)?;
    let marked = call.edge_page(1, None, usize::MAX)?;
    let named = call.edge_entries(2, None, usize::MAX)?;
    output(&format!("{data} {} {}", marked.len(), named.len()))
}

fn nothing(_: &Call<'_>, _: &[u8]) -> Result<Vec<u8>, CallError> {
    Ok(Vec::new())
}

fn hidden(call: &Call<'_>, bytes: &[u8]) -> Result<Vec<u8>, CallError> {
    call.state_write(0, &input::<String>(bytes))?;
    Ok(Vec::new())
}

fn note_write(call: &Call<'_>, bytes: &[u8]) -> Result<Vec<u8>, CallError> {
    call.state_write(0, &input::<NoteData>(bytes))?;
    Ok(Vec::new())
}

/// Returns the package, with what `probe` does.
pub fn package(probe: Handler) -> PackageCode {
    package_of(include_str!("shelf.quixos"), probe)
}

/// Returns the package with another handler for an operation.
pub fn package_with(operation: &str, handler: Handler) -> PackageCode {
    let mut package = package(nothing_found);
    let found = package.handlers.iter_mut().find(|(name, _)| *name == operation);
    found.unwrap().1 = handler;
    package
}

/// Returns the package with other definitions.
pub fn package_of(text: &'static str, probe: Handler) -> PackageCode {
    let mut sources = Sources::new();
    sources.add("shelf.quixos", text);
    let checked = quixos_schema::check(sources);
    let errors = quixos_schema::render_text(&checked.diagnostics, &checked.sources, false);
    let definitions = checked.definitions.unwrap_or_else(|| panic!("{errors}"));
    PackageCode {
        id: "package:test:shelves",
        revision: "package:test:shelves@1",
        digest: definitions.packages[0].digest.clone().leak(),
        sources: vec![("shelf.quixos", text)].leak(),
        handlers: vec![
            ("test:shelf_play", play),
            ("test:shelf_probe", probe),
            ("test:shelf_peek", peek),
            ("test:shelf_away", nothing),
            ("test:shelf_hidden", hidden),
            ("test:note_write", note_write),
        ],
        invariants: Vec::new(),
    }
}

pub fn start() -> DateTime<Utc> {
    "2026-01-02T03:04:05.678Z".parse().unwrap()
}

/// A runtime whose clock stands still and whose ids are the same every time.
pub fn builder() -> Builder {
    Runtime::builder()
        .package(package(nothing_found))
        .clock(Arc::new(ManualClock::at(start())))
        .ids(Arc::new(SeededIds::new(7)))
}

fn nothing_found(_: &Call<'_>, _: &[u8]) -> Result<Vec<u8>, CallError> {
    output(&None::<ObjectRef>)
}

pub fn open(store: Arc<dyn Store>) -> Runtime {
    builder().open(store).unwrap()
}

pub fn in_memory() -> Runtime {
    open(Arc::new(MemoryStore::new()))
}

/// A shelf, and who works on it.
#[derive(Clone)]
pub struct Shelf {
    pub session: Session,
    pub shelf: ObjectRef,
}

impl Shelf {
    pub fn new(runtime: &Runtime) -> Self {
        let session = runtime.session(Caller::operator("anna"));
        let input = "a shelf";
        let shelf = blocking(session.create_root(Tag::of("atom:test:shelf"), input)).unwrap();
        Self { session, shelf }
    }

    pub fn play(&self, steps: &[Step]) -> Result<Vec<ObjectRef>, CallError> {
        blocking(self.session.member_call(self.shelf, SHELVING, shelving::PLAY, &steps.to_vec()))
    }

    pub fn probe(&self, probe: &Probe) -> Result<Option<ObjectRef>, CallError> {
        blocking(self.session.member_call(self.shelf, SHELVING, shelving::PROBE, probe))
    }

    pub fn create(&self, key: &str) -> ObjectRef {
        self.play(&[step("create", key, None)]).unwrap()[0]
    }

    pub fn data(&self) -> String {
        blocking(self.session.member_get(self.shelf, SHELVING, shelving::DATA)).unwrap()
    }
}

/// Every entry of the store, as the runtime sees it.
pub fn dump(runtime: &Runtime) -> Vec<(Vec<u8>, Vec<u8>)> {
    let entries = blocking(runtime.read(|snapshot| snapshot.entries(None, usize::MAX))).unwrap();
    entries.into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
}
