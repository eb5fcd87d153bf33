//! The stores against a plain map. Whatever is written, dropped, buffered or cut off by closing and
//! opening again, gets, ranges and pages answer as the map would.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod store_support;

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use quixos_runtime::store::{
    Batch, Commit, Direction, Durability, MemoryStore, SledOptions, SledStore, Store, StoreError,
    View,
};
use store_support::options;
use tempfile::tempdir;

type Model = BTreeMap<Bytes, Bytes>;
type Writes = BTreeMap<Bytes, Option<Bytes>>;

#[derive(Clone, Debug)]
enum Step {
    /// Look while the batch is under way, and then write it.
    Write(Writes, Durability),
    /// Look while the batch is under way, and then drop it.
    Drop(Writes),
    Sync,
    /// Close the store and open it again.
    Reopen,
}

#[derive(Clone, Debug)]
struct Look {
    key: Bytes,
    start: Bound<Bytes>,
    end: Bound<Bytes>,
    limit: usize,
}

/// Few keys, so that steps meet; some are prefixes of others, some hold the bytes that end a range.
fn key() -> impl Strategy<Value = Bytes> {
    let byte = prop_oneof![Just(0u8), Just(1), Just(b'a'), Just(0xFE), Just(0xFF)];
    let key = vec(byte, 1..4).prop_filter("reserved", |key| key[0] != 0xFF);
    key.prop_map(Bytes::from)
}

fn value() -> impl Strategy<Value = Bytes> {
    let length = prop_oneof![8 => 0usize..40, 2 => 500usize..600, 1 => 32_700usize..32_800,
        1 => Just(70_000usize)];
    (length, any::<u8>()).prop_map(|(length, fill)| Bytes::from(vec![fill; length]))
}

fn writes() -> impl Strategy<Value = Writes> {
    btree_map(key(), proptest::option::weighted(0.7, value()), 0..12)
}

fn step() -> impl Strategy<Value = Step> {
    let durability = prop_oneof![Just(Durability::Durable), Just(Durability::Buffered)];
    prop_oneof![
        8 => (writes(), durability).prop_map(|(writes, durability)| Step::Write(writes, durability)),
        2 => writes().prop_map(Step::Drop),
        1 => Just(Step::Sync),
        1 => Just(Step::Reopen),
    ]
}

fn bound() -> impl Strategy<Value = Bound<Bytes>> {
    prop_oneof![
        Just(Bound::Unbounded),
        key().prop_map(Bound::Included),
        key().prop_map(Bound::Excluded),
    ]
}

fn look() -> impl Strategy<Value = Look> {
    (key(), bound(), bound(), 0usize..6).prop_map(|(key, start, end, limit)| Look {
        key,
        start,
        end,
        limit,
    })
}

/// Checks that a view answers as a map does.
fn same(view: &dyn View, model: &Model, look: &Look) -> Result<(), TestCaseError> {
    prop_assert_eq!(view.get(&look.key), Ok(model.get(&look.key).cloned()));
    let inside = |key: &Bytes| {
        let after = match &look.start {
            Bound::Included(start) => key >= start,
            Bound::Excluded(start) => key > start,
            Bound::Unbounded => true,
        };
        after
            && match &look.end {
                Bound::Included(end) => key <= end,
                Bound::Excluded(end) => key < end,
                Bound::Unbounded => true,
            }
    };
    let mut expected: Vec<_> = model.iter().filter(|(key, _)| inside(key)).collect();
    for direction in [Direction::Forward, Direction::Backward] {
        let (start, end) = (look.start.as_ref(), look.end.as_ref());
        let bounds = (start.map(Bytes::as_ref), end.map(Bytes::as_ref));
        let page = view.range(bounds.0, bounds.1, direction, look.limit).unwrap();
        prop_assert!(
            page.entries
                .iter()
                .map(|(key, value)| (key, value))
                .eq(expected.iter().copied().take(look.limit)),
            "{direction:?} {bounds:?}"
        );
        prop_assert_eq!(page.more, expected.len() > look.limit);
        expected.reverse();
    }
    Ok(())
}

fn submit(store: &dyn Store, writes: &Writes, durability: Durability) -> Box<dyn Commit> {
    let writes = writes.clone().into_iter().collect();
    store.submit(Batch { writes, ..Batch::default() }, durability).unwrap()
}

fn with(model: &Model, writes: Writes) -> Model {
    let mut model = model.clone();
    for (key, value) in writes {
        match value {
            Some(value) => model.insert(key, value),
            None => model.remove(&key),
        };
    }
    model
}

fn run<S: Store>(
    mut store: S,
    reopen: impl Fn(S) -> S,
    steps: Vec<(Step, Look)>,
) -> Result<(), TestCaseError> {
    let mut model = Model::new();
    let mut version = 0;
    for (step, look) in steps {
        match step {
            Step::Write(writes, durability) => {
                let before = store.view().unwrap();
                let shown = model.get(&look.key).cloned();
                let commit = submit(&store, &writes, durability);
                model = with(&model, writes);
                version += 1;
                let view = store.view().unwrap();
                same(&*view, &model, &look)?;
                prop_assert_eq!(commit.wait(), Ok(version));
                same(&*view, &model, &look)?;
                match before.get(&look.key) {
                    Ok(found) => prop_assert_eq!(found, shown),
                    Err(error) => prop_assert_eq!(error, StoreError::Expired),
                }
            }
            Step::Drop(writes) => {
                let commit = submit(&store, &writes, Durability::Durable);
                let view = store.view().unwrap();
                same(&*view, &with(&model, writes), &look)?;
                drop(commit);
                prop_assert_eq!(view.get(&look.key), Err(StoreError::Expired));
            }
            Step::Sync => {
                store.sync().unwrap();
                prop_assert_eq!(store.durable(), version);
            }
            Step::Reopen => store = reopen(store),
        }
        let view = store.view().unwrap();
        prop_assert_eq!(view.version(), version);
        same(&*view, &model, &look)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn memory_is_like_a_map(steps in vec((step(), look()), 0..30)) {
        run(MemoryStore::new(), |store| store, steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sled_is_like_a_map(
        steps in vec((step(), look()), 0..30),
        recent_bytes in prop_oneof![Just(0), Just(16 << 10), Just(32 << 20)],
    ) {
        let folder = tempdir().unwrap();
        let open = || {
            let options = SledOptions { recent_bytes, ..options() };
            SledStore::open(folder.path(), options).unwrap()
        };
        let reopen = |store| {
            drop(store);
            open()
        };
        run(open(), reopen, steps)?;
    }
}
