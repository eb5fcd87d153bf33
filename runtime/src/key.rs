//! What a key of the store means: one table, and nothing else knows a layout.
//!
//! | first byte | then | value |
//! | --- | --- | --- |
//! | `01` meta | name | what the name says, see `meta.rs` |
//! | `02` transaction | transaction id (16) | the first answer, see `history.rs` |
//! | `10` object | atom tag (4), id (16) | header: commit and instant of its creation, targets of its `one` edges, see `header.rs` |
//! | `11` state | atom tag, id, slot tag (4) | the value |
//! | `12` edge that may change | atom tag, id, slot tag, *at* | the target (20), or nothing where *at* names it, or where it is not what the header says |
//! | `13` inverse | target's atom tag and id, source's atom tag, edge slot tag, escaped inverse key, source's id, *at* of a keyed edge | nothing |
//! | `20` stream | atom tag, id, slot tag | the next offset |
//! | `21` event | atom tag, id, slot tag, offset (8) | commit, instant, event |
//! | `22` cursor | atom tag, id, slot tag, name | the offset it stands at |
//! | `30` history | commit (8) | the entry |
//!
//! *at* is nothing for an edge with at most one target, the target's id (16) and atom tag (4) for a set,
//! the key for a map. Numbers are big-endian, so that byte order is their order. An inverse key
//! is escaped (`00` becomes `00 FF`) and ended by `00 00`, so that its order is kept and none is
//! the beginning of another. `FF` as a first byte is the store's own.
//!
//! A kind, once shipped, keeps its byte and its layout.

use std::borrow::Cow;
use std::ops::Bound;

use bytes::{BufMut, Bytes, BytesMut};
use quixos_schema::Tag;
use ulid::Ulid;

use crate::reference::ObjectRef;

/// The first byte of a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// What the store says about itself.
    Meta = 0x01,
    /// The answer to a named transaction.
    Transaction = 0x02,
    /// That an object exists.
    Object = 0x10,
    /// A state slot of an object.
    State = 0x11,
    /// An edge of an object, but for those that its header has.
    Edge = 0x12,
    /// The other end of an edge.
    Inverse = 0x13,
    /// The length of a stream.
    Stream = 0x20,
    /// An event of a stream.
    Event = 0x21,
    /// Where a reader of a stream stands.
    Cursor = 0x22,
    /// A committed call.
    History = 0x30,
}

impl Kind {
    /// Every kind, in the order of the bytes.
    pub const ALL: [Self; 10] = [
        Self::Meta,
        Self::Transaction,
        Self::Object,
        Self::State,
        Self::Edge,
        Self::Inverse,
        Self::Stream,
        Self::Event,
        Self::Cursor,
        Self::History,
    ];

    /// Returns the kind of a first byte.
    #[must_use]
    pub fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// A key, taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Key<'a> {
    /// What the store says about itself.
    Meta(Cow<'a, str>),
    /// The answer to a named transaction.
    Transaction(Ulid),
    /// That an object exists.
    Object(ObjectRef),
    /// A state slot of an object.
    State {
        /// The object.
        object: ObjectRef,
        /// The slot.
        slot: Tag,
    },
    /// An edge of an object, but for those that its header has.
    Edge {
        /// Where it begins.
        source: ObjectRef,
        /// The slot.
        slot: Tag,
        /// Which of the slot's targets, see [`at_target`].
        at: Cow<'a, [u8]>,
    },
    /// The other end of an edge.
    Inverse {
        /// Where the edge leads.
        target: ObjectRef,
        /// Where it begins.
        source: ObjectRef,
        /// Its slot.
        slot: Tag,
        /// The inverse's key, empty where it is not keyed.
        key: Cow<'a, [u8]>,
        /// The edge's own key, empty where it is not keyed.
        at: Cow<'a, [u8]>,
    },
    /// The length of a stream.
    Stream {
        /// The object.
        object: ObjectRef,
        /// The slot.
        slot: Tag,
    },
    /// An event of a stream.
    Event {
        /// The object.
        object: ObjectRef,
        /// The slot.
        slot: Tag,
        /// Its place in the stream.
        offset: u64,
    },
    /// Where a reader of a stream stands.
    Cursor {
        /// The object.
        object: ObjectRef,
        /// The slot.
        slot: Tag,
        /// The reader's name.
        name: Cow<'a, str>,
    },
    /// A committed call.
    History(u64),
}

/// Why bytes are no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyError {
    /// No kind has this first byte.
    #[error("no kind of key begins so")]
    Kind,
    /// It ends early, or late.
    #[error("the key has the wrong length")]
    Length,
    /// A name is not UTF-8.
    #[error("a name in the key is not UTF-8")]
    Text,
    /// An inverse key is not escaped as it should be.
    #[error("the inverse key does not end")]
    Escape,
}

impl Key<'_> {
    /// Returns the bytes.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        match self {
            Self::Meta(name) => meta(name),
            Self::Transaction(id) => transaction(*id),
            Self::Object(object) => self::object(*object),
            Self::State { object, slot } => state(*object, *slot),
            Self::Edge { source, slot, at } => edge(*source, *slot, at),
            Self::Inverse { target, source, slot, key, at } => {
                inverse(*target, *source, *slot, key, at)
            }
            Self::Stream { object, slot } => stream(*object, *slot),
            Self::Event { object, slot, offset } => event(*object, *slot, *offset),
            Self::Cursor { object, slot, name } => cursor(*object, *slot, name),
            Self::History(commit) => history(*commit),
        }
    }
}

impl<'a> Key<'a> {
    /// Takes bytes apart.
    ///
    /// # Errors
    /// When they are not what [`Key::encode`] makes.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, KeyError> {
        let (first, rest) = bytes.split_first().ok_or(KeyError::Length)?;
        let mut rest = Rest(rest);
        let key = match Kind::of(*first).ok_or(KeyError::Kind)? {
            Kind::Meta => Self::Meta(rest.text()?.into()),
            Kind::Transaction => Self::Transaction(Ulid::from_bytes(rest.take()?)),
            Kind::Object => Self::Object(rest.reference()?),
            Kind::State => Self::State { object: rest.reference()?, slot: Tag(rest.take()?) },
            Kind::Edge => Self::Edge {
                source: rest.reference()?,
                slot: Tag(rest.take()?),
                at: rest.all().into(),
            },
            Kind::Inverse => {
                let target = rest.reference()?;
                let atom = Tag(rest.take()?);
                let slot = Tag(rest.take()?);
                let key = rest.escaped()?;
                let id = Ulid::from_bytes(rest.take()?);
                let source = ObjectRef { atom, id };
                Self::Inverse { target, source, slot, key, at: rest.all().into() }
            }
            Kind::Stream => Self::Stream { object: rest.reference()?, slot: Tag(rest.take()?) },
            Kind::Event => Self::Event {
                object: rest.reference()?,
                slot: Tag(rest.take()?),
                offset: u64::from_be_bytes(rest.take()?),
            },
            Kind::Cursor => Self::Cursor {
                object: rest.reference()?,
                slot: Tag(rest.take()?),
                name: rest.text()?.into(),
            },
            Kind::History => Self::History(u64::from_be_bytes(rest.take()?)),
        };
        if rest.0.is_empty() { Ok(key) } else { Err(KeyError::Length) }
    }
}

/// What is left of a key while it is taken apart.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], KeyError> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or(KeyError::Length)?;
        self.0 = tail;
        Ok(*head)
    }

    fn reference(&mut self) -> Result<ObjectRef, KeyError> {
        Ok(ObjectRef::from_bytes(self.take()?))
    }

    fn all(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    fn text(&mut self) -> Result<&'a str, KeyError> {
        std::str::from_utf8(self.all()).map_err(|_| KeyError::Text)
    }

    fn escaped(&mut self) -> Result<Cow<'a, [u8]>, KeyError> {
        let bytes = self.0;
        let zero = bytes.iter().position(|byte| *byte == 0).ok_or(KeyError::Escape)?;
        if bytes.get(zero + 1) != Some(&0) {
            return self.unescaped().map(Cow::Owned);
        }
        // As most keys are: nothing in it is escaped.
        self.0 = &bytes[zero + 2..];
        Ok(Cow::Borrowed(&bytes[..zero]))
    }

    fn unescaped(&mut self) -> Result<Vec<u8>, KeyError> {
        let mut plain = Vec::new();
        let mut at = 0;
        loop {
            match (self.0.get(at), self.0.get(at + 1)) {
                (Some(0), Some(0)) => break,
                (Some(0), Some(0xFF)) => {
                    plain.push(0);
                    at += 2;
                }
                (Some(0) | None, _) => return Err(KeyError::Escape),
                (Some(byte), _) => {
                    plain.push(*byte);
                    at += 1;
                }
            }
        }
        self.0 = &self.0[at + 2..];
        Ok(plain)
    }
}

fn begin(kind: Kind, room: usize) -> BytesMut {
    let mut key = BytesMut::with_capacity(1 + room);
    key.put_u8(kind as u8);
    key
}

fn slot_of(kind: Kind, object: ObjectRef, slot: Tag, room: usize) -> BytesMut {
    let mut key = begin(kind, 24 + room);
    key.put_slice(&object.to_bytes());
    key.put_slice(&slot.0);
    key
}

/// The key of something that the store says about itself.
#[must_use]
pub fn meta(name: &str) -> Bytes {
    let mut key = begin(Kind::Meta, name.len());
    key.put_slice(name.as_bytes());
    key.freeze()
}

/// The key of the answer to a named transaction.
#[must_use]
pub fn transaction(id: Ulid) -> Bytes {
    let mut key = begin(Kind::Transaction, 16);
    key.put_slice(&id.to_bytes());
    key.freeze()
}

/// The key that says that an object exists.
#[must_use]
pub fn object(object: ObjectRef) -> Bytes {
    let mut key = begin(Kind::Object, ObjectRef::LEN);
    key.put_slice(&object.to_bytes());
    key.freeze()
}

/// The key of a state slot.
#[must_use]
pub fn state(object: ObjectRef, slot: Tag) -> Bytes {
    slot_of(Kind::State, object, slot, 0).freeze()
}

/// The key of an edge; with an empty `at`, the beginning of every key of the slot.
#[must_use]
pub fn edge(source: ObjectRef, slot: Tag, at: &[u8]) -> Bytes {
    let mut key = slot_of(Kind::Edge, source, slot, at.len());
    key.put_slice(at);
    key.freeze()
}

/// The key of the other end of an edge.
#[must_use]
pub fn inverse(target: ObjectRef, source: ObjectRef, slot: Tag, key: &[u8], at: &[u8]) -> Bytes {
    let mut bytes = inverse_begin(target, source.atom, slot, key.len() + 2 + 16 + at.len());
    put_escaped(&mut bytes, key);
    bytes.put_slice(&source.id.to_bytes());
    bytes.put_slice(at);
    bytes.freeze()
}

/// The beginning of every inverse key of an edge slot that leads to a target.
#[must_use]
pub fn inverses(target: ObjectRef, atom: Tag, slot: Tag) -> Bytes {
    inverse_begin(target, atom, slot, 0).freeze()
}

/// The beginning of every one of those that has a key.
#[must_use]
pub fn inverses_at(target: ObjectRef, atom: Tag, slot: Tag, key: &[u8]) -> Bytes {
    let mut bytes = inverse_begin(target, atom, slot, key.len() + 2);
    put_escaped(&mut bytes, key);
    bytes.freeze()
}

/// The beginning of every inverse key of a target: all that leads to it.
#[must_use]
pub fn holders(target: ObjectRef) -> Bytes {
    let mut key = begin(Kind::Inverse, ObjectRef::LEN);
    key.put_slice(&target.to_bytes());
    key.freeze()
}

fn inverse_begin(target: ObjectRef, atom: Tag, slot: Tag, room: usize) -> BytesMut {
    let mut key = begin(Kind::Inverse, 28 + room);
    key.put_slice(&target.to_bytes());
    key.put_slice(&atom.0);
    key.put_slice(&slot.0);
    key
}

fn put_escaped(key: &mut BytesMut, plain: &[u8]) {
    for (at, part) in plain.split(|byte| *byte == 0).enumerate() {
        if at > 0 {
            key.put_slice(&[0, 0xFF]);
        }
        key.put_slice(part);
    }
    key.put_slice(&[0, 0]);
}

/// The key of a stream's length.
#[must_use]
pub fn stream(object: ObjectRef, slot: Tag) -> Bytes {
    slot_of(Kind::Stream, object, slot, 0).freeze()
}

/// The key of an event.
#[must_use]
pub fn event(object: ObjectRef, slot: Tag, offset: u64) -> Bytes {
    let mut key = slot_of(Kind::Event, object, slot, 8);
    key.put_u64(offset);
    key.freeze()
}

/// The key of a reader's cursor; with an empty name, the beginning of every one of the stream.
#[must_use]
pub fn cursor(object: ObjectRef, slot: Tag, name: &str) -> Bytes {
    let mut key = slot_of(Kind::Cursor, object, slot, name.len());
    key.put_slice(name.as_bytes());
    key.freeze()
}

/// The key of a committed call.
#[must_use]
pub fn history(commit: u64) -> Bytes {
    let mut key = begin(Kind::History, 8);
    key.put_u64(commit);
    key.freeze()
}

/// The beginning of every key of a kind.
#[must_use]
pub fn all_of(kind: Kind) -> Bytes {
    begin(kind, 0).freeze()
}

/// The beginning of the key of every object of an atom.
#[must_use]
pub fn objects(atom: Tag) -> Bytes {
    let mut key = begin(Kind::Object, 4);
    key.put_slice(&atom.0);
    key.freeze()
}

/// What names a target in a set: its id, then its atom, so that the order is that of ids.
#[must_use]
pub fn at_target(target: ObjectRef) -> [u8; ObjectRef::LEN] {
    let mut at = [0; ObjectRef::LEN];
    at[..16].copy_from_slice(&target.id.to_bytes());
    at[16..].copy_from_slice(&target.atom.0);
    at
}

/// Reads what [`at_target`] made.
#[must_use]
pub fn target_at(at: &[u8]) -> Option<ObjectRef> {
    let (id, rest) = at.split_first_chunk::<16>()?;
    Some(ObjectRef { atom: Tag(rest.try_into().ok()?), id: Ulid::from_bytes(*id) })
}

/// Returns the end of the range of keys that begin so.
#[must_use]
pub fn end_of(prefix: &[u8]) -> Bound<Bytes> {
    match prefix.iter().rposition(|byte| *byte != 0xFF) {
        Some(at) => {
            let mut end = BytesMut::from(&prefix[..=at]);
            end[at] += 1;
            Bound::Excluded(end.freeze())
        }
        None => Bound::Unbounded,
    }
}
