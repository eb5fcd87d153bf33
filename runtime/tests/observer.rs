//! What an observer is told: each call once, when its answer is final, and of what it watches only
//! what is there.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};

use quixos_runtime::store::{Durability, Store};
use quixos_runtime::{
    AnsweredCall, CallError, Did, Limits, ObjectRef, Observer, Runtime, Session, WrittenGroup,
    blocking,
};
use support::faulty::{Fault, FaultyStore};
use support::{
    NOTING, SHELVING, Seen, Shelf, Step, builder, nested, note_data, noting, shelving, step,
};

/// Writes down what it is told.
#[derive(Default)]
struct Notes(Mutex<Told>);

#[derive(Clone, Default)]
struct Told {
    /// Operations and the codes of their errors.
    answered: Vec<(String, Option<&'static str>)>,
    /// The lengths of the answers of `shelf_play`.
    played: Vec<usize>,
    /// The texts of what was appended to the log.
    logged: Vec<String>,
    /// What else was told of, though it is not watched.
    unwatched: Vec<String>,
    /// Transactions of the groups that were written, and of those that were not.
    written: u64,
    lost: u64,
}

impl Notes {
    fn told(&self) -> Told {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, note: impl FnOnce(&mut Told)) {
        note(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Observer for Notes {
    fn watches(&self, what: &str) -> bool {
        what == "shelf_play" || what == "Shelf.log"
    }

    fn answered(&self, call: &AnsweredCall<'_>) {
        let error = call.error.map(CallError::code);
        self.note(|told| told.answered.push((call.operation.to_owned(), error)));
    }

    fn did(&self, did: &Did<'_>) {
        if did.what == "Shelf.log" {
            let event: Seen = did.decode().unwrap();
            return self.note(|told| told.logged.push(event.text));
        }
        if did.what != "shelf_play" {
            return self.note(|told| told.unwatched.push(did.what.to_owned()));
        }
        let created: Vec<ObjectRef> = did.decode().unwrap();
        self.note(|told| told.played.push(created.len()));
    }

    fn written(&self, group: &WrittenGroup<'_>) {
        self.note(|told| {
            let count = if group.error.is_none() { &mut told.written } else { &mut told.lost };
            *count += group.transactions;
        });
    }
}

fn observed(limits: Limits) -> (Arc<FaultyStore>, Arc<Notes>, Runtime, Shelf) {
    let (store, notes) = (Arc::new(FaultyStore::default()), Arc::new(Notes::default()));
    let runtime = builder()
        .limits(limits)
        .observer(Arc::clone(&notes) as Arc<dyn Observer>)
        .open(Arc::clone(&store) as Arc<dyn Store>)
        .unwrap();
    let shelf = Shelf::new(&runtime);
    (store, notes, runtime, shelf)
}

fn answered(of: &Told) -> Vec<(&str, Option<&'static str>)> {
    of.answered.iter().map(|(operation, error)| (operation.as_str(), *error)).collect()
}

#[test]
fn each_call_is_told_with_what_it_came_to() {
    let (_store, notes, runtime, shelf) = observed(Limits::default());
    let create = step("create", "n", None);
    shelf.play(&[create.clone(), nested("nest", &[create.clone(), create.clone()])]).unwrap();
    shelf.play(&[step("fail", "no", None)]).unwrap_err();
    let told = notes.told();
    let play = "shelf_play";
    assert_eq!(answered(&told), [("create", None), (play, None), (play, Some("refused"))]);
    // The inner one is done first; a call that failed did nothing.
    assert_eq!(told.played, [2, 3]);
    assert_eq!((told.written, told.lost), (2, 0));
    let figures = runtime.figures();
    assert_eq!((figures.executed, figures.durable, figures.waiting), (2, 2, 0));
}

#[test]
fn what_is_not_watched_is_told_as_a_call_only() {
    let (_store, notes, _runtime, shelf) = observed(Limits::default());
    let note = shelf.create("n");
    let data = note_data("x");
    let write = shelf.session.member_call::<_, ()>(note, NOTING, noting::WRITE, &data);
    blocking(write).unwrap();
    let told = notes.told();
    assert_eq!(answered(&told).last(), Some(&("note_write", None)));
    assert_eq!((told.played, told.unwatched), (vec![1], Vec::new()));
}

#[test]
fn what_was_taken_back_is_not_told() {
    let (_store, notes, _runtime, shelf) = observed(Limits::default());
    let create = step("create", "n", None);
    let fails = [
        nested("nest", std::slice::from_ref(&create)),
        step("log", "lost", None),
        step("fail", "no", None),
    ];
    shelf.play(&[nested("try", &fails), step("log", "kept", None), create.clone()]).unwrap();
    shelf.play(&[nested("nest", &[create]), step("fail", "no", None)]).unwrap_err();
    assert_eq!(notes.told().played, [1]);
    assert_eq!(notes.told().logged, ["kept"]);
}

#[test]
fn a_group_that_fails_is_told_as_lost() {
    let (store, notes, runtime, shelf) = observed(Limits::default());
    for fault in [Fault::NoSpace, Fault::NoSpaceAtSubmit] {
        store.fail(fault);
        shelf.play(&[step("say", "lost", None)]).unwrap_err();
    }
    shelf.play(&[step("say", "kept", None)]).unwrap();
    let told = notes.told();
    assert_eq!((told.written, told.lost), (2, 2));
    assert_eq!(told.played, [0]);
    assert_eq!(answered(&told)[1..3], [("shelf_play", Some("storage")); 2]);
    assert_eq!(runtime.figures().durable, 2);
}

#[test]
fn who_does_not_wait_for_the_disk_is_told_too() {
    let (_store, notes, _runtime, shelf) = observed(Limits::default());
    let buffered = shelf.session.with_durability(Durability::Buffered);
    blocking(play(&buffered, &shelf)).unwrap();
    assert_eq!(answered(&notes.told()).last(), Some(&("shelf_play", None)));
}

/// Does not say what it watches.
#[derive(Default)]
struct Watchless(AtomicU64);

impl Observer for Watchless {
    fn answered(&self, _: &AnsweredCall<'_>) {}

    fn did(&self, _: &Did<'_>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn written(&self, _: &WrittenGroup<'_>) {}
}

#[test]
fn who_watches_nothing_is_told_of_nothing_that_was_done() {
    let observer = Arc::new(Watchless::default());
    let runtime = builder()
        .observer(Arc::clone(&observer) as Arc<dyn Observer>)
        .open(Arc::new(FaultyStore::default()))
        .unwrap();
    Shelf::new(&runtime).play(&[step("log", "x", None)]).unwrap();
    runtime.close();
    assert_eq!(observer.0.load(Ordering::SeqCst), 0);
}

/// Panics whatever it is told.
struct Panics;

impl Observer for Panics {
    fn watches(&self, _: &str) -> bool {
        true
    }

    fn answered(&self, _: &AnsweredCall<'_>) {
        panic!("an answer");
    }

    fn did(&self, _: &Did<'_>) {
        panic!("a deed");
    }

    fn written(&self, _: &WrittenGroup<'_>) {
        panic!("a group");
    }
}

#[test]
fn one_that_panics_ends_nothing() {
    let store = Arc::new(FaultyStore::default());
    let runtime =
        builder().observer(Arc::new(Panics)).open(Arc::clone(&store) as Arc<dyn Store>).unwrap();
    let shelf = Shelf::new(&runtime);
    let create = step("create", "n", None);
    for _ in 0..4 {
        shelf
            .play(&[step("log", "kept", None), nested("nest", std::slice::from_ref(&create))])
            .unwrap();
    }
    store.fail(Fault::NoSpace);
    let lost = shelf.play(&[step("log", "lost", None)]);
    assert_eq!(lost.map_err(|error| error.code()), Err("storage"));
    shelf.play(&[create]).unwrap();
    runtime.close();
}

#[test]
fn who_is_sent_away_is_told_too() {
    let (_store, notes, runtime, shelf) = observed(Limits { queue: 1, ..Limits::default() });
    let (stands, standing) = channel();
    let (go, goes) = channel::<()>();
    let holder = runtime.clone();
    let holding = std::thread::spawn(move || {
        let held = holder.read_held(|_| {
            stands.send(()).unwrap();
            // Ends when the other end is dropped.
            let _ = goes.recv();
            Ok(())
        });
        blocking(held).unwrap();
    });
    standing.recv().unwrap();
    let first = {
        let shelf = shelf.clone();
        std::thread::spawn(move || blocking(play(&shelf.session, &shelf)).unwrap())
    };
    while runtime.figures().waiting == 0 {
        std::thread::yield_now();
    }
    assert_eq!(blocking(play(&shelf.session, &shelf)).unwrap_err().code(), "busy");
    assert_eq!(answered(&notes.told()).last(), Some(&("shelf_play", Some("busy"))));
    drop(go);
    first.join().unwrap();
    holding.join().unwrap();
    assert_eq!(notes.told().answered.len(), 3);
}

async fn play(session: &Session, shelf: &Shelf) -> Result<Vec<ObjectRef>, CallError> {
    let steps: Vec<Step> = vec![step("say", "soon", None)];
    session.member_call(shelf.shelf, SHELVING, shelving::PLAY, &steps).await
}
