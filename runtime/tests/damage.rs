//! Whatever a store keeps, damage to it is found.
//!
//! Planted in the files, below the store: each kind of key is lost, its value is lost, a byte of it
//! is flipped, it changes places with another. Planted above the store's checksums, where they fit:
//! values that change places, and entries of the history forged so well that their own hash is right.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod library;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use library::{block_on, fill, filled, open, package, write};
use quixos_runtime::key::{self, Kind};
use quixos_runtime::store::{Direction, RESERVED, SledOptions, SledStore, Store};
use quixos_runtime::verify::{Finding, VerifyKind};

/// What is done to an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Harm {
    /// The key is lost, and the value with it.
    Lost,
    /// The value is lost.
    Emptied,
    /// A byte of the value is another.
    Flipped,
    /// The value has changed places with that of another key, of the same kind where there is one.
    Exchanged,
}

impl Harm {
    const ALL: [Self; 4] = [Self::Lost, Self::Emptied, Self::Flipped, Self::Exchanged];

    /// Does it, below the store.
    fn plant(self, db: &sled::Db, key: &[u8], other: &[u8]) {
        let record = db.get(key).unwrap().unwrap();
        match self {
            Self::Lost => drop(db.remove(key).unwrap()),
            Self::Emptied => drop(db.insert(key, &[]).unwrap()),
            Self::Flipped => {
                let mut flipped = record.to_vec();
                let last = flipped.len() - 1;
                flipped[last] ^= 1;
                db.insert(key, flipped).unwrap();
            }
            Self::Exchanged => {
                let theirs = db.insert(other, record).unwrap().unwrap();
                db.insert(key, theirs).unwrap();
            }
        }
    }
}

/// Returns what one of the findings must be. A kind of key that is new must be added here.
fn found_as(kind: Kind, harm: Harm) -> &'static [VerifyKind] {
    use VerifyKind as K;
    if harm != Harm::Lost {
        return &[K::Unreadable];
    }
    match kind {
        // The head of the history.
        Kind::Meta => &[K::HistoryGap],
        Kind::Transaction => &[K::Transaction],
        Kind::Object => &[K::Orphan],
        Kind::State => &[K::MissingState],
        Kind::Edge => &[K::StrayInverse],
        Kind::Inverse => &[K::MissingInverse],
        Kind::Stream => &[K::StreamLength],
        Kind::Event => &[K::StreamGap, K::StreamLength],
        Kind::Cursor => &[K::Cursor],
        Kind::History => &[K::HistoryGap],
    }
}

/// What came of opening a damaged store and checking it.
enum Outcome {
    Found(Vec<Finding>),
    Refused(String),
    /// Opening wrote again what was missing.
    Mended,
}

fn everything(store: &dyn Store) -> Vec<(Bytes, Bytes)> {
    let view = store.view().unwrap();
    let all = view.range(Bound::Unbounded, Bound::Unbounded, Direction::Forward, usize::MAX);
    all.unwrap().entries
}

fn options() -> SledOptions {
    SledOptions { free_space_floor: 0, ..SledOptions::default() }
}

fn look(folder: &Path, sound: &[(Bytes, Bytes)]) -> Outcome {
    let store: Arc<dyn Store> = Arc::new(SledStore::open(folder, options()).unwrap());
    let runtime = match library::builder(package()).open(Arc::clone(&store)) {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let report = block_on(runtime.verify()).unwrap();
    runtime.close();
    if report.is_clean() {
        assert_eq!(everything(store.as_ref()), sound, "nothing was found");
        return Outcome::Mended;
    }
    Outcome::Found(report.findings)
}

/// Opens sled's files, which no store has open, once those who had have let go of them.
fn tamper(folder: &Path, change: impl FnOnce(&sled::Db)) {
    let config = sled::Config::new().path(folder.join("data")).segment_size(8 << 20);
    let until = Instant::now() + Duration::from_secs(10);
    let db = loop {
        match config.open() {
            Err(sled::Error::Io(_)) if Instant::now() < until => thread::yield_now(),
            opened => break opened.unwrap(),
        }
    };
    change(&db);
    db.flush().unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Returns the keys to be harmed: of each kind the first, and what is said of the history's head; all
/// of them, if `QUIXOS_DAMAGE` is `all`.
fn chosen(sound: &[(Bytes, Bytes)]) -> Vec<Bytes> {
    let is_all = std::env::var("QUIXOS_DAMAGE").is_ok_and(|value| value == "all");
    let mut seen = BTreeSet::new();
    let keys = sound.iter().map(|(key, _)| key.clone());
    keys.filter(|key| {
        is_all
            || if key[0] == Kind::Meta as u8 {
                *key == key::meta("head")
            } else {
                seen.insert(key[0])
            }
    })
    .collect()
}

#[test]
fn each_kind_of_key_may_be_harmed_in_the_files() {
    let whole = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(SledStore::open(whole.path(), options()).unwrap());
    fill(&store, 2);
    let sound = everything(store.as_ref());
    drop(store);
    let keys = chosen(&sound);
    let mut kinds = BTreeSet::new();
    let mut told: BTreeMap<&str, u64> = BTreeMap::new();
    for key in &keys {
        let kind = Kind::of(key[0]).unwrap();
        kinds.insert(kind);
        let others = sound.iter().map(|(other, _)| other).filter(|other| *other != key);
        let other = others.max_by_key(|other| other[0] == key[0]).unwrap();
        for harm in Harm::ALL {
            let folder = tempfile::tempdir().unwrap();
            copy(whole.path(), folder.path());
            tamper(folder.path(), |db| harm.plant(db, key, other));
            let outcome = look(folder.path(), &sound);
            let word = match &outcome {
                Outcome::Found(findings) => {
                    let expected = found_as(kind, harm);
                    assert!(
                        findings.iter().any(|it| expected.contains(&it.kind)),
                        "{kind:?} {key:?} {harm:?}: none of {expected:?} in {findings:#?}"
                    );
                    "found"
                }
                // What opening reads, it does not open without.
                Outcome::Refused(why) => {
                    assert_eq!(kind, Kind::Meta, "{why}");
                    let says = if harm == Harm::Lost { "in which format" } else { "kind 0x01" };
                    assert!(why.contains(says), "{harm:?}: {why}");
                    "refused"
                }
                Outcome::Mended => {
                    assert_eq!((kind, harm), (Kind::Meta, Harm::Lost), "{key:?}");
                    "written again"
                }
            };
            *told.entry(word).or_default() += 1;
        }
    }
    assert_eq!(kinds, Kind::ALL.into_iter().collect(), "a store has every kind of key");
    println!("{} keys, each harmed in {} ways: {told:?}", keys.len(), Harm::ALL.len());
}

/// Where checksums fit, what a value says of itself, or another of it, does not.
#[test]
fn values_that_change_places_are_found() {
    let (store, _) = filled(2);
    let runtime = open(&store);
    let sound = everything(store.as_ref());
    let mut exchanged = 0;
    for (at, (first, one)) in sound.iter().enumerate() {
        for (second, other) in &sound[at + 1..] {
            if first[0] != second[0] || one == other {
                continue;
            }
            let swap = [(first.clone(), Some(other.clone())), (second.clone(), Some(one.clone()))];
            write(store.as_ref(), swap);
            let report = block_on(runtime.verify()).unwrap();
            assert!(!report.is_clean(), "{first:?} and {second:?}");
            let back = [(first.clone(), Some(one.clone())), (second.clone(), Some(other.clone()))];
            write(store.as_ref(), back);
            exchanged += 1;
        }
    }
    assert!(block_on(runtime.verify()).unwrap().is_clean());
    assert!(exchanged > 20, "{exchanged} pairs");
}

/// Whoever forges an entry may hash it anew; who comes after it still says what was there.
#[test]
fn a_forged_entry_is_found_though_its_own_hash_is_right() {
    let (store, _) = filled(2);
    let runtime = open(&store);
    let entries = everything(store.as_ref());
    let history: Vec<_> = entries.iter().filter(|(key, _)| key[0] == Kind::History as u8).collect();
    for (at, (key, entry)) in history.iter().enumerate() {
        let commit = at as u64 + 1;
        let mut body = entry[32..].to_vec();
        let actor = body.windows(4).position(|it| it == b"anna").unwrap();
        body[actor] = b'h';
        let hash = blake3::hash(&[&commit.to_be_bytes()[..], &body].concat());
        let forged: Bytes = [&hash.as_bytes()[..], &body].concat().into();
        write(store.as_ref(), [(key.clone(), Some(forged))]);
        let report = block_on(runtime.verify()).unwrap();
        let place = match history.len() - at {
            1 => "meta `head`".to_owned(),
            _ => format!("commit {}", commit + 1),
        };
        let is_it = |it: &Finding| it.kind == VerifyKind::HistoryChain && it.place == place;
        assert!(report.findings.iter().any(is_it), "{commit}: {:#?}", report.findings);
        write(store.as_ref(), [(key.clone(), Some(entry.clone()))]);
    }
    assert!(block_on(runtime.verify()).unwrap().is_clean());
}

/// A store has keys of its own besides, which nobody else sees: what is harmed in them keeps it from
/// being opened, or is found by whoever asks.
#[test]
fn the_kinds_of_key_here_are_all_there_are() {
    let whole = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(SledStore::open(whole.path(), options()).unwrap());
    fill(&store, 2);
    drop(store);
    let mut first = BTreeSet::new();
    tamper(whole.path(), |db| first.extend(db.iter().keys().map(|key| key.unwrap()[0])));
    let known = Kind::ALL.iter().map(|kind| *kind as u8).chain([RESERVED]);
    assert_eq!(first, known.collect());
}
