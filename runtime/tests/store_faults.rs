//! A disk that fails, or is full. What was answered stays true; what was not is asked for later.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod store_support;

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use quixos_runtime::store::{
    Batch, CommitError, Disk, Durability, Health, OpenError, SledOptions, SledStore, Store,
    StoreError,
};
use store_support::{batch, child, child_folder, copy, everything, get, open, put};
use tempfile::{TempDir, tempdir};
use ulid::Ulid;

/// A disk that fails when it is told to.
#[derive(Debug)]
struct FaultyDisk {
    free: AtomicU64,
    /// The free space cannot be told.
    is_gone: AtomicBool,
    /// So many syncs go well; below nothing, all do.
    good_syncs: AtomicI64,
    good_writes: AtomicI64,
    syncs: AtomicU64,
    /// Bytes read.
    read: AtomicU64,
    /// Whoever syncs waits while a test holds this.
    gate: Mutex<()>,
}

impl FaultyDisk {
    fn new() -> Arc<FaultyDisk> {
        Arc::new(FaultyDisk {
            free: AtomicU64::new(u64::MAX),
            is_gone: AtomicBool::new(false),
            good_syncs: AtomicI64::new(-1),
            good_writes: AtomicI64::new(-1),
            syncs: AtomicU64::new(0),
            read: AtomicU64::new(0),
            gate: Mutex::new(()),
        })
    }
}

fn fail_after(left: &AtomicI64) -> io::Result<()> {
    let left = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
        Some(if left > 0 { left - 1 } else { left })
    });
    if left == Ok(0) { Err(io::Error::other("the disk is broken")) } else { Ok(()) }
}

impl Disk for FaultyDisk {
    fn free(&self, _: &Path) -> io::Result<u64> {
        if self.is_gone.load(Ordering::SeqCst) {
            return Err(io::Error::other("the disk is gone"));
        }
        Ok(self.free.load(Ordering::SeqCst))
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        drop(self.gate.lock().unwrap());
        fail_after(&self.good_syncs)?;
        file.sync_data()
    }

    fn read_at(&self, file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut there = 0;
        loop {
            let at = offset + there as u64;
            match std::os::unix::fs::FileExt::read_at(file, &mut bytes[there..], at)? {
                0 => break,
                read => there += read,
            }
        }
        self.read.fetch_add(there as u64, Ordering::SeqCst);
        Ok(there)
    }

    fn write(&self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        fail_after(&self.good_writes)?;
        std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
    }
}

fn faulty() -> (TempDir, Arc<FaultyDisk>, SledStore) {
    let folder = tempdir().unwrap();
    let disk = FaultyDisk::new();
    let options =
        SledOptions { cache_bytes: 16 << 20, free_space_floor: 1000, ..SledOptions::default() };
    let store = SledStore::open_on(folder.path(), options, disk.clone()).unwrap();
    (folder, disk, store)
}

fn transaction(number: u64) -> Ulid {
    Ulid::from_parts(number, 0)
}

#[test]
fn a_durable_answer_comes_after_a_sync() {
    let (_folder, disk, store) = faulty();
    let syncs = || disk.syncs.load(Ordering::SeqCst);
    for number in 1..4 {
        let before = syncs();
        put(&store, "a", "1").unwrap();
        assert!(syncs() > before, "answered without the disk");
        assert_eq!(store.durable(), number);
    }
    store.commit(batch(&[("a", Some("2"))]), Durability::Buffered).unwrap();
    store.sync().unwrap();
    assert_eq!(store.durable(), 4);
}

#[test]
fn while_the_disk_works_a_batch_is_seen_but_not_yet_true() {
    let (_folder, disk, store) = faulty();
    put(&store, "a", "1").unwrap();
    let named = Batch { transactions: vec![transaction(1)], ..batch(&[("a", Some("2"))]) };
    let before = store.view().unwrap();
    let gate = disk.gate.lock().unwrap();
    let syncs = disk.syncs.load(Ordering::SeqCst);
    let commit = store.submit(named, Durability::Durable).unwrap();
    thread::scope(|scope| {
        let written = scope.spawn(|| commit.wait());
        while disk.syncs.load(Ordering::SeqCst) == syncs {
            thread::yield_now();
        }
        assert_eq!(get(&store, "a").as_deref(), Some("2"));
        assert_eq!(before.get(b"a"), Err(StoreError::Expired));
        assert_eq!(store.outcome(transaction(1)), Ok(None));
        assert_eq!((store.view().unwrap().version(), store.durable()), (2, 1));
        assert!(!written.is_finished());
        drop(gate);
        assert_eq!(written.join().unwrap(), Ok(2));
    });
    assert_eq!(store.outcome(transaction(1)), Ok(Some(2)));
    assert_eq!(store.durable(), 2);
}

#[test]
fn a_failed_sync_leaves_one_outcome_open_and_stops_the_store() {
    let (folder, disk, store) = faulty();
    put(&store, "a", "1").unwrap();
    disk.good_syncs.store(0, Ordering::SeqCst);
    let doubtful = Batch { transactions: vec![transaction(1)], ..batch(&[("a", Some("2"))]) };
    let commit = store.submit(doubtful, Durability::Durable).unwrap();
    let view = store.view().unwrap();
    assert!(matches!(commit.wait(), Err(CommitError::Unknown(_))));

    // Were the sync tried again it would succeed, and tell a lie.
    disk.good_syncs.store(-1, Ordering::SeqCst);
    let syncs = disk.syncs.load(Ordering::SeqCst);
    let refused = put(&store, "a", "3").unwrap_err();
    assert!(matches!(&refused, CommitError::Poisoned(why) if why.contains("the disk is broken")));
    assert!(matches!(store.sync(), Err(CommitError::Poisoned(_))));
    assert!(matches!(store.health(), Health::Poisoned { reason } if reason.contains("broken")));
    assert!(matches!(store.view(), Err(StoreError::Closed(_))), "what may be lost is not shown");
    assert!(matches!(view.get(b"a"), Err(StoreError::Closed(_))), "nor by who looked before");
    assert!(matches!(store.outcome(transaction(1)), Err(StoreError::Closed(_))), "nobody knows");
    assert_eq!(store.durable(), 1);
    drop((view, store));
    assert_eq!(disk.syncs.load(Ordering::SeqCst), syncs, "nothing was synced again");

    let store = open(folder.path());
    match store.outcome(transaction(1)).unwrap() {
        Some(2) => assert_eq!(get(&store, "a").as_deref(), Some("2")),
        None => assert_eq!(get(&store, "a").as_deref(), Some("1")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failed_sync_fails_what_was_written_while_it_was_under_way() {
    let (_folder, disk, store) = faulty();
    put(&store, "a", "1").unwrap();
    disk.good_syncs.store(0, Ordering::SeqCst);
    let written = ["2", "3"].map(|value| {
        let doubtful = Batch { transactions: vec![transaction(2)], ..batch(&[("a", Some(value))]) };
        store.submit(doubtful, Durability::Durable).unwrap().write().unwrap()
    });
    assert_eq!(store.outcome(transaction(2)), Ok(None), "not before its `wait` returns");
    for written in written {
        assert!(matches!(written.wait(), Err(CommitError::Unknown(_))));
    }
    assert_eq!(store.durable(), 1);
    assert!(matches!(put(&store, "a", "4"), Err(CommitError::Poisoned(_))));
}

#[test]
fn a_failed_sync_of_what_was_buffered_stops_the_store() {
    let (_folder, disk, store) = faulty();
    store.commit(batch(&[("a", Some("1"))]), Durability::Buffered).unwrap();
    disk.good_syncs.store(0, Ordering::SeqCst);
    assert!(matches!(store.sync(), Err(CommitError::Poisoned(_))));
    assert!(matches!(put(&store, "a", "2"), Err(CommitError::Poisoned(_))));
    assert_eq!(store.durable(), 0);
}

#[test]
fn known_outcomes_can_be_asked_of_a_stopped_store() {
    let (_folder, disk, store) = faulty();
    let named = Batch { transactions: vec![transaction(1)], ..batch(&[("a", Some("1"))]) };
    store.commit(named, Durability::Durable).unwrap();
    disk.good_syncs.store(0, Ordering::SeqCst);
    put(&store, "a", "2").unwrap_err();
    assert_eq!(store.outcome(transaction(1)), Ok(Some(1)));
    assert!(matches!(store.outcome(transaction(2)), Err(StoreError::Closed(_))));
}

#[test]
fn a_buffered_outcome_is_known_once_it_is_told() {
    let (_folder, disk, store) = faulty();
    // Meanwhile nothing becomes durable.
    let gate = disk.gate.lock().unwrap();
    let named = Batch { transactions: vec![transaction(1)], ..batch(&[("a", Some("1"))]) };
    let written = store.submit(named, Durability::Buffered).unwrap().write().unwrap();
    assert_eq!(store.outcome(transaction(1)), Ok(None), "nobody was told yet");
    assert_eq!(written.wait(), Ok(1));
    assert_eq!((store.outcome(transaction(1)), store.durable()), (Ok(Some(1)), 0));
    drop(gate);
}

#[test]
fn who_waits_for_a_turn_is_told_that_the_store_stopped() {
    let (_folder, disk, store) = faulty();
    disk.good_syncs.store(0, Ordering::SeqCst);
    let commit = store.submit(batch(&[("a", Some("1"))]), Durability::Durable).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| put(&store, "b", "1"));
        thread::sleep(Duration::from_millis(50));
        assert!(matches!(commit.wait(), Err(CommitError::Unknown(_))));
        // Whether it still waited, or was written while the disk failed.
        let told = waiting.join().unwrap();
        assert!(
            matches!(told, Err(CommitError::Poisoned(_) | CommitError::Unknown(_))),
            "{told:?}"
        );
    });
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_room() {
    let (folder, disk, store) = faulty();
    put(&store, "a", "1").unwrap();
    disk.free.store(500, Ordering::SeqCst);
    let before = store.view().unwrap();
    let commit = store.submit(batch(&[("a", Some("2"))]), Durability::Durable).unwrap();
    let early = store.view().unwrap();
    let refused = commit.wait().unwrap_err();
    assert!(matches!(refused, CommitError::NoSpace { free: 500, floor: 1008 }), "{refused:?}");
    assert_eq!(early.get(b"a"), Err(StoreError::Expired), "of a batch that was not written");
    assert_eq!(before.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(store.health(), Health::NoSpace { free: 500, floor: 1000 });
    assert_eq!(get(&store, "a").as_deref(), Some("1"), "reads go on");

    disk.free.store(1000, Ordering::SeqCst);
    assert_eq!(store.health(), Health::Good, "as much as there must be");
    disk.free.store(1007, Ordering::SeqCst);
    assert!(matches!(put(&store, "a", "3"), Err(CommitError::NoSpace { .. })));
    disk.free.store(1008, Ordering::SeqCst);
    assert_eq!(put(&store, "a", "3"), Ok(2), "to the very byte");
    disk.free.store(10_000, Ordering::SeqCst);
    let large = "x".repeat(5_000);
    assert!(
        matches!(put(&store, "b", &large), Err(CommitError::NoSpace { .. })),
        "sled needs more"
    );
    drop((before, early, store));
    assert_eq!(get(&open(folder.path()), "a").as_deref(), Some("3"));
}

#[test]
fn a_disk_that_is_gone_stops_the_store_before_it_writes() {
    let (_folder, disk, store) = faulty();
    disk.is_gone.store(true, Ordering::SeqCst);
    assert!(matches!(put(&store, "a", "1"), Err(CommitError::Poisoned(_))));
    assert_eq!(store.durable(), 0);
}

#[test]
fn a_progress_file_that_cannot_be_written_stops_the_store() {
    let (_folder, disk, store) = faulty();
    put(&store, "a", "1").unwrap();
    disk.good_writes.store(0, Ordering::SeqCst);
    let until = Instant::now() + Duration::from_secs(10);
    while store.health() == Health::Good {
        assert!(Instant::now() < until, "nobody wrote the file");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(matches!(put(&store, "a", "2"), Err(CommitError::Poisoned(_))));
}

#[test]
fn a_disk_that_fails_while_a_store_is_made_or_opened_is_an_error() {
    for good_syncs in 0..3 {
        let folder = tempdir().unwrap();
        let disk = FaultyDisk::new();
        disk.good_syncs.store(good_syncs, Ordering::SeqCst);
        let options = SledOptions { free_space_floor: 0, ..SledOptions::default() };
        let error = SledStore::open_on(folder.path(), options.clone(), disk.clone()).unwrap_err();
        assert!(matches!(error, OpenError::Io { .. }), "{error}");
        put(&open(folder.path()), "a", "1").unwrap();
        disk.good_syncs.store(0, Ordering::SeqCst);
        SledStore::open_on(folder.path(), options, disk).unwrap_err();
        assert_eq!(get(&open(folder.path()), "a").as_deref(), Some("1"));
    }
}

#[test]
fn what_sled_has_summed_up_is_not_read_again_on_opening() {
    let (folder, _disk, store) = faulty();
    let long = "x".repeat(1 << 20);
    for number in 0..40 {
        put(&store, &format!("key-{number}"), &long).unwrap();
    }
    drop(store);
    let log = std::fs::metadata(folder.path().join("data/db")).unwrap().len();
    assert!(log > 40 << 20, "several segments: {log}");
    let read_on_opening = || {
        let disk = FaultyDisk::new();
        let options = SledOptions { free_space_floor: 0, ..SledOptions::default() };
        let store = SledStore::open_on(folder.path(), options, disk.clone()).unwrap();
        assert_eq!(get(&store, "key-39").as_deref(), Some(long.as_str()));
        disk.read.load(Ordering::SeqCst)
    };
    // Nothing was summed up yet; opening does.
    assert!(read_on_opening() >= log);
    let again = read_on_opening();
    assert!(again <= log / 2, "the last segments, and the headers of all: {again}");
    assert!(again > 1 << 20, "the last segments: {again}");
}

#[test]
fn what_is_buffered_becomes_durable_by_itself() {
    let (_folder, _disk, store) = faulty();
    store.commit(batch(&[("a", Some("1"))]), Durability::Buffered).unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while store.durable() < 1 {
        assert!(Instant::now() < until, "nobody made it durable");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_older_state_of_sleds_files_is_missed() {
    let folder = tempdir().unwrap();
    let (path, old) = (folder.path().join("store"), folder.path().join("old"));
    put(&open(&path), "a", "1").unwrap();
    copy(&path.join("data"), &old);
    put(&open(&path), "a", "2").unwrap();
    std::fs::remove_dir_all(path.join("data")).unwrap();
    copy(&old, &path.join("data"));
    let error = SledStore::open(&path, store_support::options()).unwrap_err();
    assert!(matches!(error, OpenError::Corrupt { .. }));
    assert!(error.to_string().contains("it ends with batch 1, and batch 2 was written"), "{error}");
}

#[test]
fn an_older_state_is_missed_a_second_after_a_kill_too() {
    let folder = tempdir().unwrap();
    let (path, old) = (folder.path().join("store"), folder.path().join("old"));
    put(&open(&path), "a", "1").unwrap();
    copy(&path.join("data"), &old);
    let store = open(&path);
    put(&store, "a", "2").unwrap();
    thread::sleep(Duration::from_millis(1_500));
    // As a kill would leave it: nothing was closed.
    let killed = folder.path().join("killed");
    copy(&path, &killed);
    std::fs::remove_dir_all(killed.join("data")).unwrap();
    copy(&old, &killed.join("data"));
    let error = SledStore::open(&killed, store_support::options()).unwrap_err();
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
}

/// sled's own writes fail: its file may not grow any further. It must not hang, and what was
/// answered must be there.
#[test]
fn sled_that_cannot_write_stops_the_store_and_loses_nothing() {
    let folder = tempdir().unwrap();
    let limited = child("child_writes_until_refused", folder.path());
    let mut command = Command::new("sh");
    // A file may have so many blocks of 512 or 1024 bytes; the signal for more is ignored.
    let script = "trap '' XFSZ; ulimit -f 100000; exec \"$0\" \"$@\"";
    command.args(["-c", script]).arg(limited.get_program()).args(limited.get_args());
    command.env(store_support::CHILD_FOLDER, folder.path());
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let number = |word: &str| {
        let line = said.lines().rev().find_map(|line| line.split_once(word));
        line.unwrap_or_else(|| panic!("no `{word}` in {said}")).1.trim().parse::<u64>().unwrap()
    };
    let (written, doubtful) = (number("written "), number("doubtful "));
    assert!(written > 0 && doubtful == written + 1, "{said}");
    assert!(said.contains("then poisoned") && said.contains("closed"), "{said}");
    let store = open(folder.path());
    let version = store.view().unwrap().version();
    assert!(version == written || version == doubtful, "{written} written, {version} there");
    assert_eq!(everything(&*store.view().unwrap()).len() as u64, version);
}

#[test]
fn child_writes_until_refused() {
    let Some(folder) = child_folder() else { return };
    let store = open(&folder);
    let value = Bytes::from(vec![7; 1 << 20]);
    for number in 1.. {
        let key = Bytes::from(format!("{number:06}"));
        let batch = Batch { writes: vec![(key, Some(value.clone()))], ..Batch::default() };
        match store.commit(batch, Durability::Durable) {
            Ok(version) => println!("written {version}"),
            Err(CommitError::Unknown(_)) => {
                println!("doubtful {number}");
                break;
            }
            Err(other) => panic!("{other}"),
        }
    }
    if let Err(CommitError::Poisoned(_)) = put(&store, "a", "1") {
        println!("then poisoned");
    }
    drop(store);
    println!("closed");
}

/// A batch that the disk has is there, although the store failed before its caller asked.
#[test]
fn what_the_disk_has_is_told_whatever_fails_besides() {
    let (folder, disk, store) = faulty();
    let write = |key: &str| {
        let commit = store.submit(batch(&[(key, Some("1"))]), Durability::Durable).unwrap();
        commit.write().unwrap()
    };
    let first = write("a");
    let second = write("b");
    // The later one takes the earlier one along.
    assert_eq!(second.wait(), Ok(2));
    disk.good_syncs.store(0, Ordering::SeqCst);
    // It may have failed already: the progress is recorded every second.
    let commit = store.submit(batch(&[("c", Some("1"))]), Durability::Durable);
    let third = commit.and_then(|commit| commit.write()).and_then(|written| written.wait());
    assert!(matches!(third, Err(CommitError::Unknown(_) | CommitError::Poisoned(_))));
    assert_eq!(first.wait(), Ok(1));
    assert!(matches!(put(&store, "d", "1"), Err(CommitError::Poisoned(_))));
    drop(store);
    let store = open(folder.path());
    assert_eq!((get(&store, "a"), get(&store, "b")), (Some("1".into()), Some("1".into())));
}

/// With a segment of sled's log and more unsynced, a tear would be hidden from it.
#[test]
fn before_a_large_batch_and_after_it_all_is_synced() {
    for durability in [Durability::Durable, Durability::Buffered] {
        let (_folder, _disk, store) = faulty();
        let write = |size: usize| {
            let value = Bytes::from(vec![7; size]);
            let read_version = store.view().unwrap().version();
            let writes = vec![(Bytes::from_static(b"k"), Some(value))];
            let batch = Batch { read_version, writes, ..batch(&[]) };
            store.submit(batch, durability).unwrap().write().unwrap()
        };
        // At least: what is buffered becomes durable by itself as well.
        let mut written = vec![write(1000), write(2 << 20)];
        assert!(store.durable() >= 1);
        written.push(write(1000));
        assert!(store.durable() >= 2);
        written.push(write(1000));
        assert!(store.durable() >= 3, "the parts of a long value have gone with the one before");
        for (written, version) in written.into_iter().zip(1..) {
            assert_eq!(written.wait(), Ok(version));
        }
    }
}

#[test]
fn a_large_batch_is_not_written_where_what_is_before_it_cannot_be_synced() {
    let (folder, disk, store) = faulty();
    let first = store.submit(batch(&[("a", Some("1"))]), Durability::Durable).unwrap();
    let first = first.write().unwrap();
    disk.good_syncs.store(0, Ordering::SeqCst);
    let writes = vec![(Bytes::from_static(b"b"), Some(Bytes::from(vec![7; 2 << 20])))];
    let large = store.submit(Batch { writes, ..Batch::default() }, Durability::Durable).unwrap();
    assert!(matches!(large.write().map(drop), Err(CommitError::Poisoned(_))));
    assert!(matches!(first.wait(), Err(CommitError::Unknown(_))));
    assert!(matches!(store.view().map(drop), Err(StoreError::Closed(_))));
    drop(store);
    assert_eq!(get(&open(folder.path()), "b"), None);
}

/// However short, a record takes its part of the log. While `gate` is held nobody syncs anything.
#[test]
fn what_is_many_is_counted_as_what_is_large() {
    let values = |length: usize, count: u32, value: Option<usize>| {
        let value = value.map(|length| Bytes::from(vec![7; length]));
        let key = |number: u32| [&number.to_be_bytes(), vec![b'k'; length - 4].as_slice()].concat();
        let writes = (0..count).map(|number| (key(number).into(), value.clone())).collect();
        Batch { writes, ..Batch::default() }
    };
    let outcomes = |count: u64| {
        let transactions = (0..count).map(transaction).collect();
        Batch { transactions, ..Batch::default() }
    };
    // A segment has room for 4096 of which no byte counts.
    let large = [
        ("values", values(8, 4200, Some(0))),
        ("removed", values(8, 4200, None)),
        ("outcomes", outcomes(4200)),
        ("values under long keys", values(900, 1600, Some(0))),
        ("removed under long keys", values(900, 1600, None)),
    ];
    for (what, large) in large {
        let (_folder, _disk, store) = faulty();
        let write = |batch| store.submit(batch, Durability::Durable).unwrap().write().unwrap();
        let mut written = vec![write(batch(&[("a", Some("1"))])), write(large)];
        assert!(store.durable() >= 1, "{what}");
        written.push(write(batch(&[("a", Some("2"))])));
        assert!(store.durable() >= 2, "{what}");
        for (written, version) in written.into_iter().zip(1..) {
            assert_eq!(written.wait(), Ok(version));
        }
    }
    let small = [
        ("values", values(8, 3500, Some(0))),
        ("removed", values(8, 3500, None)),
        ("outcomes", outcomes(3500)),
        ("long values under long keys", values(200, 1000, Some(1000))),
    ];
    for (what, small) in small {
        let (_folder, disk, store) = faulty();
        let write = |batch| store.submit(batch, Durability::Durable).unwrap().write().unwrap();
        let before = write(batch(&[("a", Some("1"))]));
        thread::scope(|scope| {
            let (done, is_done) = channel();
            let gate = disk.gate.lock().unwrap();
            scope.spawn(move || drop(done.send(write(small))));
            let written = is_done.recv_timeout(Duration::from_secs(20));
            drop(gate);
            let written = written.unwrap_or_else(|_| panic!("{what} wait for the disk"));
            assert_eq!((before.wait(), written.wait()), (Ok(1), Ok(2)));
        });
    }
}
