//! Keys: what was encoded is decoded, order is kept, and no kind changes its byte.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::ops::Bound;

use proptest::prelude::*;
use quixos_runtime::key::{self, Key, Kind};
use quixos_runtime::{ObjectRef, Ulid};
use quixos_schema::Tag;

fn any_tag() -> impl Strategy<Value = Tag> {
    any::<[u8; 4]>().prop_map(Tag)
}

fn any_object() -> impl Strategy<Value = ObjectRef> {
    (any_tag(), any::<[u8; 16]>())
        .prop_map(|(atom, id)| ObjectRef { atom, id: Ulid::from_bytes(id) })
}

/// Bytes in which zeros and ends of the alphabet are frequent.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0_u8), Just(1), Just(0xFE), Just(0xFF), any::<u8>()];
    prop::collection::vec(byte, 0..8)
}

fn any_key() -> impl Strategy<Value = Key<'static>> {
    key_on(any_object().boxed(), any_tag().boxed())
}

/// A key on few objects and slots, so that two of them often begin the same.
fn near_key() -> impl Strategy<Value = Key<'static>> {
    let tags = [[0; 4], [0, 0, 0, 1], *b"slot", [0xFF; 4]].map(Tag);
    let ids = [0, 1, 256, u128::MAX].map(Ulid);
    let tag = || prop::sample::select(tags.to_vec()).boxed();
    let object = (tag(), prop::sample::select(ids.to_vec()));
    key_on(object.prop_map(|(atom, id)| ObjectRef { atom, id }).boxed(), tag())
}

fn key_on(
    object: BoxedStrategy<ObjectRef>,
    tag: BoxedStrategy<Tag>,
) -> impl Strategy<Value = Key<'static>> {
    let any_object = || object.clone();
    let slot = || (object.clone(), tag.clone());
    prop_oneof![
        ".*".prop_map(|name: String| Key::Meta(name.into())),
        any::<[u8; 16]>().prop_map(|id| Key::Transaction(Ulid::from_bytes(id))),
        any_object().prop_map(Key::Object),
        slot().prop_map(|(object, slot)| Key::State { object, slot }),
        (slot(), any_bytes()).prop_map(|((source, slot), at)| Key::Edge {
            source,
            slot,
            at: at.into()
        }),
        (any_object(), slot(), any_bytes(), any_bytes()).prop_map(
            |(target, (source, slot), key, at)| Key::Inverse {
                target,
                source,
                slot,
                key: key.into(),
                at: at.into(),
            }
        ),
        slot().prop_map(|(object, slot)| Key::Stream { object, slot }),
        (slot(), any::<u64>()).prop_map(|((object, slot), offset)| Key::Event {
            object,
            slot,
            offset
        }),
        (slot(), ".*").prop_map(|((object, slot), name): (_, String)| Key::Cursor {
            object,
            slot,
            name: name.into(),
        }),
        any::<u64>().prop_map(Key::History),
    ]
}

/// A part of what a key says.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Part {
    Number(u128),
    Bytes(Vec<u8>),
}

/// What a key says, the more important first.
fn said(key: &Key<'_>) -> (Kind, Vec<Part>) {
    let bytes = |bytes: &[u8]| Part::Bytes(bytes.to_vec());
    let tag = |tag: &Tag| Part::Bytes(tag.0.to_vec());
    let id = |object: &ObjectRef| Part::Number(object.id.0);
    let slot_of = |object: &ObjectRef, slot: &Tag| vec![tag(&object.atom), id(object), tag(slot)];
    let and = |mut parts: Vec<Part>, last| {
        parts.push(last);
        parts
    };
    match key {
        Key::Meta(name) => (Kind::Meta, vec![bytes(name.as_bytes())]),
        Key::Transaction(id) => (Kind::Transaction, vec![Part::Number(id.0)]),
        Key::Object(object) => (Kind::Object, vec![tag(&object.atom), id(object)]),
        Key::State { object, slot } => (Kind::State, slot_of(object, slot)),
        Key::Edge { source, slot, at } => (Kind::Edge, and(slot_of(source, slot), bytes(at))),
        Key::Inverse { target, source, slot, key, at } => {
            let to = [tag(&target.atom), id(target)];
            let by = [tag(&source.atom), tag(slot), bytes(key), id(source), bytes(at)];
            (Kind::Inverse, to.into_iter().chain(by).collect())
        }
        Key::Stream { object, slot } => (Kind::Stream, slot_of(object, slot)),
        Key::Event { object, slot, offset } => {
            (Kind::Event, and(slot_of(object, slot), Part::Number((*offset).into())))
        }
        Key::Cursor { object, slot, name } => {
            (Kind::Cursor, and(slot_of(object, slot), bytes(name.as_bytes())))
        }
        Key::History(commit) => (Kind::History, vec![Part::Number((*commit).into())]),
    }
}

proptest! {
    #[test]
    fn keys_sort_as_what_they_say(left in near_key(), right in near_key()) {
        let order = said(&left).cmp(&said(&right));
        let (left_bytes, right_bytes) = (left.encode(), right.encode());
        prop_assert_eq!(left_bytes.cmp(&right_bytes), order);
        prop_assert_eq!(Key::decode(&left_bytes), Ok(left));
    }

    #[test]
    fn what_was_encoded_is_decoded(key in any_key()) {
        let bytes = key.encode();
        prop_assert_eq!(Key::decode(&bytes), Ok(key));
    }

    #[test]
    fn what_is_decoded_is_encoded_the_same(bytes in any_bytes(), kind in 0..Kind::ALL.len()) {
        let bytes = [&[Kind::ALL[kind] as u8][..], &[7; 44][..], &bytes[..]].concat();
        for end in 0..bytes.len() {
            if let Ok(key) = Key::decode(&bytes[..end]) {
                prop_assert_eq!(&key.encode()[..], &bytes[..end]);
            }
        }
    }

    #[test]
    fn events_history_and_targets_are_in_their_order(
        a in any::<u64>(), b in any::<u64>(), on in any_object(), x in any_object(), y in any_object()
    ) {
        let slot = Tag([1; 4]);
        prop_assert_eq!(a.cmp(&b), key::history(a).cmp(&key::history(b)));
        prop_assert_eq!(a.cmp(&b), key::event(on, slot, a).cmp(&key::event(on, slot, b)));
        let order = (x.id, x.atom).cmp(&(y.id, y.atom));
        prop_assert_eq!(order, key::at_target(x).cmp(&key::at_target(y)));
        prop_assert_eq!(key::target_at(&key::at_target(x)), Some(x));
    }

    /// By key first, whatever bytes it has, then by source; and no key is the beginning of another.
    #[test]
    fn inverses_are_in_the_order_of_their_keys(
        left in any_bytes(), right in any_bytes(), x in any_object(), y in any_object(), to in any_object()
    ) {
        let slot = Tag([1; 4]);
        let y = ObjectRef { atom: x.atom, ..y };
        let encode = |key: &[u8], source| key::inverse(to, source, slot, key, b"at");
        let order = (&left, x.id).cmp(&(&right, y.id));
        prop_assert_eq!(order, encode(&left, x).cmp(&encode(&right, y)));
        let at = key::inverses_at(to, x.atom, slot, &left);
        prop_assert_eq!(encode(&right, y).starts_with(&at), left == right);
        prop_assert!(encode(&right, y).starts_with(&key::inverses(to, x.atom, slot)));
        prop_assert!(encode(&right, y).starts_with(&key::holders(to)));
    }

    #[test]
    fn the_end_of_a_beginning_is_behind_all_that_begin_so(prefix in any_bytes(), rest in any_bytes()) {
        let end = key::end_of(&prefix);
        let with = [prefix.clone(), rest.clone()].concat();
        match &end {
            Bound::Excluded(end) => {
                prop_assert!(with[..] < end[..]);
                // And before all that come later and begin otherwise.
                if rest[..] >= end[..] {
                    prop_assert!(!rest.starts_with(&prefix));
                }
            }
            Bound::Included(_) => prop_assert!(false),
            Bound::Unbounded => prop_assert!(prefix.iter().all(|byte| *byte == 0xFF)),
        }
    }
}

/// A kind, once shipped, keeps its byte.
#[test]
fn kinds_keep_their_bytes() {
    let bytes = Kind::ALL.map(|kind| kind as u8);
    assert_eq!(bytes, [0x01, 0x02, 0x10, 0x11, 0x12, 0x13, 0x20, 0x21, 0x22, 0x30]);
    assert!(Kind::ALL.into_iter().all(|kind| Kind::of(kind as u8) == Some(kind)));
    assert_eq!(Kind::of(0xFF), None);
}

/// A layout, once shipped, stays.
#[test]
fn layouts_stay() {
    let object = ObjectRef { atom: Tag(*b"atom"), id: Ulid::from_bytes(*b"0123456789abcdef") };
    let source = ObjectRef { atom: Tag(*b"from"), ..object };
    let slot = Tag(*b"slot");
    let text = |bytes: bytes::Bytes| bytes.escape_ascii().to_string();
    assert_eq!(text(key::meta("format")), r"\x01format");
    assert_eq!(text(key::transaction(object.id)), r"\x020123456789abcdef");
    assert_eq!(text(key::object(object)), r"\x10atom0123456789abcdef");
    assert_eq!(text(key::state(object, slot)), r"\x11atom0123456789abcdefslot");
    assert_eq!(text(key::edge(object, slot, b"at")), r"\x12atom0123456789abcdefslotat");
    assert_eq!(
        text(key::inverse(object, source, slot, b"k\0y", b"at")),
        r"\x13atom0123456789abcdeffromslotk\x00\xffy\x00\x000123456789abcdefat"
    );
    assert_eq!(
        text(key::stream(object, slot)),
        r"\x20atom0123456789abcdefslot".replace(r"\x20", " ")
    );
    assert_eq!(
        text(key::event(object, slot, 258)),
        r"!atom0123456789abcdefslot\x00\x00\x00\x00\x00\x00\x01\x02"
    );
    assert_eq!(text(key::cursor(object, slot, "me")), "\\\"atom0123456789abcdefslotme");
    assert_eq!(text(key::history(1)), r"0\x00\x00\x00\x00\x00\x00\x00\x01");
}
