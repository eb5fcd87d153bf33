//! A key, as a store of anybody's has it.

use std::ops::Bound;

use bytes::Bytes;
use quixos_runtime::key::{self, Key};
use quixos_runtime::{ObjectRef, Tag, Ulid};

/// Reads bytes as a key, and makes keys of them. It must be that
///
/// - what is read as a key is what that key is written as;
/// - what is written is read as what it was, whatever its parts hold;
/// - whatever begins with some bytes lies between them and the end of their range.
pub fn keys(bytes: &[u8]) {
    if let Ok(key) = Key::decode(bytes) {
        assert_eq!(key.encode(), bytes, "{key:?}");
    }
    for key in made_of(bytes) {
        assert_eq!(Key::decode(&key.encode()).as_ref(), Ok(&key));
    }
    let end = key::end_of(bytes);
    for behind in [&[][..], &[0], &[0xFF, 0xFF]] {
        let longer = [bytes, behind].concat();
        let is_before = match &end {
            Bound::Excluded(end) => longer < *end,
            Bound::Included(_) | Bound::Unbounded => bytes.iter().all(|byte| *byte == 0xFF),
        };
        assert!(is_before, "{longer:02x?} is not before {end:02x?}");
    }
    assert_eq!(key::target_at(bytes).map(key::at_target).as_ref().map(|it| &it[..]), {
        (bytes.len() == ObjectRef::LEN).then_some(bytes)
    });
}

/// Makes a key of each kind whose parts can be any bytes.
fn made_of(bytes: &[u8]) -> Vec<Key<'_>> {
    let number = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let object = |at: usize| {
        let id = Ulid::from_bytes(std::array::from_fn(|byte| number(at + byte)));
        ObjectRef { atom: Tag([number(at), 0, 0xFF, 0]), id }
    };
    let slot = Tag([number(1), number(2), 0, 0xFF]);
    let (key, at) = bytes.split_at(bytes.len() / 2);
    let mut keys = vec![
        Key::Edge { source: object(0), slot, at: bytes.into() },
        Key::Inverse { target: object(0), source: object(3), slot, key: key.into(), at: at.into() },
        Key::History(u64::from_le_bytes(std::array::from_fn(number))),
    ];
    if let Ok(text) = std::str::from_utf8(bytes) {
        keys.push(Key::Meta(text.into()));
        keys.push(Key::Cursor { object: object(0), slot, name: text.into() });
    }
    // Neighbours in one key must not run into each other.
    let whole = Bytes::copy_from_slice(bytes);
    let inverse = key::inverse(object(1), object(2), slot, &whole, at);
    assert!(inverse.starts_with(&key::inverses_at(object(1), object(2).atom, slot, &whole)));
    keys
}
