//! A store goes into a file and comes out of it whole, or not at all.

mod library;

use std::io::{self, Read, Write};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use bytes::Bytes;
use library::{BOOK, block_on, encoded, fill, filled, open, package, write};
use proptest::prelude::*;
use quixos_runtime::export::{Damage, ExportError, ImportError, import};
use quixos_runtime::key::{self, Kind};
use quixos_runtime::store::tapped::{Tap, Tapped};
use quixos_runtime::store::{
    Batch, CommitError, Direction, MemoryStore, SledOptions, SledStore, Store, StoreLimits,
};
use quixos_runtime::{FORMAT, OpenError, Runtime};
use quixos_schema::Tag;

type Entries = Vec<(Bytes, Bytes)>;

fn entries(store: &dyn Store) -> Entries {
    let view = store.view().expect("a view");
    let all = view.range(Bound::Unbounded, Bound::Unbounded, Direction::Forward, usize::MAX);
    all.expect("readable").entries
}

fn export(store: &Arc<dyn Store>) -> Vec<u8> {
    let runtime = open(store);
    let mut file = Vec::new();
    let counts = block_on(runtime.export(&mut file)).expect("exported");
    runtime.close();
    assert_eq!(counts.total(), entries(store.as_ref()).len() as u64);
    file
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Imports what must be refused, and checks that nothing of it is left.
fn refused(file: &[u8]) -> ImportError {
    let store = memory();
    let error = import(file, store.as_ref()).expect_err("the file is damaged");
    assert_eq!(entries(store.as_ref()), [], "after {error}");
    error
}

/// Imports what must be refused as damaged: block, offset, and what is wrong with it.
fn damage(file: &[u8]) -> (u64, u64, Damage) {
    let error = refused(file);
    let ImportError::Corrupt { block, offset, damage } = error else { panic!("{error}") };
    (block, offset, damage)
}

/// The places of the blocks in a file: where each begins.
fn blocks(file: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = file.iter().position(|byte| *byte == b'\n').expect("a first line") + 1;
    while at < file.len() {
        starts.push(at);
        let length = file[at + 1..at + 5].try_into().expect("four bytes");
        at += 5 + u32::from_be_bytes(length) as usize + 32;
    }
    starts
}

#[test]
fn memory_and_disk_hold_the_same_after_an_import() {
    let (source, _) = filled(300);
    let file = export(&source);
    let folder = tempfile::tempdir().expect("a folder");
    let disk: Arc<dyn Store> =
        Arc::new(SledStore::open(folder.path(), SledOptions::default()).expect("an empty store"));
    let imported = import(&file[..], disk.as_ref()).expect("imported");
    assert_eq!(imported.header.commit, 304);
    assert_eq!(imported.header.packages[0].id, library::ID);
    assert_eq!(imported.counts.of(Kind::Event), 300);
    assert_eq!(entries(disk.as_ref()), entries(source.as_ref()));
    let runtime = open(&disk);
    assert_eq!(block_on(runtime.verify()).expect("readable").findings, []);
    runtime.close();
    assert_eq!(export(&disk), file, "the same bytes");

    let back = memory();
    import(&export(&disk)[..], back.as_ref()).expect("imported");
    assert_eq!(entries(back.as_ref()), entries(source.as_ref()));
}

#[test]
fn a_store_on_disk_is_exported_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk: Arc<dyn Store> =
        Arc::new(SledStore::open(folder.path(), SledOptions::default()).expect("an empty store"));
    fill(&disk, 3);
    let (in_memory, _) = filled(3);
    assert_eq!(export(&disk), export(&in_memory), "ids and times come from the same sources");
}

#[test]
fn an_imported_store_goes_on_where_the_exported_one_stood() {
    let (source, was) = filled(2);
    let store = memory();
    import(&export(&source)[..], store.as_ref()).expect("imported");
    let runtime = open(&store);
    let books = block_on(runtime.read(|snapshot| snapshot.objects(Tag::of(BOOK), None, 9)));
    assert_eq!(books.expect("readable").len(), 2);
    let session = runtime.session(quixos_runtime::Caller::operator("anna"));
    // A named transaction is answered as it was, not done again.
    let before = entries(store.as_ref());
    let named = session.with_transaction_id(was.transaction);
    let () = block_on(named.member_call(was.book, "interface:test:book", 0, &"a\0b"))
        .expect("answered as before");
    assert_eq!(entries(store.as_ref()), before);
    // A new one goes on with the history.
    let () =
        block_on(session.member_call(was.book, "interface:test:book", 0, &"new")).expect("renamed");
    assert_eq!(block_on(runtime.verify()).expect("readable").findings, []);
    runtime.close();
}

#[test]
fn an_empty_store_has_an_export() {
    let store = memory();
    let file = export(&store);
    let copy = memory();
    import(&file[..], copy.as_ref()).expect("imported");
    assert_eq!(entries(copy.as_ref()), entries(store.as_ref()));
}

#[test]
fn a_file_that_ends_early_is_refused_wherever_it_ends() {
    let file = export(&filled(200).0);
    let starts = blocks(&file);
    assert!(starts.len() > 3, "more than one block of entries");
    for (block, start) in (0..).zip(&starts) {
        for cut in [*start, start + 1, start + 5, start + 40] {
            assert_eq!(damage(&file[..cut]), (block, *start as u64, Damage::Truncated));
        }
    }
    for cut in 0..starts[0] {
        let error = refused(&file[..cut]);
        assert!(matches!(error, ImportError::NotAnExport), "cut at {cut}: {error}");
    }
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let file = export(&filled(1).0);
    let starts = blocks(&file);
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 0x10;
        if at < starts[0] {
            let error = refused(&changed);
            assert!(matches!(error, ImportError::NotAnExport), "byte {at}: {error}");
        } else {
            let (block, offset, _) = damage(&changed);
            let within = starts.iter().rposition(|start| *start <= at).expect("a block");
            assert_eq!((block, offset), (within as u64, starts[within] as u64), "byte {at}");
        }
    }
}

#[test]
fn blocks_do_not_change_places_or_go_missing() {
    let file = export(&filled(300).0);
    let starts = blocks(&file);
    let block = |at: usize| &file[starts[at]..starts.get(at + 1).copied().unwrap_or(file.len())];
    let all: Vec<_> = (0..starts.len()).map(block).collect();
    assert!(all.len() > 4);
    let join = |order: &[usize]| {
        let blocks: Vec<_> = order.iter().map(|at| all[*at]).collect();
        [&file[..starts[0]], &blocks.concat()].concat()
    };
    let whole: Vec<usize> = (0..all.len()).collect();
    assert_eq!(join(&whole), file);
    for order in [
        whole.iter().copied().filter(|at| *at != 1).collect::<Vec<_>>(),
        whole.iter().copied().filter(|at| *at != 0).collect(),
        [&[0, 2, 1], &whole[3..]].concat(),
        [&[0, 1, 1], &whole[2..]].concat(),
    ] {
        let (_, _, damage) = damage(&join(&order));
        assert_eq!(damage, Damage::Checksum, "{order:?}");
    }
    let longer = [&file[..], b"x"].concat();
    assert_eq!(damage(&longer), (all.len() as u64, file.len() as u64, Damage::Trailing));
}

/// Blocks as they are written, for files with good checksums and bad contents.
fn file_of(blocks: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut file = b"quixos export 1\n".to_vec();
    for (number, (kind, payload)) in (0_u64..).zip(blocks) {
        let mut head = vec![*kind];
        head.extend(u32::try_from(payload.len()).expect("short").to_be_bytes());
        let mut hasher = blake3::Hasher::new();
        hasher.update(&number.to_be_bytes()).update(&head).update(payload);
        file.extend(head);
        file.extend(payload);
        file.extend(hasher.finalize().as_bytes());
    }
    file
}

fn header() -> (u8, Vec<u8>) {
    let packages: Vec<(String, String, String)> = Vec::new();
    (1, encoded(&(FORMAT, 0_u64, packages)).to_vec())
}

fn block_of(entries: &[(&[u8], &[u8])]) -> (u8, Vec<u8>) {
    (2, entries.iter().flat_map(encoded).collect())
}

fn end_of(before: &[(u8, Vec<u8>)], counts: Vec<u64>) -> (u8, Vec<u8>) {
    let total = *blake3::hash(&file_of(before)).as_bytes();
    (3, encoded(&(counts, total)).to_vec())
}

#[test]
fn contents_are_not_trusted_for_their_checksums() {
    let damage = |blocks: &[(u8, Vec<u8>)]| {
        let (block, _, damage) = damage(&file_of(blocks));
        (block, damage)
    };
    let meta = &key::meta("format")[..];
    let entry = (meta, &[1][..]);

    let (block, found) = damage(&[(2, Vec::new())]);
    assert_eq!((block, found), (0, Damage::Kind { found: 2, expected: "the header" }));
    let (block, found) = damage(&[header(), header()]);
    assert_eq!((block, found), (1, Damage::Kind { found: 1, expected: "entries or the end" }));
    assert!(matches!(damage(&[(1, vec![9])]), (0, Damage::Malformed(_))));
    let (_, mut longer) = header();
    longer.push(0);
    assert!(matches!(damage(&[(1, longer)]), (0, Damage::Malformed(_))));
    assert!(matches!(damage(&[header(), (2, vec![5, 1])]), (1, Damage::Malformed(_))));

    let bad_key = block_of(&[entry, (b"\x77", b"")]);
    let expected = Damage::Key { entry: 1, error: key::KeyError::Kind };
    assert_eq!(damage(&[header(), bad_key]), (1, expected));
    let out_of_order = block_of(&[entry, entry]);
    assert_eq!(damage(&[header(), out_of_order]), (1, Damage::Order { entry: 1 }));
    let over_blocks = [header(), block_of(&[entry]), block_of(&[entry])];
    assert_eq!(damage(&over_blocks), (2, Damage::Order { entry: 0 }));
    let unfinished = block_of(&[(&key::meta("importing"), b"")]);
    assert!(matches!(damage(&[header(), unfinished]), (1, Damage::Malformed(_))));

    let kinds = Kind::ALL.len();
    let before = [header(), block_of(&[entry])];
    let with_end = |counts| [&before[..], &[end_of(&before, counts)]].concat();
    let (block, found) = damage(&with_end(vec![0; kinds]));
    assert_eq!((block, found), (2, Damage::Count { kind: Kind::Meta, found: 1, said: 0 }));
    assert!(matches!(damage(&with_end(vec![1])), (2, Damage::Malformed(_))));
    let elsewhere = [&before[..], &[end_of(&before[..1], vec![0; kinds])]].concat();
    assert_eq!(damage(&elsewhere), (2, Damage::Total));
    // And what all of these fail to be.
    let mut counts = vec![0; kinds];
    counts[0] = 1;
    import(&file_of(&with_end(counts))[..], memory().as_ref()).expect("a good file");
}

#[test]
fn what_is_no_export_or_another_version_says_so() {
    assert!(matches!(refused(b""), ImportError::NotAnExport));
    assert!(matches!(refused(b"SQLite format 3\0 and so on"), ImportError::NotAnExport));
    assert!(matches!(refused(b"quixos export 99999999999\n"), ImportError::NotAnExport));
    let error = refused(b"quixos export 2\n");
    assert_eq!(error.to_string(), "the export has version 2, this program reads version 1");
    let packages: Vec<(String, String, String)> = Vec::new();
    let error = refused(&file_of(&[(1, encoded(&(7_u32, 0_u64, &packages)).to_vec())]));
    assert!(matches!(error, ImportError::Format { found: 7, known: FORMAT }), "{error}");
    let error = refused(&file_of(&[(1, encoded(&(1_u32, 0_u64, &packages)).to_vec())]));
    assert!(error.to_string().contains("a `one` edge has a key of its own"), "{error}");
}

#[test]
fn a_length_that_lies_costs_nothing() {
    let mut file = b"quixos export 1\n\x01".to_vec();
    file.extend(u32::MAX.to_be_bytes());
    assert_eq!(damage(&file), (0, 16, Damage::TooLong(u32::MAX)));
    file.truncate(17);
    file.extend((60_u32 << 20).to_be_bytes());
    assert_eq!(damage(&file), (0, 16, Damage::Truncated));
}

#[test]
fn only_an_empty_store_takes_an_import() {
    let (store, _) = filled(1);
    let file = export(&store);
    let before = entries(store.as_ref());
    let error = import(&file[..], store.as_ref()).expect_err("it is not empty");
    assert!(matches!(error, ImportError::NotEmpty), "{error}");
    assert_eq!(entries(store.as_ref()), before);
}

#[test]
fn a_store_that_was_only_opened_takes_an_import() {
    let (from, _) = filled(1);
    let file = export(&from);
    let store = memory();
    open(&store).close();
    assert_ne!(entries(store.as_ref()), []);
    import(&file[..], store.as_ref()).expect("nothing was done in it");
    assert_eq!(entries(store.as_ref()), entries(from.as_ref()));
}

#[test]
fn a_store_that_cannot_be_read_is_not_exported() {
    // Of no kind; of a kind, and too short: an import would refuse either.
    for key in [&b"\x77"[..], b"\x30\0"] {
        let (store, _) = filled(1);
        write(store.as_ref(), [(Bytes::copy_from_slice(key), Some(Bytes::new()))]);
        let runtime = open(&store);
        let error = block_on(runtime.export(Vec::new())).expect_err("a key is none");
        assert!(
            matches!(error, ExportError::Store(quixos_runtime::CallError::Corrupt { .. })),
            "{error}"
        );
        runtime.close();
    }
}

/// Fails after some bytes.
struct Failing(usize);

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::NotConnected.into())
    }
}

#[test]
fn a_file_that_cannot_be_written_or_read_is_told_as_such() {
    let (store, _) = filled(1);
    let runtime = open(&store);
    for room in [0, 10, 100, 2000] {
        let error = block_on(runtime.export(Failing(room))).expect_err("no room");
        assert!(matches!(error, ExportError::Write(_)), "{error}");
    }
    // The lane goes on.
    assert_eq!(block_on(runtime.verify()).expect("readable").findings, []);
    runtime.close();
    let store = memory();
    let file = export(&filled(1).0);
    let error = import((&file[..100]).chain(Failing(0)), store.as_ref()).expect_err("unread");
    assert!(matches!(error, ImportError::Read(_)), "{error}");
    assert_eq!(entries(store.as_ref()), []);
}

/// Lets a store take so many batches, then none.
struct Stopping(AtomicUsize);

impl Tap for Stopping {
    fn submitted(&self, _batch: &Batch) -> Result<(), CommitError> {
        let left = self.0.try_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| CommitError::NoSpace { free: 0, floor: 1 })
    }

    fn limits(&self, limits: StoreLimits) -> StoreLimits {
        // Small batches, so that there are many.
        StoreLimits { batch: 20 << 10, ..limits }
    }
}

/// Wherever an import stops, as a kill would stop it, the store is empty, or refuses to be opened
/// and takes the import again.
#[test]
fn an_import_that_was_cut_off_is_not_opened_and_can_be_repeated() {
    let (source, _) = filled(300);
    let file = export(&source);
    let mut unfinished = 0;
    for batches in 0.. {
        let store = memory();
        let left = Arc::new(Stopping(batches.into()));
        let stopping = Tapped::new(Arc::clone(&store), left);
        if import(&file[..], &stopping).is_ok() {
            break;
        }
        if entries(store.as_ref()).is_empty() {
            continue;
        }
        unfinished += 1;
        let opened = Runtime::builder().package(package()).open(Arc::clone(&store));
        assert!(matches!(opened, Err(OpenError::Unfinished)), "after {batches} batches");
        import(&file[..], store.as_ref()).expect("the import is begun anew");
        assert_eq!(entries(store.as_ref()), entries(source.as_ref()));
    }
    assert!(unfinished > 5, "{unfinished}");
}

/// What an editor, a disk or a network may do to a file.
#[derive(Clone, Debug)]
enum Change {
    Overwrite(prop::sample::Index, Vec<u8>),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, prop::sample::Index),
    Repeat(prop::sample::Index, prop::sample::Index),
}

fn any_change() -> impl Strategy<Value = Change> {
    let index = any::<prop::sample::Index>;
    let bytes = || proptest::collection::vec(any::<u8>(), 1..40);
    prop_oneof![
        (index(), bytes()).prop_map(|(at, bytes)| Change::Overwrite(at, bytes)),
        (index(), bytes()).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (index(), index()).prop_map(|(from, to)| Change::Remove(from, to)),
        (index(), index()).prop_map(|(from, to)| Change::Repeat(from, to)),
    ]
}

fn changed(mut file: Vec<u8>, change: &Change) -> Vec<u8> {
    let size = file.len().max(1);
    let range = |a: &prop::sample::Index, b: &prop::sample::Index| {
        let (a, b) = (a.index(size), b.index(size));
        a.min(b)..a.max(b).min(file.len())
    };
    match change {
        Change::Overwrite(at, bytes) => {
            for (byte, new) in file.iter_mut().skip(at.index(size)).zip(bytes) {
                *byte = *new;
            }
        }
        Change::Insert(at, bytes) => {
            let at = at.index(size).min(file.len());
            file.splice(at..at, bytes.iter().copied());
        }
        Change::Remove(from, to) => {
            let range = range(from, to);
            file.drain(range);
        }
        Change::Repeat(from, to) => {
            let range = range(from, to);
            let part = file[range.clone()].to_vec();
            file.splice(range.end..range.end, part);
        }
    }
    file
}

proptest! {
    #[test]
    fn whatever_is_done_to_a_file_it_is_refused_or_the_same(
        changes in proptest::collection::vec(any_change(), 1..4),
    ) {
        let file = export(&filled(2).0);
        let damaged = changes.iter().fold(file.clone(), changed);
        if damaged != file {
            refused(&damaged);
        }
    }

    /// Whoever can make checksums can write what they like; it is refused, or is a store that can
    /// be read, however it was damaged.
    #[test]
    fn random_contents_under_good_checksums_never_panic(
        change in any_change(),
        block in 0_usize..3,
    ) {
        let file = export(&filled(1).0);
        let starts = blocks(&file);
        let ends = starts[1..].iter().copied().chain([file.len()]);
        let parts = starts.iter().zip(ends).map(|(start, end)| {
            (file[*start], file[start + 5..end - 32].to_vec())
        });
        let mut parts: Vec<_> = parts.collect();
        let block = block.min(parts.len() - 1);
        parts[block].1 = changed(std::mem::take(&mut parts[block].1), &change);
        let store = memory();
        if import(&file_of(&parts)[..], store.as_ref()).is_err() {
            prop_assert_eq!(entries(store.as_ref()), []);
        }
    }
}
