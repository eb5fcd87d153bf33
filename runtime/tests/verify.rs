//! `verify` finds every sort of damage, by its name and its place.
//!
//! Each case fills a store by calls, writes one piece of damage under the runtime, and expects the
//! finding. A sound store has none, so whatever is found is the damage.

mod library;

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use library::{
    BOOK, BookData, Filled, SHELF, ShelfData, block_on, encoded, fill, filled, open, open_with,
    package, write,
};
use proptest::prelude::*;
use quixos_runtime::key::{self, Kind};
use quixos_runtime::store::tapped::{Tap, Tapped};
use quixos_runtime::store::{Direction, MemoryStore, Page, Store, StoreError};
use quixos_runtime::verify::{Finding, Report, VerifyKind};
use quixos_runtime::{ObjectRef, Snapshot, StoredPackage};
use quixos_schema::Tag;
use ulid::Ulid;

fn verify(store: &Arc<dyn Store>) -> Report {
    let runtime = open(store);
    let report = block_on(runtime.verify()).expect("the store can be read");
    runtime.close();
    report
}

type Writes = Vec<(Bytes, Option<Bytes>)>;

/// What a case of damage may look at and name.
struct Sound {
    store: Arc<dyn Store>,
    filled: Filled,
}

impl Sound {
    fn get(&self, key: &[u8]) -> Bytes {
        self.store.view().expect("a view").get(key).expect("readable").expect("there")
    }

    /// A shelf that is not there before [`Sound::as_shelf`].
    fn another_shelf(&self) -> ObjectRef {
        ObjectRef { id: Ulid(self.filled.shelf.id.0 - 1), ..self.filled.shelf }
    }

    /// What makes an object a shelf.
    fn as_shelf(&self, object: ObjectRef) -> Writes {
        let data = self.get(&key::state(self.filled.shelf, slot("data")));
        vec![
            (key::object(object), Some(plain_header(1, MILLIS))),
            (key::state(object, slot("data")), Some(data)),
        ]
    }

    /// The bytes under a key, one of them changed.
    fn flipped(&self, key: &Bytes, at: usize) -> (Bytes, Option<Bytes>) {
        let mut value = self.get(key).to_vec();
        value[at] ^= 1;
        (key.clone(), Some(value.into()))
    }
}

fn slot(name: &str) -> Tag {
    Tag::of(name)
}

/// An object that is not there.
fn nobody(atom: &str) -> ObjectRef {
    ObjectRef { atom: Tag::of(atom), id: Ulid(5) }
}

/// A piece of damage: what it is called, how it is done, and what `verify` says of it.
struct Case {
    kind: VerifyKind,
    /// A part of the place and of the message.
    said: (&'static str, &'static str),
    damage: fn(&Sound) -> Writes,
}

fn case(
    kind: VerifyKind,
    place: &'static str,
    message: &'static str,
    damage: fn(&Sound) -> Writes,
) -> Case {
    Case { kind, said: (place, message), damage }
}

/// The header of an object of commit 1 or 2 that leads to nothing.
fn plain_header(commit: u64, millis: i64) -> Bytes {
    encoded(&(commit, millis, Vec::<(Tag, ObjectRef)>::new()))
}

/// The header of the first book with other targets.
fn book_leading_to(sound: &Sound, targets: &[(&str, ObjectRef)]) -> Writes {
    let targets: Vec<_> = targets.iter().map(|(name, target)| (slot(name), *target)).collect();
    let header = encoded(&(2_u64, MILLIS, targets));
    vec![(key::object(sound.filled.book), Some(header))]
}

const MILLIS: i64 = 1_700_000_000_000;

fn shelf_data(favourite: Option<ObjectRef>, related: Vec<ObjectRef>) -> Bytes {
    encoded(&ShelfData { name: "fiction".into(), favourite, related })
}

fn book_data(title: &str) -> Bytes {
    encoded(&BookData { title: title.into(), pages: 0 })
}

fn cases() -> Vec<Case> {
    use VerifyKind as K;
    vec![
        case(K::Key, "key 77", "no kind of key begins so", |_| {
            vec![(Bytes::from_static(b"\x77"), Some(Bytes::new()))]
        }),
        case(K::Key, "key 10ff", "wrong length", |_| {
            vec![(Bytes::from_static(b"\x10\xFF"), Some(Bytes::new()))]
        }),
        case(K::Key, "key 13", "the inverse key does not end", |s| {
            let whole = key::inverse(s.filled.shelf, s.filled.book, slot("home"), b"", b"");
            vec![(whole.slice(..30), Some(Bytes::new()))]
        }),
        case(K::Meta, "meta `unheard of`", "nothing has this name", |_| {
            vec![(key::meta("unheard of"), Some(Bytes::new()))]
        }),
        case(
            K::Meta,
            "meta `package/package:test:other`",
            "it is the package `package:test:l",
            |s| {
                let own = key::meta("package/package:test:library");
                let bytes = s.get(&own);
                vec![(own, None), (key::meta("package/package:test:other"), Some(bytes))]
            },
        ),
        case(K::Meta, "meta `package/package:test:library`", "do not have the digest", |s| {
            let own = key::meta("package/package:test:library");
            let mut stored: StoredPackage = postcard::from_bytes(&s.get(&own)).expect("stored");
            stored.sources[0].1 = stored.sources[0].1.replace("pages", "sheets");
            vec![(own, Some(encoded(&stored)))]
        }),
        case(K::Meta, "meta `package/package:test:library`", "it is package:test:library@2", |s| {
            let own = key::meta("package/package:test:library");
            let mut stored: StoredPackage = postcard::from_bytes(&s.get(&own)).expect("stored");
            stored.revision = "package:test:library@2".into();
            vec![(own, Some(encoded(&stored)))]
        }),
        case(K::Value, "meta `head`", "malformed", |s| {
            let head = [&s.get(&key::meta("head"))[..], &[0]].concat();
            vec![(key::meta("head"), Some(head.into()))]
        }),
        case(K::Transaction, "transaction 0000000000000000000000002D", "of another", |s| {
            let first = (1_u64, [0_u8; 32], Vec::<u8>::new());
            vec![(key::transaction(s.filled.transaction), Some(encoded(&first)))]
        }),
        case(K::Transaction, "commit 5", "there is no record of its transaction", |s| {
            vec![(key::transaction(s.filled.transaction), None)]
        }),
        case(K::Transaction, "transaction", "it is of another call than commit 5", |s| {
            let output_is_empty = s.get(&key::transaction(s.filled.transaction));
            let asked = 1..33;
            let mut first = output_is_empty.to_vec();
            first[asked].fill(0);
            vec![(key::transaction(s.filled.transaction), Some(first.into()))]
        }),
        case(K::Transaction, "transaction", "is not there", |_| {
            let first = (99_u64, [0_u8; 32], Vec::<u8>::new());
            vec![(key::transaction(Ulid(3)), Some(encoded(&first)))]
        }),
        case(K::UnknownAtom, "?", "no atom of the loaded definitions", |_| {
            vec![(key::object(nobody("atom:test:other")), Some(plain_header(1, 0)))]
        }),
        case(K::UnknownAtom, "state", "no atom of the loaded definitions", |_| {
            let object = nobody("atom:test:other");
            vec![(key::state(object, slot("data")), Some(Bytes::new()))]
        }),
        case(K::UnknownSlot, "state `?", "no such state", |s| {
            vec![(key::state(s.filled.book, slot("other")), Some(Bytes::new()))]
        }),
        case(K::UnknownSlot, "edge `data`", "no such edge", |s| {
            let value = Bytes::copy_from_slice(&s.filled.book.to_bytes());
            vec![(key::edge(s.filled.shelf, slot("data"), &[]), Some(value))]
        }),
        case(K::UnknownSlot, "stream", "no such stream", |s| {
            vec![(key::stream(s.filled.book, slot("events")), Some(encoded(&1_u64)))]
        }),
        case(K::Orphan, "state `data`", "an object that is not there", |_| {
            vec![(key::state(nobody(BOOK), slot("data")), Some(book_data("lost")))]
        }),
        case(K::Orphan, "cursor `reader`", "an object that is not there", |_| {
            vec![(key::cursor(nobody(SHELF), slot("events"), "reader"), Some(encoded(&0_u64)))]
        }),
        case(K::Value, "state `data`", "bytes follow the value", |s| {
            let key = key::state(s.filled.book, slot("data"));
            let value = [&s.get(&key)[..], &[0]].concat();
            vec![(key, Some(value.into()))]
        }),
        case(K::Value, "state `data`", "a number takes more bytes than it needs", |s| {
            let key = key::state(s.filled.book, slot("data"));
            let mut value = s.get(&key).to_vec();
            value.pop();
            value.extend([0x80, 0]);
            vec![(key, Some(value.into()))]
        }),
        case(K::Value, SHELF, "its bytes are malformed", |s| {
            vec![(key::object(s.filled.shelf), Some(Bytes::from_static(&[1])))]
        }),
        case(K::UnknownSlot, "edge `?", "no such edge", |s| {
            book_leading_to(s, &[("home", s.filled.shelf), ("other", s.filled.shelf)])
        }),
        case(K::Value, BOOK, "its bytes are malformed", |s| {
            let whole = s.get(&key::object(s.filled.book));
            vec![(key::object(s.filled.book), Some(whole.slice(..whole.len() - 1)))]
        }),
        case(K::Value, BOOK, "not in the order of their slots' tags", |s| {
            book_leading_to(s, &[("home", s.filled.shelf), ("home", s.filled.shelf)])
        }),
        case(K::Value, "edge `home`", "which its object's header has", |s| {
            let value = Bytes::copy_from_slice(&s.filled.shelf.to_bytes());
            vec![(key::edge(s.filled.book, slot("home"), &[]), Some(value))]
        }),
        case(K::Value, "edge `books`", "which only edges with one target have", |s| {
            let targets = [(slot("books"), s.filled.book)];
            vec![(key::object(s.filled.shelf), Some(encoded(&(1_u64, MILLIS, targets.to_vec()))))]
        }),
        case(K::Value, "edge `current`", "another form", |s| {
            let key = key::edge(s.filled.shelf, slot("current"), &[]);
            vec![(key, Some(Bytes::from_static(b"short")))]
        }),
        case(K::Value, "edge `current`", "another form", |s| {
            vec![(key::edge(s.filled.shelf, slot("current"), &[]), Some(Bytes::new()))]
        }),
        case(K::Value, "edge `current` at `x`", "another form", |s| {
            let value = Bytes::copy_from_slice(&s.filled.book.to_bytes());
            vec![(key::edge(s.filled.shelf, slot("current"), b"x"), Some(value))]
        }),
        case(K::Value, "inverse of `home`", "should hold none", |s| {
            let key = key::inverse(s.filled.shelf, s.filled.book, slot("home"), b"a\0b", &[]);
            vec![(key, Some(Bytes::from_static(b"!")))]
        }),
        case(K::Value, "offset 0", "its head is malformed", |s| {
            let key = key::event(s.filled.shelf, slot("events"), 0);
            vec![(key, Some(Bytes::new()))]
        }),
        case(K::Value, "offset 0", "at `title`", |s| {
            let key = key::event(s.filled.shelf, slot("events"), 0);
            let value = s.get(&key);
            vec![(key, Some(value.slice(..value.len() - 1)))]
        }),
        case(K::Value, "commit 2", "malformed", |_| {
            vec![(key::history(2), Some(Bytes::from_static(b"short")))]
        }),
        case(K::MissingState, BOOK, "it has no state `data`", |s| {
            vec![(key::state(s.filled.book, slot("data")), None)]
        }),
        case(K::MissingState, "state `note`", "commit 5 wrote it, and it is not there", |s| {
            vec![(key::state(s.filled.book, slot("note")), None)]
        }),
        case(K::Cardinality, BOOK, "no target of `home`, which has exactly one", |s| {
            book_leading_to(s, &[])
        }),
        case(K::Dangling, "state `data`", "at `favourite`: atom:test:book/0000", |s| {
            let value = shelf_data(Some(nobody(BOOK)), Vec::new());
            vec![(key::state(s.filled.shelf, slot("data")), Some(value))]
        }),
        case(K::Dangling, "edge `books` to atom:test:book/0000", "is not there", |s| {
            let at = key::at_target(nobody(BOOK));
            let entry = key::inverse(nobody(BOOK), s.filled.shelf, slot("books"), &[], &[]);
            vec![
                (key::edge(s.filled.shelf, slot("books"), &at), Some(Bytes::new())),
                (entry, Some(Bytes::new())),
            ]
        }),
        case(K::Dangling, "edge `home`", "atom:test:shelf/0000", |s| {
            book_leading_to(s, &[("home", nobody(SHELF))])
        }),
        case(K::Dangling, "commit 2", "is not there", |s| vec![(key::object(s.filled.book), None)]),
        case(K::WrongType, "state `data`", "is not an atom that implements Readable", |s| {
            let value = shelf_data(None, vec![s.filled.book, s.filled.shelf]);
            vec![(key::state(s.filled.shelf, slot("data")), Some(value))]
        }),
        case(K::WrongType, "edge `home`", "is not ShelfObject", |s| {
            book_leading_to(s, &[("home", s.filled.book)])
        }),
        case(K::MissingInverse, "edge `home`", "no entry of it under the key `a\0b`", |s| {
            let mut writes = book_leading_to(s, &[("home", s.another_shelf())]);
            writes.extend(s.as_shelf(s.another_shelf()));
            writes
        }),
        case(K::StrayInverse, "inverse of `home`", "is not there", |s| {
            let mut writes = book_leading_to(s, &[("home", s.another_shelf())]);
            writes.extend(s.as_shelf(s.another_shelf()));
            writes
        }),
        case(K::MissingInverse, "edge `home`", "no entry of it under the key `a\0b`", |s| {
            let key = key::inverse(s.filled.shelf, s.filled.book, slot("home"), b"a\0b", &[]);
            vec![(key, None)]
        }),
        case(K::MissingInverse, "edge `byTitle` at `book 1`", "has no entry of it", |s| {
            let at = key::edge(s.filled.shelf, slot("byTitle"), b"book 1");
            let bytes = s.get(&at)[..].try_into().expect("a reference");
            let target = ObjectRef::from_bytes(bytes);
            vec![(key::inverse(target, s.filled.shelf, slot("byTitle"), &[], b"book 1"), None)]
        }),
        case(K::StrayInverse, "inverse of `books`", "is not there", |s| {
            vec![(key::edge(s.filled.shelf, slot("books"), &key::at_target(s.filled.book)), None)]
        }),
        case(K::StrayInverse, "inverse of `current`", "is not there", |s| {
            vec![(key::edge(s.filled.shelf, slot("current"), &[]), None)]
        }),
        case(K::InverseKey, "key `a\0b`", "it should be under the key `other`", |s| {
            vec![(key::state(s.filled.book, slot("data")), Some(book_data("other")))]
        }),
        case(K::StreamGap, "offset 2", "the event before has offset 0", |s| {
            vec![(key::event(s.filled.shelf, slot("events"), 1), None)]
        }),
        case(K::StreamGap, "offset 1", "this is the first", |s| {
            vec![(key::event(s.filled.shelf, slot("events"), 0), None)]
        }),
        case(K::StreamLength, "stream `events`", "it says 3, and event 2 is not there", |s| {
            vec![(key::event(s.filled.shelf, slot("events"), 2), None)]
        }),
        case(K::StreamLength, "stream `events`", "its events go up to 3", |s| {
            vec![(key::stream(s.filled.shelf, slot("events")), Some(encoded(&2_u64)))]
        }),
        case(K::StreamLength, "stream `events`", "it says nothing", |s| {
            vec![(key::stream(s.filled.shelf, slot("events")), None)]
        }),
        case(K::Cursor, "cursor `reader`", "it stands at 4, the stream ends at 3", |s| {
            vec![(key::cursor(s.filled.shelf, slot("events"), "reader"), Some(encoded(&4_u64)))]
        }),
        case(K::Cursor, "cursor `reader`", "commit 7 wrote it, and it is not there", |s| {
            vec![(key::cursor(s.filled.shelf, slot("events"), "reader"), None)]
        }),
        case(K::Commit, SHELF, "commit 99, which wrote it, is not there", |s| {
            vec![(key::object(s.filled.shelf), Some(plain_header(99, MILLIS)))]
        }),
        case(K::Commit, SHELF, "its instant is not that of commit 1", |s| {
            vec![(key::object(s.filled.shelf), Some(plain_header(1, 5)))]
        }),
        case(K::Commit, BOOK, "commit 1 did not create it", |s| {
            vec![(key::object(s.filled.book), Some(plain_header(1, MILLIS)))]
        }),
        case(K::Commit, "atom:test:book/7ZZZ", "the last id that was given out", |s| {
            let late = ObjectRef { id: Ulid(u128::MAX), ..s.filled.book };
            vec![(key::object(late), Some(plain_header(2, MILLIS)))]
        }),
        case(K::Commit, "offset 1", "commit 3 wrote it, and 4 the event before it", |s| {
            let at = |offset| key::event(s.filled.shelf, slot("events"), offset);
            let (first, second) = (s.get(&at(0)), s.get(&at(1)));
            vec![(at(0), Some(s.get(&at(2)))), (at(1), Some(second)), (at(2), Some(first))]
        }),
        case(K::HistoryGap, "commit 4", "the commit before it is 2", |_| {
            vec![(key::history(3), None)]
        }),
        case(K::HistoryGap, "meta `head`", "the history ends at 6, the head says 7", |_| {
            vec![(key::history(7), None)]
        }),
        case(K::HistoryChain, "commit 2", "its hash is not that of what it says", |s| {
            // Behind the hash comes the instant, then the actor with its length.
            vec![s.flipped(&key::history(2), 32 + 7)]
        }),
        case(K::HistoryChain, "commit 3", "not chained to the entry before", |s| {
            vec![s.flipped(&key::history(2), 0)]
        }),
    ]
}

#[test]
fn a_sound_store_has_no_findings() {
    for books in [1, 3, 200] {
        let (store, _) = filled(books);
        let report = verify(&store);
        assert_eq!(report.findings, []);
        let books = u64::from(books);
        assert_eq!(report.counts.of(Kind::Object), 1 + books);
        // The way home of each book is in its header, and has an entry at the shelf like the rest.
        assert_eq!(report.counts.of(Kind::Edge), 2 * books + 1);
        assert_eq!(report.counts.of(Kind::Inverse), 3 * books + 1);
        assert_eq!(report.counts.of(Kind::Event), books);
        assert_eq!(report.counts.of(Kind::Cursor), 1);
        assert_eq!(report.counts.of(Kind::Transaction), 1);
        assert_eq!(report.counts.of(Kind::History), 4 + books);
    }
    let empty: Arc<dyn Store> = Arc::new(MemoryStore::new());
    assert!(verify(&empty).is_clean());
}

#[test]
fn each_piece_of_damage_is_found_by_name() {
    for Case { kind, said: (place, message), damage } in cases() {
        let (store, filled) = filled(3);
        let sound = Sound { store, filled };
        let writes = damage(&sound);
        write(sound.store.as_ref(), writes);
        let report = verify(&sound.store);
        let fits = |finding: &Finding| {
            finding.kind == kind
                && finding.place.contains(place)
                && finding.message.contains(message)
        };
        assert!(
            report.findings.iter().any(fits),
            "{kind} at {place}: {message}\nis not among {:#?}",
            report.findings
        );
    }
}

#[test]
fn every_kind_of_finding_has_a_case() {
    let mut covered: BTreeSet<VerifyKind> = cases().iter().map(|case| case.kind).collect();
    // These are shown below: they take another store, or another package.
    covered.extend([VerifyKind::Unreadable, VerifyKind::Invariant]);
    assert_eq!(covered, VerifyKind::ALL.iter().copied().collect());
    let words: BTreeSet<_> = VerifyKind::ALL.iter().map(|kind| kind.word()).collect();
    assert_eq!(words.len(), VerifyKind::ALL.len());
}

/// Whatever byte is changed of what the runtime says itself, something is found. What a package
/// put into its values is its own.
#[test]
fn no_changed_byte_goes_unseen() {
    let (store, _) = filled(1);
    let runtime = open(&store);
    let mut unseen = Vec::new();
    for (key, value) in entries(&store) {
        for at in 0..value.len() {
            let free = match Kind::of(key[0]).expect("a kind") {
                // Most of it keeps a store from being opened; the rest is shown above.
                Kind::Meta | Kind::State | Kind::Cursor => true,
                // Behind commit and instant comes the event itself.
                Kind::Event => at > 6,
                Kind::Transaction
                | Kind::Object
                | Kind::Edge
                | Kind::Inverse
                | Kind::Stream
                | Kind::History => false,
            };
            let mut changed = value.to_vec();
            changed[at] ^= 1;
            write(store.as_ref(), [(key.clone(), Some(changed.into()))]);
            let report = block_on(runtime.verify()).expect("readable");
            if report.is_clean() && !free {
                unseen.push((key.clone(), at));
            }
        }
        write(store.as_ref(), [(key, Some(value))]);
    }
    assert_eq!(unseen, []);
}

/// Whatever entry is missing, something is found.
#[test]
fn no_missing_entry_goes_unseen() {
    let (store, _) = filled(1);
    let runtime = open(&store);
    for (key, value) in entries(&store) {
        let kind = Kind::of(key[0]).expect("a kind");
        write(store.as_ref(), [(key.clone(), None)]);
        let report = block_on(runtime.verify()).expect("readable");
        assert!(!report.is_clean(), "{kind:?} {key:?}");
        write(store.as_ref(), [(key, Some(value))]);
    }
}

/// Finds one of the values of a store damaged, once it is said which.
#[derive(Default)]
struct Broken(OnceLock<Bytes>);

impl Broken {
    fn unless_damaged(&self, is_asked: bool) -> Result<(), StoreError> {
        if is_asked { Err(StoreError::Corrupt("a checksum does not fit".into())) } else { Ok(()) }
    }
}

impl Tap for Broken {
    fn got(&self, key: &[u8]) -> Result<(), StoreError> {
        self.unless_damaged(self.0.get().is_some_and(|it| it == key))
    }

    fn read(&self, page: &Page) -> Result<(), StoreError> {
        self.unless_damaged(page.entries.iter().any(|(key, _)| self.0.get() == Some(key)))
    }
}

#[test]
fn what_the_store_cannot_read_is_found_and_the_rest_is_checked() {
    let (store, filled) = filled(100);
    let stray = key::cursor(filled.shelf, slot("events"), "late");
    write(store.as_ref(), [(stray, Some(encoded(&1000_u64)))]);
    let broken = Arc::new(Broken(OnceLock::from(key::state(filled.book, slot("data")))));
    let broken: Arc<dyn Store> = Arc::new(Tapped::new(store, broken));
    let report = verify(&broken);
    let (last, unreadable) = report.findings.split_last().expect("findings");
    assert_eq!(last.kind, VerifyKind::Cursor, "which lies behind all of the damage");
    assert!(unreadable.iter().all(|it| it.kind == VerifyKind::Unreadable), "{unreadable:#?}");
    let place = |place: &str| unreadable.iter().any(|it| it.place.contains(place));
    assert!(place("behind atom:test:shelf") && place("edge `home`") && place("inverse of `home`"));
}

#[test]
fn of_a_head_that_cannot_be_read_nothing_is_said_of_objects() {
    let (store, _) = filled(3);
    let damaged = Arc::new(Broken::default());
    let broken: Arc<dyn Store> = Arc::new(Tapped::new(store, Arc::clone(&damaged)));
    let runtime = open(&broken);
    damaged.0.set(key::meta("head")).expect("it is said once");
    let report = block_on(runtime.verify()).expect("the rest can be read");
    let is_head = |it: &Finding| it.kind == VerifyKind::Unreadable && it.place == "meta `head`";
    assert!(report.findings.iter().any(is_head), "{:#?}", report.findings);
    assert!(report.findings.iter().all(|it| it.kind != VerifyKind::Commit), "no id is too late");
}

fn entries(store: &Arc<dyn Store>) -> Vec<(Bytes, Bytes)> {
    let view = store.view().expect("a view");
    let all = view.range(Bound::Unbounded, Bound::Unbounded, Direction::Forward, usize::MAX);
    all.expect("readable").entries
}

#[test]
fn a_package_adds_its_own_invariants() {
    fn short_titles(
        snapshot: &Snapshot<'_>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), quixos_runtime::CallError> {
        for book in snapshot.objects(Tag::of(BOOK), None, usize::MAX)? {
            let data: BookData =
                postcard::from_bytes(&snapshot.state_bytes(book, "data")?).expect("a book");
            if data.title.len() > 5 {
                found(Finding::breach(data.title.clone(), "the title is long"));
            }
        }
        Ok(())
    }
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    fill(&store, 2);
    let runtime = open_with(&store, package().with_invariant("titles are short", short_titles));
    let report = block_on(runtime.verify()).expect("readable");
    assert_eq!(
        report.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["invariant: book 1: titles are short: the title is long"]
    );
    runtime.close();

    // What the check cannot read is a finding of its own, beside that of the damage.
    let title = key::state(filled_book(&store), slot("data"));
    write(store.as_ref(), [(title, None)]);
    let runtime = open_with(&store, package().with_invariant("titles are short", short_titles));
    let report = block_on(runtime.verify()).expect("readable");
    let kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(
        (kinds.first(), kinds.last()),
        (Some(&VerifyKind::MissingState), Some(&VerifyKind::Invariant))
    );
    assert!(report.findings.last().expect("one").message.contains("cannot be checked"));
}

fn filled_book(store: &Arc<dyn Store>) -> ObjectRef {
    let runtime = open(store);
    let books = block_on(runtime.read(|snapshot| snapshot.objects(Tag::of(BOOK), None, 1)));
    runtime.close();
    books.expect("readable")[0]
}

#[test]
fn of_very_many_findings_the_first_are_listed() {
    let (store, filled) = filled(1);
    let strays = (0..3000_u128).map(|id| {
        let object = ObjectRef { id: Ulid(id), ..filled.book };
        (key::state(object, slot("data")), Some(book_data("lost")))
    });
    write(store.as_ref(), strays);
    let report = verify(&store);
    assert_eq!(report.findings.len(), Report::MOST);
    assert_eq!(report.omitted, 3000 - Report::MOST as u64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever lies under whatever key, it is reported, and nothing panics.
    #[test]
    fn random_damage_is_reported(
        damage in proptest::collection::vec(
            (any::<prop::sample::Index>(), 0_usize..40, any::<Vec<u8>>(), any::<bool>()),
            1..6,
        ),
    ) {
        let (store, _) = filled(1);
        let runtime = open(&store);
        let sound = entries(&store);
        let writes = damage.into_iter().map(|(entry, cut, bytes, in_key)| {
            let (key, value) = entry.get(&sound);
            let part = if in_key { key } else { value };
            let damaged: Bytes = [&part[..cut.min(part.len())], &bytes].concat().into();
            if in_key && damaged.first().is_some_and(|byte| *byte != 0xFF) {
                (damaged, value.clone())
            } else {
                (key.clone(), damaged)
            }
        });
        // Of two writes to one key the last counts.
        let writes: std::collections::BTreeMap<_, _> = writes.collect();
        write(store.as_ref(), writes.into_iter().map(|(key, value)| (key, Some(value))));
        let changed = entries(&store) != sound;
        let report = block_on(runtime.verify()).expect("the store can be read");
        prop_assert!(changed || report.is_clean());
    }
}
