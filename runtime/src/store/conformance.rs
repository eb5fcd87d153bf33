//! The suite that every store must pass, whatever is behind it.
//!
//! Each check takes an empty store and panics where a promise of [`crate::store`] is broken. Run
//! what [`checks_for`] gives one by one, so that each has its name.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use ulid::Ulid;

use super::{
    Batch, CommitError, Concurrency, Direction, Durability, Page, ReadRange, Store, StoreError,
    TransactionId, View,
};

/// Fails when a promise is broken.
pub type Check = fn(&dyn Store);

/// What holds for every store.
const CHECKS: &[(&str, Check)] = &[
    ("an_empty_store_is_at_version_0", an_empty_store_is_at_version_0),
    ("what_is_written_is_read", what_is_written_is_read),
    ("values_of_every_length_come_back", values_of_every_length_come_back),
    ("long_values_are_replaced_and_deleted_whole", long_values_are_replaced_and_deleted_whole),
    ("ranges_are_read_in_both_directions", ranges_are_read_in_both_directions),
    ("ranges_respect_their_bounds", ranges_respect_their_bounds),
    ("a_range_is_read_page_by_page", a_range_is_read_page_by_page),
    ("versions_are_consecutive", versions_are_consecutive),
    ("outcomes_are_kept", outcomes_are_kept),
    ("malformed_batches_are_refused", malformed_batches_are_refused),
    ("limits_hold_and_can_be_reached", limits_hold_and_can_be_reached),
    ("what_lies_in_the_reserved_range_is_not_seen", what_lies_in_the_reserved_range_is_not_seen),
    ("a_dropped_commit_leaves_no_trace", a_dropped_commit_leaves_no_trace),
    ("an_unknown_read_version_is_refused", an_unknown_read_version_is_refused),
    ("buffered_batches_are_durable_after_sync", buffered_batches_are_durable_after_sync),
    ("no_view_shows_two_versions", no_view_shows_two_versions),
    ("what_is_read_is_of_the_version_of_the_view", what_is_read_is_of_the_version_of_the_view),
];

/// What holds besides when [`Concurrency::SingleWriter`].
const SINGLE_WRITER: &[(&str, Check)] = &[
    ("a_submitted_batch_is_seen_before_it_is_written", a_submitted_batch_is_seen_early),
    ("a_view_lasts_until_the_next_batch", a_view_lasts_until_the_next_batch),
    ("the_next_batch_waits_its_turn", the_next_batch_waits_its_turn),
    ("the_next_batch_need_not_wait_for_the_disk", the_next_batch_need_not_wait_for_the_disk),
    ("a_dropped_batch_takes_its_views_with_it", a_dropped_batch_takes_its_views_with_it),
];

/// What holds besides when [`Concurrency::Optimistic`].
const OPTIMISTIC: &[(&str, Check)] = &[
    ("overtaken_reads_are_refused", overtaken_reads_are_refused),
    ("batches_that_do_not_meet_all_go_through", batches_that_do_not_meet_all_go_through),
    ("a_view_never_changes", a_view_never_changes),
];

/// Returns every check that applies to a store.
pub fn checks_for(concurrency: Concurrency) -> impl Iterator<Item = (&'static str, Check)> {
    let more = match concurrency {
        Concurrency::SingleWriter => SINGLE_WRITER,
        Concurrency::Optimistic => OPTIMISTIC,
    };
    CHECKS.iter().chain(more).copied()
}

fn writes<const N: usize>(writes: [(&str, Option<&str>); N]) -> Batch {
    let bytes = |text: &str| Bytes::copy_from_slice(text.as_bytes());
    let writes = writes.map(|(key, value)| (bytes(key), value.map(bytes))).into();
    Batch { writes, ..Batch::default() }
}

fn write<const N: usize>(store: &dyn Store, entries: [(&str, Option<&str>); N]) -> u64 {
    store.commit(writes(entries), Durability::Durable).expect("the batch is good")
}

fn view(store: &dyn Store) -> Box<dyn View> {
    store.view().expect("the store is open")
}

fn get(view: &dyn View, key: &str) -> Option<String> {
    view.get(key.as_bytes()).expect("the view is current").map(text)
}

fn text(bytes: Bytes) -> String {
    String::from_utf8(bytes.into()).expect("tests write text")
}

fn page(page: Page) -> (Vec<String>, bool) {
    let entry = |(key, value)| format!("{}={}", text(key), text(value));
    (page.entries.into_iter().map(entry).collect(), page.more)
}

fn all(view: &dyn View, direction: Direction) -> Vec<String> {
    let found = view.range(Bound::Unbounded, Bound::Unbounded, direction, usize::MAX);
    let (entries, more) = page(found.expect("the view is current"));
    assert!(!more, "everything was asked for");
    entries
}

fn transaction(number: u64) -> TransactionId {
    Ulid::from_parts(number, 7)
}

fn an_empty_store_is_at_version_0(store: &dyn Store) {
    let view = view(store);
    assert_eq!(view.version(), 0);
    assert_eq!(store.durable(), 0);
    assert_eq!(get(&*view, "a"), None);
    assert_eq!(all(&*view, Direction::Forward), [""; 0]);
    assert_eq!(all(&*view, Direction::Backward), [""; 0]);
    assert_eq!(store.outcome(transaction(1)), Ok(None));
}

fn what_is_written_is_read(store: &dyn Store) {
    assert_eq!(write(store, [("a", Some("1")), ("b", Some("2"))]), 1);
    assert_eq!(write(store, [("a", None), ("b", Some("3")), ("c", Some(""))]), 2);
    let view = view(store);
    assert_eq!(view.version(), 2);
    assert_eq!(get(&*view, "a"), None);
    assert_eq!(get(&*view, "b").as_deref(), Some("3"));
    assert_eq!(get(&*view, "c").as_deref(), Some(""));
    let many = view.get_many(&[b"c", b"a", b"b"]).expect("the view is current");
    assert_eq!(many, [Some(Bytes::new()), None, Some(Bytes::from("3"))]);
    write(store, [("nothing that is there", None)]);
}

fn values_of_every_length_come_back(store: &dyn Store) {
    let lengths = [0, 1, 22, 511, 512, 513, 4096, 32_758, 32_759, 32_760, 65_518, 65_519, 200_000];
    let value = |length: usize| Bytes::from_iter((0..length).map(|at| (at % 251) as u8));
    let key = |length: usize| Bytes::from(format!("{length:08}"));
    let writes = lengths.map(|length| (key(length), Some(value(length)))).into();
    store.commit(Batch { writes, ..Batch::default() }, Durability::Durable).expect("all are small");
    let view = view(store);
    for length in lengths {
        let found = view.get(&key(length)).expect("the view is current");
        assert!(found == Some(value(length)), "a value of {length} bytes");
    }
    let page = view.range(Bound::Unbounded, Bound::Unbounded, Direction::Forward, 99);
    let found = page.expect("the view is current").entries;
    assert!(found == lengths.map(|length| (key(length), value(length))), "in a range");
}

fn long_values_are_replaced_and_deleted_whole(store: &dyn Store) {
    let key = Bytes::from("long");
    let beside = Bytes::from("long\0\0\0\0");
    for length in [300_000, 100_000, 10, 300_000, 0, 70_000] {
        let value = |fill: u8| Some(Bytes::from(vec![fill; length]));
        let writes = vec![(key.clone(), value(1)), (beside.clone(), value(2))];
        let batch = Batch { writes, ..Batch::default() };
        store.commit(batch, Durability::Durable).expect("all are small");
        let view = view(store);
        assert!(view.get(&key).expect("current") == value(1), "{length} bytes");
        assert!(view.get(&beside).expect("current") == value(2), "{length} bytes beside");
    }
    let batch = Batch { writes: vec![(key.clone(), None)], ..Batch::default() };
    store.commit(batch, Durability::Durable).expect("a deletion");
    let view = view(store);
    assert_eq!(view.get(&key), Ok(None));
    assert!(view.get(&beside).expect("current").is_some(), "its neighbour is still there");
}

fn ranges_are_read_in_both_directions(store: &dyn Store) {
    write(store, [("a", Some("1")), ("b", Some("2")), ("c", Some("3")), ("d", Some("4"))]);
    write(store, [("b", None), ("bb", Some("5")), ("d", Some("6"))]);
    let view = view(store);
    assert_eq!(all(&*view, Direction::Forward), ["a=1", "bb=5", "c=3", "d=6"]);
    assert_eq!(all(&*view, Direction::Backward), ["d=6", "c=3", "bb=5", "a=1"]);
}

fn ranges_respect_their_bounds(store: &dyn Store) {
    write(store, [("a", Some("")), ("b", Some("")), ("c", Some(""))]);
    let view = view(store);
    let bounds = |key: &'static str| {
        let key = key.as_bytes();
        [Bound::Included(key), Bound::Excluded(key)]
    };
    for start in bounds("a").into_iter().chain(bounds("b")).chain([Bound::Unbounded]) {
        for end in bounds("c").into_iter().chain(bounds("b")).chain(bounds("a")) {
            let expected: Vec<&str> = ["a", "b", "c"]
                .into_iter()
                .filter(|key| match start {
                    Bound::Included(start) => key.as_bytes() >= start,
                    Bound::Excluded(start) => key.as_bytes() > start,
                    Bound::Unbounded => true,
                })
                .filter(|key| match end {
                    Bound::Included(end) => key.as_bytes() <= end,
                    Bound::Excluded(end) => key.as_bytes() < end,
                    Bound::Unbounded => true,
                })
                .collect();
            for direction in [Direction::Forward, Direction::Backward] {
                let found = view.range(start, end, direction, 9).expect("the view is current");
                let mut keys: Vec<_> =
                    found.entries.into_iter().map(|(key, _)| text(key)).collect();
                if direction == Direction::Backward {
                    keys.reverse();
                }
                assert_eq!(keys, expected, "{start:?} to {end:?}, {direction:?}");
            }
        }
    }
}

fn a_range_is_read_page_by_page(store: &dyn Store) {
    write(store, [("a", Some("1")), ("b", Some("2")), ("c", Some("3"))]);
    let view = view(store);
    let read = |start, end, direction, limit| {
        page(view.range(start, end, direction, limit).expect("the view is current"))
    };
    let (start, end) = (Bound::Unbounded, Bound::Unbounded);
    assert_eq!(read(start, end, Direction::Forward, 0), (vec![], true));
    assert_eq!(read(start, end, Direction::Forward, 2), (vec!["a=1".into(), "b=2".into()], true));
    let rest = Bound::Excluded(&b"b"[..]);
    assert_eq!(read(rest, end, Direction::Forward, 1), (vec!["c=3".into()], false));
    assert_eq!(read(start, end, Direction::Backward, 2), (vec!["c=3".into(), "b=2".into()], true));
    assert_eq!(read(start, rest, Direction::Backward, 2), (vec!["a=1".into()], false));
    assert_eq!(read(rest, rest, Direction::Backward, 2), (vec![], false));
}

fn versions_are_consecutive(store: &dyn Store) {
    for version in 1..20 {
        assert_eq!(write(store, [("a", Some("1"))]), version);
        assert_eq!(view(store).version(), version);
        assert_eq!(store.durable(), version);
    }
    assert_eq!(
        store.commit(Batch::default(), Durability::Durable),
        Ok(20),
        "an empty batch counts"
    );
}

fn outcomes_are_kept(store: &dyn Store) {
    let batch = |numbers: &[u64]| Batch {
        transactions: numbers.iter().copied().map(transaction).collect(),
        ..writes([("a", Some("1"))])
    };
    assert_eq!(store.commit(batch(&[1, 2]), Durability::Durable), Ok(1));
    let commit = store.submit(batch(&[3]), Durability::Durable).expect("the batch is good");
    assert_eq!(store.outcome(transaction(3)), Ok(None), "not before its `wait` returns");
    assert_eq!(commit.wait(), Ok(2));
    let outcomes = [1, 2, 3, 4].map(|number| store.outcome(transaction(number)));
    assert_eq!(outcomes, [Ok(Some(1)), Ok(Some(1)), Ok(Some(2)), Ok(None)]);
}

fn malformed_batches_are_refused(store: &dyn Store) {
    let refused = |batch| match store.commit(batch, Durability::Durable) {
        Err(CommitError::Malformed(_)) => {}
        other => panic!("expected a refusal, not {other:?}"),
    };
    refused(writes([("b", Some("1")), ("a", Some("1"))]));
    refused(writes([("a", Some("1")), ("a", Some("2"))]));
    refused(writes([("", Some("1"))]));
    let reserved = vec![(Bytes::from_static(&[0xFF, 3]), None)];
    refused(Batch { writes: reserved, ..Batch::default() });
    assert_eq!(view(store).version(), 0, "nothing was written");
}

fn limits_hold_and_can_be_reached(store: &dyn Store) {
    let limits = store.limits();
    let commit = |key: usize, values: &[usize]| {
        let key = |number: usize| {
            let mut bytes = vec![b'k'; key];
            bytes[0] = number as u8;
            Bytes::from(bytes)
        };
        let value = |length: usize| Some(Bytes::from(vec![7; length]));
        let writes = values.iter().enumerate().map(|(n, &length)| (key(n), value(length)));
        let batch = Batch { writes: writes.collect(), ..Batch::default() };
        store.commit(batch, Durability::Durable)
    };
    assert_eq!(commit(limits.key, &[1]), Ok(1));
    assert_eq!(commit(1, &[limits.value]), Ok(2));
    let too_large = |result| assert!(matches!(result, Err(CommitError::TooLarge(_))), "{result:?}");
    too_large(commit(limits.key + 1, &[1]));
    too_large(commit(1, &[limits.value + 1]));
    too_large(commit(1, &vec![limits.value; limits.batch / limits.value]));
    let found = view(store).get(&[0]).expect("the view is current").map(|value| value.len());
    assert_eq!(found, Some(limits.value));
}

fn what_lies_in_the_reserved_range_is_not_seen(store: &dyn Store) {
    let long = "long".repeat(50_000);
    let batch = Batch { transactions: vec![transaction(1)], ..writes([("a", Some(&long))]) };
    store.commit(batch, Durability::Durable).expect("the batch is good");
    let view = view(store);
    let read = |start: Bound<&[u8]>, end: Bound<&[u8]>, direction| {
        let page = view.range(start, end, direction, 9).expect("the view is current");
        page.entries.len()
    };
    let (first, last) = ([0xFF], [0xFF; 40]);
    for direction in [Direction::Forward, Direction::Backward] {
        assert_eq!(read(Bound::Unbounded, Bound::Unbounded, direction), 1);
        assert_eq!(read(Bound::Unbounded, Bound::Included(&last), direction), 1);
        assert_eq!(read(Bound::Included(&first), Bound::Unbounded, direction), 0);
        assert_eq!(read(Bound::Included(&first), Bound::Excluded(&last), direction), 0);
    }
    for key in [&[0xFF, 0][..], &[0xFF], &[]] {
        assert_eq!(view.get(key), Ok(None));
    }
}

fn a_dropped_commit_leaves_no_trace(store: &dyn Store) {
    write(store, [("a", Some("1"))]);
    let before = view(store);
    let dropped = Batch { transactions: vec![transaction(9)], ..writes([("a", Some("2"))]) };
    drop(store.submit(dropped, Durability::Durable).expect("the batch is good"));
    assert_eq!(get(&*view(store), "a").as_deref(), Some("1"));
    assert_eq!(get(&*before, "a").as_deref(), Some("1"), "nothing came after this view");
    assert_eq!(store.outcome(transaction(9)), Ok(None));
    assert_eq!(write(store, [("b", Some("3"))]), 2, "the store goes on");
    assert_eq!(all(&*view(store), Direction::Forward), ["a=1", "b=3"]);
}

fn an_unknown_read_version_is_refused(store: &dyn Store) {
    write(store, [("a", Some("1"))]);
    let at = |read_version| Batch { read_version, ..writes([("b", Some("1"))]) };
    assert_eq!(store.commit(at(2), Durability::Durable), Err(CommitError::Conflict));
    assert_eq!(store.commit(at(1), Durability::Durable), Ok(2));
}

fn buffered_batches_are_durable_after_sync(store: &dyn Store) {
    let version = store.commit(writes([("a", Some("1"))]), Durability::Buffered);
    assert_eq!(version, Ok(1));
    assert_eq!(get(&*view(store), "a").as_deref(), Some("1"));
    assert_eq!(store.sync(), Ok(()));
    assert_eq!(store.durable(), 1);
}

/// One thread writes the same number under many keys; others check that they are always equal.
fn no_view_shows_two_versions(store: &dyn Store) {
    const KEYS: u32 = 200;
    const BATCHES: u32 = 60;
    let batch = |number: u32| {
        let key = |key: u32| Bytes::from(format!("{key:04}"));
        let value = Bytes::from(format!("{number}"));
        let writes = (0..KEYS).map(|number| (key(number), Some(value.clone()))).collect();
        Batch { writes, ..Batch::default() }
    };
    store.commit(batch(0), Durability::Durable).expect("the batch is good");
    let read = |direction| -> Result<Option<String>, StoreError> {
        let view = store.view()?;
        let page = view.range(Bound::Unbounded, Bound::Unbounded, direction, usize::MAX)?;
        let first = view.get(b"0000")?.map(text);
        assert_eq!(page.entries.len(), KEYS as usize);
        for (key, value) in page.entries {
            assert_eq!(Some(text(value)), first, "{key:?} is of another version than the first");
        }
        Ok(first)
    };
    let (read, finished) = (&read, &AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=BATCHES {
                store.commit(batch(number), Durability::Buffered).expect("the batch is good");
            }
            finished.store(true, Ordering::Release);
        });
        for direction in [Direction::Forward, Direction::Backward] {
            scope.spawn(move || {
                while !finished.load(Ordering::Acquire) {
                    match read(direction) {
                        Ok(_) | Err(StoreError::Expired) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(read(Direction::Forward), Ok(Some(BATCHES.to_string())));
}

/// One thread writes, under every second key, the number of the version; others look key by key, and
/// so again and again at what they have read before.
fn what_is_read_is_of_the_version_of_the_view(store: &dyn Store) {
    const KEYS: u64 = 100;
    const BATCHES: u64 = 300;
    let key = |number: u64| Bytes::from(format!("{number:04}"));
    // Now and then one that is too long to be kept at hand.
    let value = |version: u64, number: u64| {
        let length = if version.is_multiple_of(5) { 5_000 } else { 5 };
        Bytes::from(format!("{version:0length$}.{number}"))
    };
    let batch = |version: u64| {
        let written = (0..KEYS).filter(|number| number % 2 == version % 2);
        let writes = written.map(|number| (key(number), Some(value(version, number))));
        Batch { writes: writes.collect(), ..Batch::default() }
    };
    let last_written = |version: u64, number: u64| version - (version + number) % 2;
    for version in 1..=2 {
        assert_eq!(store.commit(batch(version), Durability::Buffered), Ok(version));
    }
    let read = |from: u64| {
        let view = view(store);
        for number in (from..KEYS).chain(0..from) {
            match view.get(&key(number)) {
                Ok(found) => {
                    let version = last_written(view.version(), number);
                    let right = Some(value(version, number));
                    assert!(found == right, "{number} at version {}", view.version());
                }
                Err(StoreError::Expired) => break,
                Err(error) => panic!("{error}"),
            }
        }
    };
    let (read, finished) = (&read, &AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for version in 3..=BATCHES {
                assert_eq!(store.commit(batch(version), Durability::Buffered), Ok(version));
            }
            finished.store(true, Ordering::Release);
        });
        for from in [0, KEYS / 2] {
            scope.spawn(move || {
                let mut from = from;
                while !finished.load(Ordering::Acquire) {
                    read(from % KEYS);
                    from += 1;
                }
            });
        }
    });
    read(0);
}

fn a_submitted_batch_is_seen_early(store: &dyn Store) {
    write(store, [("a", Some("1")), ("b", Some("2")), ("d", Some("4"))]);
    let batch = writes([("a", Some("5")), ("b", None), ("c", Some("3")), ("e", Some("6"))]);
    let commit = store.submit(batch, Durability::Durable).expect("the batch is good");
    let early = view(store);
    assert_eq!(early.version(), 2);
    assert!(store.durable() < 2);
    let expected = ["a=5", "c=3", "d=4", "e=6"];
    assert_eq!(all(&*early, Direction::Forward), expected);
    assert_eq!(get(&*early, "b"), None);
    assert_eq!(commit.wait(), Ok(2));
    assert_eq!(store.durable(), 2);
    assert_eq!(all(&*early, Direction::Forward), expected, "the same view, now that it is written");
    let backward: Vec<&str> = expected.into_iter().rev().collect();
    assert_eq!(all(&*early, Direction::Backward), backward);
    assert_eq!(all(&*view(store), Direction::Forward), expected);
    for limit in 0..5 {
        let page = view(store).range(Bound::Unbounded, Bound::Unbounded, Direction::Forward, limit);
        let (entries, more) = self::page(page.expect("the view is current"));
        assert_eq!(
            (entries.as_slice(), more),
            (&expected.map(String::from)[..limit.min(4)], limit < 4)
        );
    }
}

fn a_view_lasts_until_the_next_batch(store: &dyn Store) {
    write(store, [("a", Some("1"))]);
    let old = view(store);
    assert_eq!(get(&*old, "a").as_deref(), Some("1"));
    write(store, [("a", Some("2"))]);
    match old.get(b"a") {
        Err(StoreError::Expired) => {}
        found => assert_eq!(found, Ok(Some(Bytes::from("1"))), "its own version, or none"),
    }
    match old.range(Bound::Unbounded, Bound::Unbounded, Direction::Forward, 9) {
        Err(StoreError::Expired) => {}
        found => assert_eq!(page(found.expect("expired or read")).0, ["a=1"]),
    }
}

fn the_next_batch_waits_its_turn(store: &dyn Store) {
    let first = store.submit(writes([("a", Some("1"))]), Durability::Durable).expect("good");
    thread::scope(|scope| {
        let second = scope.spawn(|| write(store, [("a", Some("2"))]));
        thread::sleep(Duration::from_millis(50));
        assert!(!second.is_finished(), "the first is still under way");
        assert_eq!(get(&*view(store), "a").as_deref(), Some("1"));
        assert_eq!(first.wait(), Ok(1));
        assert_eq!(second.join().expect("the second batch is good"), 2);
    });
    assert_eq!(get(&*view(store), "a").as_deref(), Some("2"));
}

fn the_next_batch_need_not_wait_for_the_disk(store: &dyn Store) {
    let submit = |value, number| {
        let batch =
            Batch { transactions: vec![transaction(number)], ..writes([("a", Some(value))]) };
        store.submit(batch, Durability::Durable).expect("the batch is good")
    };
    let first = submit("1", 1).write().expect("there is a disk");
    let between = view(store);
    assert_eq!((between.version(), get(&*between, "a").as_deref()), (1, Some("1")));
    let second = submit("2", 2);
    assert_eq!(get(&*view(store), "a").as_deref(), Some("2"));
    let second = second.write().expect("there is a disk");
    assert_eq!(second.wait(), Ok(2));
    assert_eq!(store.durable(), 2, "the one before it is durable with it");
    assert_eq!(first.wait(), Ok(1));
    assert_eq!(store.durable(), 2);
    assert_eq!(store.outcome(transaction(1)), Ok(Some(1)));
    drop(submit("3", 3).write().expect("there is a disk"));
    assert_eq!(get(&*view(store), "a").as_deref(), Some("3"), "written, whoever waits for it");
    assert_eq!(store.sync(), Ok(()));
    assert_eq!((store.durable(), store.outcome(transaction(3))), (3, Ok(Some(3))));
}

fn a_dropped_batch_takes_its_views_with_it(store: &dyn Store) {
    write(store, [("a", Some("1")), ("b", Some("1"))]);
    let commit = store.submit(writes([("a", Some("2"))]), Durability::Durable).expect("good");
    let early = view(store);
    assert_eq!(get(&*early, "a").as_deref(), Some("2"));
    drop(commit);
    for key in ["a", "b"] {
        assert_eq!(early.get(key.as_bytes()), Err(StoreError::Expired), "of what never was");
    }
    assert_eq!(write(store, [("b", Some("3"))]), 2, "its number is used again");
    assert_eq!(early.get(b"a"), Err(StoreError::Expired), "and still not mistaken for it");
    let range = early.range(Bound::Unbounded, Bound::Unbounded, Direction::Forward, 9);
    assert_eq!(range, Err(StoreError::Expired));
}

fn read_of(key: &'static str) -> ReadRange {
    let key = Bytes::from(key);
    ReadRange { start: Bound::Included(key.clone()), end: Bound::Included(key) }
}

fn overtaken_reads_are_refused(store: &dyn Store) {
    write(store, [("a", Some("1")), ("c", Some("1"))]);
    let everything = ReadRange { start: Bound::Unbounded, end: Bound::Unbounded };
    for (overtaking, read) in [
        ([("a", Some("2"))], read_of("a")),
        ([("a", None)], read_of("a")),
        ([("b", Some("1"))], everything.clone()),
        ([("b", None)], everything),
    ] {
        let read_version = view(store).version();
        write(store, overtaking);
        let reads = vec![read];
        let batch = Batch { read_version, reads, ..writes([("d", Some("1"))]) };
        let version = view(store).version();
        assert_eq!(store.commit(batch.clone(), Durability::Durable), Err(CommitError::Conflict));
        assert_eq!(view(store).version(), version, "nothing was written");
        let again = Batch { read_version: version, ..batch };
        assert_eq!(store.commit(again, Durability::Durable), Ok(version + 1), "run again");
    }
}

fn batches_that_do_not_meet_all_go_through(store: &dyn Store) {
    write(store, [("a", Some("1")), ("b", Some("1"))]);
    let reads = |key| vec![read_of(key)];
    let first = Batch { read_version: 1, reads: reads("a"), ..writes([("a", Some("2"))]) };
    let second = Batch { read_version: 1, reads: reads("b"), ..writes([("b", Some("2"))]) };
    let first = store.submit(first, Durability::Durable).expect("the batch is good");
    let second = store.submit(second, Durability::Durable).expect("both at once");
    assert_eq!(second.wait(), Ok(2));
    assert_eq!(first.wait(), Ok(3));
    assert_eq!(all(&*view(store), Direction::Forward), ["a=2", "b=2"]);
}

fn a_view_never_changes(store: &dyn Store) {
    write(store, [("a", Some("1"))]);
    let old = view(store);
    write(store, [("a", Some("2")), ("b", Some("1"))]);
    match old.range(Bound::Unbounded, Bound::Unbounded, Direction::Forward, 9) {
        Err(StoreError::Expired) => {}
        found => assert_eq!(page(found.expect("expired or read")).0, ["a=1"]),
    }
}
