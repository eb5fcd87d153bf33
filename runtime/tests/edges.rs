//! Edges and their inverses against plain maps. Whatever is connected, moved, refused or cut off
//! by a restart, both ends answer as the maps would, and the store verifies clean.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use quixos_runtime::store::{MemoryStore, Store};
use quixos_runtime::{EdgeEntry, ObjectRef, Runtime, blocking};
use support::faulty::FaultyStore;
use support::{NOTING, SHELVING, Shelf, note_data, noting, open, shelving, step};

const KEYS: [&str; 4] = ["", "a", "a\u{0}", "b"];

/// Few keys and notes, so that steps collide.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Top(usize),
    Untop(usize),
    Mark(usize),
    Unmark(usize),
    Name(usize, usize),
    Unname(usize),
    Key(usize, usize),
    Create(usize),
    Restart,
}

fn any_deed() -> impl Strategy<Value = Deed> {
    let note = 0..6_usize;
    let key = 0..KEYS.len();
    prop_oneof![
        note.clone().prop_map(Deed::Top),
        note.clone().prop_map(Deed::Untop),
        note.clone().prop_map(Deed::Mark),
        note.clone().prop_map(Deed::Unmark),
        (key.clone(), note.clone()).prop_map(|(k, n)| Deed::Name(k, n)),
        key.clone().prop_map(Deed::Unname),
        (key.clone(), note).prop_map(|(k, n)| Deed::Key(k, n)),
        key.prop_map(Deed::Create),
        Just(Deed::Restart),
    ]
}

/// The plainest thing that could be right.
#[derive(Default)]
struct Model {
    notes: Vec<ObjectRef>,
    keys: BTreeMap<ObjectRef, &'static str>,
    top: Option<ObjectRef>,
    marked: BTreeSet<ObjectRef>,
    named: BTreeMap<&'static str, ObjectRef>,
}

impl Model {
    /// Returns the step for a deed, and whether it should succeed; does it if so.
    fn apply(&mut self, deed: Deed) -> Option<(support::Step, bool)> {
        let note = |at: usize| self.notes.get(at % self.notes.len().max(1)).copied();
        Some(match deed {
            Deed::Top(at) => {
                let note = note(at)?;
                let may = self.top.is_none_or(|top| top == note);
                if may {
                    self.top = Some(note);
                }
                (step("top", "", Some(note)), may)
            }
            Deed::Untop(at) => {
                let note = note(at)?;
                self.top = self.top.filter(|top| *top != note);
                (step("untop", "", Some(note)), true)
            }
            Deed::Mark(at) => {
                let note = note(at)?;
                self.marked.insert(note);
                (step("mark", "", Some(note)), true)
            }
            Deed::Unmark(at) => {
                let note = note(at)?;
                self.marked.remove(&note);
                (step("unmark", "", Some(note)), true)
            }
            Deed::Name(key, at) => {
                let note = note(at)?;
                let may = self.named.get(KEYS[key]).is_none_or(|there| *there == note);
                if may {
                    self.named.insert(KEYS[key], note);
                }
                (step("name", KEYS[key], Some(note)), may)
            }
            Deed::Unname(key) => {
                self.named.remove(KEYS[key]);
                (step("unname", KEYS[key], None), true)
            }
            Deed::Key(key, at) => {
                let note = note(at)?;
                self.keys.insert(note, KEYS[key]);
                (step("key", KEYS[key], Some(note)), true)
            }
            Deed::Create(key) => (step("create", KEYS[key], None), true),
            Deed::Restart => return None,
        })
    }

    fn check(&self, runtime: &Runtime, shelf: &Shelf) {
        let Shelf { session, shelf } = shelf;
        let top = blocking(session.member_optional(*shelf, SHELVING, shelving::TOP)).unwrap();
        assert_eq!(top, self.top);

        // Notes are all of one atom, so that their order is that of their ids; page by page.
        let mut marked = Vec::new();
        loop {
            let after = marked.last().copied();
            let page = session.member_targets(*shelf, SHELVING, shelving::MARKED, after, 2);
            let page = blocking(page).unwrap();
            if page.is_empty() {
                break;
            }
            marked.extend(page);
        }
        assert_eq!(marked, self.marked.iter().copied().collect::<Vec<_>>());

        let named =
            blocking(session.member_entries(*shelf, SHELVING, shelving::NAMED, None, usize::MAX));
        let expected: Vec<_> = self.named.iter().map(|(k, n)| ((*k).to_owned(), *n)).collect();
        assert_eq!(named.unwrap(), expected);

        // The keyed inverse: by key, then by id.
        let mut by_key: Vec<_> = self.keys.iter().map(|(n, k)| ((*k).to_owned(), *n)).collect();
        by_key.sort();
        let mut notes: Vec<(String, ObjectRef)> = Vec::new();
        loop {
            let after = notes.last().map(|(key, _)| key.clone());
            let page =
                session.member_entries(*shelf, SHELVING, shelving::NOTES, after.as_deref(), 2);
            let page = blocking(page).unwrap();
            if page.is_empty() {
                break;
            }
            notes.extend(page);
        }
        assert_eq!(notes, by_key);
        for key in KEYS {
            let at = blocking(session.member_at(*shelf, SHELVING, shelving::NOTES, key)).unwrap();
            let expected: Vec<_> =
                by_key.iter().filter(|(k, _)| k == key).map(|(_, n)| *n).collect();
            assert_eq!(at, expected, "at {key:?}");
            let at = blocking(session.member_at(*shelf, SHELVING, shelving::NAMED, key)).unwrap();
            assert_eq!(at.first(), self.named.get(key));
        }
        for note in &self.notes {
            let holders =
                blocking(session.member_targets(*note, NOTING, noting::HOLDERS, None, 9)).unwrap();
            let named = self.named.values().any(|it| it == note);
            // However many keys it has, the shelf holds it once.
            assert_eq!(holders, if named { vec![*shelf] } else { vec![] });
            let member = session.member_contains(*shelf, SHELVING, shelving::NOTES, *note);
            assert!(blocking(member).unwrap());
            self.check_holders(runtime, *shelf, *note);
        }
        let report = blocking(runtime.verify()).unwrap();
        assert!(report.is_clean(), "{:#?}", report.findings);
    }

    /// Everything that leads to a note is known, declared as an inverse or not.
    fn check_holders(&self, runtime: &Runtime, shelf: ObjectRef, note: ObjectRef) {
        let holders = blocking(runtime.read(|it| it.holders(note, None, usize::MAX))).unwrap();
        let mut found: Vec<_> =
            holders.into_iter().map(|it| (it.source, it.edge, it.key)).collect();
        found.sort();
        let mut expected: Vec<_> = self
            .named
            .iter()
            .filter(|(_, it)| **it == note)
            .map(|(key, _)| (shelf, "named".to_owned(), Some((*key).to_owned())))
            .collect();
        expected.extend(self.marked.get(&note).map(|_| (shelf, "marked".to_owned(), None)));
        expected
            .extend(self.top.filter(|top| *top == note).map(|_| (shelf, "top".to_owned(), None)));
        expected.sort();
        assert_eq!(found, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn both_ends_of_every_edge_answer_as_maps_would(
        deeds in prop::collection::vec(any_deed(), 1..40)
    ) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let mut runtime = open(Arc::clone(&store));
        let mut shelf = Shelf::new(&runtime);
        let mut model = Model::default();
        for deed in deeds {
            if let Deed::Restart = deed {
                let on = shelf.shelf;
                drop(shelf);
                runtime.close();
                runtime = open(Arc::clone(&store));
                let session = runtime.session(quixos_runtime::Caller::operator("anna"));
                shelf = Shelf { session, shelf: on };
                model.check(&runtime, &shelf);
                continue;
            }
            let Some((step, may)) = model.apply(deed) else { continue };
            match (shelf.play(&[step]), may) {
                (Ok(created), true) => {
                    if let (Deed::Create(key), [note]) = (deed, &created[..]) {
                        model.keys.insert(*note, KEYS[key]);
                        model.notes.push(*note);
                    }
                }
                (Err(error), false) => assert_eq!(error.code(), "conflict"),
                (answer, _) => panic!("{deed:?}: {answer:?}"),
            }
        }
        model.check(&runtime, &shelf);
    }
}

#[test]
fn an_operator_reads_every_edge_by_name_and_page() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let notes: Vec<_> = (0..5).map(|at| shelf.create(&format!("k{at}"))).collect();
    for note in &notes {
        shelf.play(&[step("mark", "", Some(*note))]).unwrap();
    }
    let read = |name: &'static str, after: Option<EdgeEntry>| {
        let on = shelf.shelf;
        blocking(runtime.read(move |it| it.edge(on, name, after.as_ref(), 2))).unwrap()
    };
    let first = read("marked", None);
    assert_eq!(first.iter().map(|it| it.object).collect::<Vec<_>>(), notes[..2]);
    let second = read("marked", first.last().cloned());
    assert_eq!(second.iter().map(|it| it.object).collect::<Vec<_>>(), notes[2..4]);
    let keyed = read("notes", Some(EdgeEntry { key: Some("k2".into()), object: notes[2] }));
    assert_eq!(keyed[0], EdgeEntry { key: Some("k3".into()), object: notes[3] });
    let error = blocking(runtime.read(|it| it.edge(shelf.shelf, "none", None, 1))).unwrap_err();
    assert_eq!(error.code(), "not-found");
}

/// Where a `one` edge leads is said with that the object is there, which is asked of each receiver.
#[test]
fn an_edge_to_one_costs_no_read_of_its_own() {
    let store = Arc::new(FaultyStore::default());
    let runtime = open(Arc::clone(&store) as Arc<dyn Store>);
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("a");
    let session = &shelf.session;
    let cost = |done: &dyn Fn()| {
        let before = store.gets();
        done();
        store.gets() - before
    };
    let resolve = || {
        let home = blocking(session.member_one(note, NOTING, noting::SHELF)).unwrap();
        assert_eq!(home, shelf.shelf);
    };
    assert_eq!(cost(&resolve), 1, "the header");
    // Under another key the note has another entry at its shelf, which its edge leads to.
    let write = || {
        let data = note_data("b");
        let () = blocking(session.member_call(note, NOTING, noting::WRITE, &data)).unwrap();
    };
    assert_eq!(cost(&write), 2, "the header, and the state with the key of before");
    let notes = runtime.read(|it| it.edge(shelf.shelf, "notes", None, 9));
    assert_eq!(blocking(notes).unwrap(), [EdgeEntry { key: Some("b".into()), object: note }]);
}
