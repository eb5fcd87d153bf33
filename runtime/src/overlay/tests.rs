//! The layers against one map that has it all, with few keys, so that they hide each other.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;
use chrono::DateTime;
use proptest::prelude::*;
use ulid::Ulid;

use super::{Base, Entry, Gathered, Read};
use crate::ids::SeededIds;
use crate::limits::Limits;
use crate::store::{Batch, Direction, Durability, MemoryStore, Store};
use crate::transaction::{Access, Circumstances, Transaction};

type Layer = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

fn any_key() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(1..4_u8, 1..3)
}

fn any_layer() -> impl Strategy<Value = Layer> {
    prop::collection::btree_map(any_key(), prop::option::of(any_key()), 0..10)
}

fn any_bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
    prop_oneof![
        Just(Bound::Unbounded),
        any_key().prop_map(Bound::Included),
        any_key().prop_map(Bound::Excluded),
    ]
}

fn own(layer: &Layer) -> impl Iterator<Item = (Bytes, Option<Bytes>)> {
    let bytes = |value: &Option<Vec<u8>>| value.clone().map(Bytes::from);
    layer.iter().map(move |(key, value)| (Bytes::from(key.clone()), bytes(value)))
}

fn all(layers: &[&Layer]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut all = Layer::new();
    layers.iter().for_each(|layer| all.extend((*layer).clone()));
    all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

fn expected(
    all: &BTreeMap<Vec<u8>, Vec<u8>>,
    (start, end): (&Bound<Vec<u8>>, &Bound<Vec<u8>>),
    direction: Direction,
    limit: usize,
) -> Vec<Entry> {
    let within = |key: &Vec<u8>| {
        (match start {
            Bound::Included(start) => key >= start,
            Bound::Excluded(start) => key > start,
            Bound::Unbounded => true,
        }) && match end {
            Bound::Included(end) => key <= end,
            Bound::Excluded(end) => key < end,
            Bound::Unbounded => true,
        }
    };
    let found = all.iter().filter(|(key, _)| within(key));
    let entry = |(key, value): (&Vec<u8>, &Vec<u8>)| (key.clone().into(), value.clone().into());
    match direction {
        Direction::Forward => found.take(limit).map(entry).collect(),
        Direction::Backward => found.rev().take(limit).map(entry).collect(),
    }
}

proptest! {
    #[test]
    fn layers_read_as_one_map(
        below in any_layer(), gathered in any_layer(), written in any_layer(),
        start in any_bound(), end in any_bound(), backward in any::<bool>(), limit in 0..6_usize,
        key in any_key(), copied in any::<bool>(),
    ) {
        let store = MemoryStore::new();
        let batch = Batch { writes: own(&below).collect(), ..Batch::default() };
        store.commit(batch, Durability::Durable).expect("memory takes it");
        let over = match copied {
            true => Gathered::Copy(own(&gathered).collect()),
            false => Gathered::Own(own(&gathered).collect()),
        };
        let base = Base::new(over, store.view().expect("memory has a view"), 0, 0);
        let circumstances = Circumstances {
            instant: DateTime::UNIX_EPOCH,
            commit: 1,
            actor: "anna",
            last_id: Ulid::nil(),
            ids: &SeededIds::new(0),
            limits: Limits::default(),
            access: Access::Write,
        };
        let transaction = Transaction::new(&base, circumstances, false);
        for (key, value) in own(&written) {
            match value {
                Some(value) => transaction.put(key, value).expect("within the limits"),
                None => transaction.delete(key).expect("within the limits"),
            }
        }
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let range = (start.as_ref().map(Vec::as_slice), end.as_ref().map(Vec::as_slice));
        let two = all(&[&below, &gathered]);
        prop_assert_eq!(
            base.range(range, direction, limit),
            Ok(expected(&two, (&start, &end), direction, limit))
        );
        let three = all(&[&below, &gathered, &written]);
        prop_assert_eq!(
            transaction.range(range, direction, limit),
            Ok(expected(&three, (&start, &end), direction, limit))
        );
        prop_assert_eq!(
            transaction.get(&key),
            Ok(three.get(&key).map(|value| Bytes::from(value.clone())))
        );
    }
}
