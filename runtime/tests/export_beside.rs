//! An export while calls write is the store as it was at one commit, to the byte.

mod library;

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use library::{BookData, fill, open};
use quixos_runtime::export::{ExportError, check};
use quixos_runtime::store::{
    Batch, Commit, CommitError, Concurrency, Durability, Health, MemoryStore, SledOptions,
    SledStore, Store, StoreError, StoreLimits, TransactionId, Version, View,
};
use quixos_runtime::{CallError, Caller, ObjectRef, Runtime, Session, blocking};
use tempfile::tempfile;

/// Books that are there before.
const BOOKS: u32 = 300;
/// Calls that are made while the export goes on, at most: enough for what is noted to be read in
/// rounds.
const MOST: u64 = 5000;

/// Somebody who writes: adds a book, and renames one of those that are there, in turns, so that keys
/// come everywhere, and what was there is another.
struct Writer {
    session: Session,
    shelf: ObjectRef,
    book: ObjectRef,
    calls: u64,
}

impl Writer {
    fn new(runtime: &Runtime, store: &library::Filled) -> Self {
        let session = runtime.session(Caller::operator("bert"));
        Self { session, shelf: store.shelf, book: store.book, calls: 0 }
    }

    fn call(&mut self) -> Result<(), CallError> {
        let at = self.calls;
        self.calls += 1;
        if at.is_multiple_of(2) {
            let data = BookData { title: format!("more {at}"), pages: 1 };
            let added = self.session.member_call(self.shelf, "interface:test:shelf", 0, &data);
            self.book = blocking(added)?;
            return Ok(());
        }
        let title = format!("other {at}");
        blocking(self.session.member_call(self.book, "interface:test:book", 0, &title))
    }
}

/// A file of which each write takes a while, or does something.
struct Slow<'f>(std::fs::File, &'f dyn Fn());

impl Write for Slow<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.1)();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Read for Slow<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Seek for Slow<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// Exports while somebody writes, and returns the file, and how many calls were made meanwhile.
fn exported(store: &Arc<dyn Store>, filled: &library::Filled) -> (Vec<u8>, u64) {
    let runtime = open(store);
    let mut writer = Writer::new(&runtime, filled);
    // Who waits for no disk has some of it gathered at any time.
    writer.session = writer.session.with_durability(Durability::Buffered);
    let (stop, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut file = Vec::new();
    let during = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                writer.call().expect("it is written");
                if calls.fetch_add(1, Ordering::SeqCst) > MOST {
                    break;
                }
            }
        });
        let before = calls.load(Ordering::SeqCst);
        // Until there is another call, if there can be one: while the lane stands still there is none.
        let slow = || {
            let seen = calls.load(Ordering::SeqCst);
            for _ in 0..20 {
                if calls.load(Ordering::SeqCst) > seen {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        let aside = || Ok(Slow(tempfile()?, &slow));
        let counts = blocking(runtime.export_beside(&mut file, aside));
        let during = calls.load(Ordering::SeqCst) - before;
        stop.store(true, Ordering::SeqCst);
        counts.expect("exported");
        during
    });
    runtime.close();
    (file, during)
}

/// Makes the same calls again, up to a commit, and exports that.
fn again(commit: u64) -> Vec<u8> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let filled = fill(&store, BOOKS);
    let runtime = open(&store);
    let mut writer = Writer::new(&runtime, &filled);
    let head = || blocking(runtime.read(|snapshot| snapshot.head())).expect("readable");
    while head().commit < commit {
        writer.call().expect("it is written");
    }
    let mut file = Vec::new();
    blocking(runtime.export(&mut file)).expect("exported");
    runtime.close();
    file
}

fn is_one_commit(store: &Arc<dyn Store>) {
    let filled = fill(store, BOOKS);
    let (file, during) = exported(store, &filled);
    assert!(during > 5, "nobody wrote meanwhile: {during}");
    let found = check(&file[..]).expect("a good file");
    assert!(found.header.commit > u64::from(BOOKS) + 5, "{:?}", found.header);
    assert!(file == again(found.header.commit), "it is no commit's: {:?}", found.header);
}

#[test]
fn an_export_while_calls_write_is_one_commit_of_memory() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    is_one_commit(&store);
}

#[test]
fn an_export_while_calls_write_is_one_commit_of_sled() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SledStore::open(folder.path(), SledOptions::default()).expect("an empty store");
    let store: Arc<dyn Store> = Arc::new(store);
    is_one_commit(&store);
}

#[test]
fn while_nobody_writes_it_is_the_same_as_any_export() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    fill(&store, BOOKS);
    let runtime = open(&store);
    let (mut beside, mut held) = (Vec::new(), Vec::new());
    let counts = blocking(runtime.export_beside(&mut beside, tempfile)).expect("exported");
    assert_eq!(counts, blocking(runtime.export(&mut held)).expect("exported"));
    assert!(beside == held);
    runtime.close();
}

/// A store that refuses what it is given, where it is told to.
struct Refusing(MemoryStore, AtomicBool);

impl Store for Refusing {
    fn view(&self) -> Result<Box<dyn View>, StoreError> {
        self.0.view()
    }

    fn submit(&self, batch: Batch, durability: Durability) -> Result<Box<dyn Commit>, CommitError> {
        if self.1.load(Ordering::SeqCst) {
            return Err(CommitError::NoSpace { free: 0, floor: 1 });
        }
        self.0.submit(batch, durability)
    }

    fn sync(&self) -> Result<(), CommitError> {
        self.0.sync()
    }

    fn durable(&self) -> Version {
        self.0.durable()
    }

    fn outcome(&self, transaction: TransactionId) -> Result<Option<Version>, StoreError> {
        self.0.outcome(transaction)
    }

    fn limits(&self) -> StoreLimits {
        self.0.limits()
    }

    fn health(&self) -> Health {
        self.0.health()
    }

    fn concurrency(&self) -> Concurrency {
        self.0.concurrency()
    }
}

#[test]
fn what_was_seen_and_taken_back_is_in_no_export() {
    let refusing = Arc::new(Refusing(MemoryStore::new(), AtomicBool::new(false)));
    let store: Arc<dyn Store> = Arc::clone(&refusing) as Arc<dyn Store>;
    let filled = fill(&store, BOOKS);
    let runtime = open(&store);
    let failed = AtomicBool::new(false);
    let fail_once = || {
        if !failed.swap(true, Ordering::SeqCst) {
            refusing.1.store(true, Ordering::SeqCst);
            Writer::new(&runtime, &filled).call().expect_err("it is refused");
            refusing.1.store(false, Ordering::SeqCst);
        }
    };
    let export =
        || blocking(runtime.export_beside(Vec::new(), || Ok(Slow(tempfile()?, &fail_once))));
    let error = export().expect_err("a page may have shown it");
    assert!(matches!(error, ExportError::Store(CallError::Storage { .. })), "{error}");
    export().expect("exported");
    runtime.close();
}
