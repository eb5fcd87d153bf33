//! Damaged files. A damaged store says so, or still has everything; it never answers wrongly.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod store_support;

use std::fs::{self, OpenOptions};
use std::ops::Bound;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use quixos_runtime::store::{
    Batch, Direction, Durability, OpenError, SledStore, Store, StoreError,
};
use store_support::{copy, get, open, options, put};
use tempfile::tempdir;
use ulid::Ulid;

fn value(number: u32) -> Bytes {
    let length = if number.is_multiple_of(10) { 100_000 } else { 300 };
    Bytes::from(format!("{number:04}").repeat(length / 4))
}

fn key(number: u32) -> Bytes {
    Bytes::from(format!("\x07{number:04}"))
}

/// Makes a store of some segments.
fn fill(path: &Path) {
    let store = open(path);
    for start in (0..300).step_by(10) {
        let writes = (start..start + 10).map(|number| (key(number), Some(value(number)))).collect();
        let transactions = vec![Ulid::from_parts(start.into(), 0)];
        let batch = Batch { writes, transactions, ..Batch::default() };
        store.commit(batch, Durability::Durable).unwrap();
    }
}

/// Reads all of a store that may be damaged. Every answer is right, or an error. Returns whether
/// all was there.
fn read_all(store: &SledStore) -> bool {
    let view = store.view().unwrap();
    let mut whole = true;
    for number in 0..300 {
        match view.get(&key(number)) {
            Ok(found) => assert!(found == Some(value(number)), "a wrong answer for {number}"),
            Err(StoreError::Corrupt(_) | StoreError::Io(_)) => whole = false,
            Err(error) => panic!("{error}"),
        }
    }
    for direction in [Direction::Forward, Direction::Backward] {
        match view.range(Bound::Unbounded, Bound::Unbounded, direction, usize::MAX) {
            Ok(page) => {
                let mut entries = page.entries;
                if direction == Direction::Backward {
                    entries.reverse();
                }
                assert!(
                    entries.into_iter().eq((0..300).map(|n| (key(n), value(n)))),
                    "wrong range"
                );
            }
            Err(StoreError::Corrupt(_) | StoreError::Io(_)) => whole = false,
            Err(error) => panic!("{error}"),
        }
    }
    whole
}

#[test]
fn a_shortened_log_is_damage_or_has_everything() {
    let folder = tempdir().unwrap();
    let whole = folder.path().join("whole");
    fill(&whole);
    let length = fs::metadata(whole.join("data/db")).unwrap().len();
    let mut refused = 0;
    for step in 0..12 {
        let cut = folder.path().join("cut");
        copy(&whole, &cut);
        let log = OpenOptions::new().write(true).open(cut.join("data/db")).unwrap();
        log.set_len(length * step / 12).unwrap();
        match SledStore::open(&cut, options()) {
            Ok(store) => assert!(read_all(&store), "data is missing after a cut at {step}/12"),
            Err(OpenError::Corrupt { .. } | OpenError::Io { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        fs::remove_dir_all(cut).unwrap();
    }
    assert!(refused >= 11, "only {refused} cuts were found");
}

#[test]
fn flipped_bits_in_the_log_never_give_a_wrong_answer() {
    let folder = tempdir().unwrap();
    let whole = folder.path().join("whole");
    fill(&whole);
    let log = fs::read(whole.join("data/db")).unwrap();
    let mut found = 0;
    for step in 0..40 {
        let flipped = folder.path().join("flipped");
        copy(&whole, &flipped);
        let mut log = log.clone();
        let at = (log.len() / 40 * step + step * 977) % log.len();
        log[at] ^= 1 << (step % 8);
        fs::write(flipped.join("data/db"), log).unwrap();
        match SledStore::open(&flipped, options()) {
            Ok(store) => found += u32::from(!read_all(&store)),
            Err(OpenError::Corrupt { .. } | OpenError::Io { .. }) => found += 1,
            Err(error) => panic!("{error}"),
        }
        fs::remove_dir_all(flipped).unwrap();
    }
    assert!(found > 0, "no flip hit anything");
}

/// Changes a record behind the store's back, so that sled finds nothing wrong with it.
fn tamper(path: &Path, change: impl FnOnce(&sled::Db)) {
    let config = sled::Config::new().path(path.join("data")).segment_size(8 << 20);
    // Threads of the sled just closed hold its lock a moment longer.
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

fn flip(db: &sled::Db, key: &[u8], at: usize) {
    let mut record = db.get(key).unwrap().unwrap().to_vec();
    record[at] ^= 0x10;
    db.insert(key, record).unwrap();
}

fn corrupt<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Err(StoreError::Corrupt(what)) => what,
        other => panic!("expected damage, found {other:?}"),
    }
}

#[test]
fn a_changed_value_is_found_by_its_checksum() {
    let folder = tempdir().unwrap();
    put(&open(folder.path()), "\x07key", "value").unwrap();
    for at in 0..14 {
        tamper(folder.path(), |db| flip(db, b"\x07key", at));
        let store = open(folder.path());
        let view = store.view().unwrap();
        let expected =
            "the value under a key of kind 0x07 (076b6579) is not what was written there";
        assert_eq!(corrupt(view.get(b"\x07key")), expected);
        let all = view.range(Bound::Unbounded, Bound::Unbounded, Direction::Forward, 1);
        assert_eq!(corrupt(all), expected);
        drop((view, store));
        tamper(folder.path(), |db| flip(db, b"\x07key", at));
    }
    assert_eq!(get(&open(folder.path()), "\x07key").as_deref(), Some("value"));
}

#[test]
fn a_damaged_value_can_be_written_again() {
    let folder = tempdir().unwrap();
    put(&open(folder.path()), "a", "1").unwrap();
    tamper(folder.path(), |db| flip(db, b"a", 9));
    let store = open(folder.path());
    put(&store, "a", "2").unwrap();
    assert_eq!(get(&store, "a").as_deref(), Some("2"));
}

#[test]
fn a_value_under_another_key_is_found() {
    let folder = tempdir().unwrap();
    put(&open(folder.path()), "a", "1").unwrap();
    tamper(folder.path(), |db| {
        let record = db.get(b"a").unwrap().unwrap();
        db.insert(b"b", record).unwrap();
    });
    let store = open(folder.path());
    assert!(corrupt(store.view().unwrap().get(b"b")).contains("kind 0x62"));
}

#[test]
fn a_part_of_an_older_value_is_found() {
    let folder = tempdir().unwrap();
    let (old, new) = ("1".repeat(100_000), "2".repeat(100_000));
    put(&open(folder.path()), "a", &old).unwrap();
    let part = [&[0xFF, 2][..], b"a", &1u32.to_be_bytes()].concat();
    let mut kept = None;
    tamper(folder.path(), |db| kept = db.get(&part).unwrap());
    put(&open(folder.path()), "a", &new).unwrap();
    tamper(folder.path(), |db| drop(db.insert(&part, kept.unwrap()).unwrap()));
    let store = open(folder.path());
    let what = corrupt(store.view().unwrap().get(b"a"));
    assert!(what.starts_with("a part of the value under a key of kind 0x61 (61)"), "{what}");

    tamper_missing(folder.path(), store, &part);
}

fn tamper_missing(path: &Path, store: SledStore, part: &[u8]) {
    drop(store);
    tamper(path, |db| drop(db.remove(part).unwrap()));
    let store = open(path);
    assert!(corrupt(store.view().unwrap().get(b"a")).starts_with("a part of the value"));
}

#[test]
fn damage_to_what_the_store_keeps_for_itself_is_found() {
    let folder = tempdir().unwrap();
    let transaction = Ulid::from_parts(1, 2);
    let store = open(folder.path());
    let batch = Batch { transactions: vec![transaction], ..Batch::default() };
    store.commit(batch, Durability::Durable).unwrap();
    drop(store);
    let outcome = [&[0xFF, 1][..], &transaction.to_bytes()].concat();
    tamper(folder.path(), |db| flip(db, &outcome, 10));
    let what = corrupt(open(folder.path()).outcome(transaction));
    assert!(what.contains(&format!("the outcome of transaction {transaction}")), "{what}");

    for change in [
        |db: &sled::Db| flip(db, &[0xFF, 0], 12),
        |db: &sled::Db| drop(db.remove([0xFF, 0]).unwrap()),
    ] {
        tamper(folder.path(), change);
        let error = SledStore::open(folder.path(), options()).unwrap_err();
        assert!(error.to_string().contains("the number of the newest batch"), "{error}");
    }
}

#[test]
fn a_damaged_slot_of_the_progress_file_leaves_the_other() {
    let folder = tempdir().unwrap();
    let progress = folder.path().join("progress");
    put(&open(folder.path()), "a", "1").unwrap();
    let whole = fs::read(&progress).unwrap();
    for slot in [0, 4096] {
        let mut bytes = whole.clone();
        bytes[slot + 3] ^= 1;
        fs::write(&progress, &bytes).unwrap();
        drop(open(folder.path()));
    }
    fs::write(&progress, vec![0; whole.len()]).unwrap();
    let error = SledStore::open(folder.path(), options()).unwrap_err();
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
}

#[test]
fn no_part_of_a_long_value_outlives_it() {
    let folder = tempdir().unwrap();
    let records = |path: &Path| {
        let mut count = 0;
        tamper(path, |db| count = db.len());
        count
    };
    for (length, parts) in [(300_000, 10), (70_000, 3), (32_759, 0), (32_760, 2), (0, 0)] {
        put(&open(folder.path()), "a", &"1".repeat(length)).unwrap();
        assert_eq!(records(folder.path()), 2 + parts, "a value of {length} bytes");
    }
    put(&open(folder.path()), "a", &"1".repeat(70_000)).unwrap();
    let deletion = store_support::batch(&[("a", None)]);
    open(folder.path()).commit(deletion, Durability::Durable).unwrap();
    assert_eq!(records(folder.path()), 1, "the number of the newest batch is left");
    // Nor where the store is the same that wrote it.
    let store = open(folder.path());
    put(&store, "a", &"1".repeat(70_000)).unwrap();
    put(&store, "a", &"1".repeat(40_000)).unwrap();
    drop(store);
    assert_eq!(records(folder.path()), 4, "a value of 40000 bytes in two parts");
    let store = open(folder.path());
    put(&store, "b", &"1".repeat(70_000)).unwrap();
    put(&store, "b", "1").unwrap();
    drop(store);
    assert_eq!(records(folder.path()), 5, "beside it a short value");
}

#[test]
fn large_values_stay_out_of_files_that_sled_does_not_sync() {
    let folder = tempdir().unwrap();
    let store = open(folder.path());
    let limits = store.limits();
    for round in 0..3u8 {
        let writes = (0..40u8).map(|number| {
            let mut key = vec![b'k'; limits.key];
            key[0] = number;
            (Bytes::from(key), Some(Bytes::from(vec![round; 700_000])))
        });
        let batch = Batch { writes: writes.collect(), ..Batch::default() };
        store.commit(batch, Durability::Durable).unwrap();
    }
    drop(store);
    assert_eq!(fs::read_dir(folder.path().join("data/blobs")).unwrap().count(), 0);
}
