//! References to objects: untyped at the boundary, typed in generated code.
//!
//! A reference carries the atom and the object's id; both are stored, so that a reference to the
//! wrong type is found wherever it turns up. Its text form (atom id, `/`, ULID) needs the
//! definitions, see [`crate::Definitions`].

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use quixos_schema::Tag;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ulid::Ulid;

use crate::error::CallError;

/// A reference to an object of any atom. Twenty bytes, in memory and in the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// Which atom.
    pub atom: Tag,
    /// Which object; sorts by creation.
    pub id: Ulid,
}

impl ObjectRef {
    /// The bytes of a stored reference.
    pub const LEN: usize = 20;

    /// Returns the stored form: the atom's tag, then the id, big-endian.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&self.atom.0);
        bytes[4..].copy_from_slice(&self.id.to_bytes());
        bytes
    }

    /// Reads the stored form.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        let (tag, id) = bytes.split_at(4);
        Self {
            atom: Tag(tag.try_into().expect("split at four")),
            id: Ulid::from_bytes(id.try_into().expect("sixteen remain")),
        }
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.atom.0;
        write!(f, "{a:02x}{b:02x}{c:02x}{d:02x}/{}", self.id)
    }
}

impl Serialize for ObjectRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.atom.0, self.id.to_bytes()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ObjectRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (tag, id) = <([u8; 4], [u8; 16])>::deserialize(deserializer)?;
        Ok(Self { atom: Tag(tag), id: Ulid::from_bytes(id) })
    }
}

/// An atom, in generated code: a type without values that names it.
pub trait Atom: 'static {
    /// The atom's id.
    const ID: &'static str;
    /// The tag of the id.
    const TAG: Tag;
}

/// An interface, in generated code: a type without values that names it.
pub trait Interface: 'static {
    /// The interface's id.
    const ID: &'static str;
}

/// Says that objects of an atom are accepted where the interface is asked for. Generated for
/// each `implements`.
#[diagnostic::on_unimplemented(
    message = "atom `{Self}` does not implement interface `{I}`",
    label = "a reference to `{I}` is asked for here",
    note = "the definition of `{Self}` would have to say `implements` with this interface"
)]
pub trait Implements<I: Interface>: Atom {}

/// A reference to an object of one atom.
pub struct Ref<A> {
    id: Ulid,
    atom: PhantomData<fn() -> A>,
}

/// A reference to an object of any atom that implements an interface.
pub struct InterfaceRef<I> {
    object: ObjectRef,
    interface: PhantomData<fn() -> I>,
}

/// What a keyed edge leads to: each key with a reference, in the order of the keys.
pub type Entries<R> = Vec<(String, R)>;

impl<A: Atom> Ref<A> {
    /// Returns the typed form, if the reference is of this atom.
    #[must_use]
    pub fn from_object(object: ObjectRef) -> Option<Self> {
        (object.atom == A::TAG).then_some(Self { id: object.id, atom: PhantomData })
    }

    /// Returns the typed form of a reference that the definitions say is of this atom.
    ///
    /// # Errors
    /// [`CallError::Corrupt`] when it is of another.
    pub fn checked(object: ObjectRef) -> Result<Self, CallError> {
        Self::from_object(object).ok_or_else(|| CallError::Corrupt {
            message: format!("{object:?} is no reference to `{}`", A::ID),
        })
    }

    /// Returns the untyped form.
    #[must_use]
    pub fn object(self) -> ObjectRef {
        ObjectRef { atom: A::TAG, id: self.id }
    }

    /// Returns the object's id.
    #[must_use]
    pub fn id(self) -> Ulid {
        self.id
    }
}

impl<I: Interface> InterfaceRef<I> {
    /// Returns the reference as one to the interface. Nothing is checked here: the runtime checks
    /// conformance wherever the value enters a call or the store.
    #[must_use]
    pub fn from_object(object: ObjectRef) -> Self {
        Self { object, interface: PhantomData }
    }

    /// Returns the untyped form.
    #[must_use]
    pub fn object(self) -> ObjectRef {
        self.object
    }
}

impl<A: Implements<I>, I: Interface> From<Ref<A>> for InterfaceRef<I> {
    fn from(reference: Ref<A>) -> Self {
        Self::from_object(reference.object())
    }
}

impl<A: Atom> From<Ref<A>> for ObjectRef {
    fn from(reference: Ref<A>) -> Self {
        reference.object()
    }
}

impl<I: Interface> From<InterfaceRef<I>> for ObjectRef {
    fn from(reference: InterfaceRef<I>) -> Self {
        reference.object()
    }
}

// Written out, since deriving would ask the same of `A` and `I`, which have no values.
impl<A> Clone for Ref<A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Ref<A> {}
impl<A> PartialEq for Ref<A> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
impl<A> Eq for Ref<A> {}
impl<A> PartialOrd for Ref<A> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<A> Ord for Ref<A> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id.cmp(&other.id)
    }
}
impl<A> Hash for Ref<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}
impl<A: Atom> fmt::Debug for Ref<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", A::ID, self.id)
    }
}
impl<A: Atom> fmt::Display for Ref<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", A::ID, self.id)
    }
}
impl<A: Atom> Serialize for Ref<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object().serialize(serializer)
    }
}
impl<'de, A: Atom> Deserialize<'de> for Ref<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = ObjectRef::deserialize(deserializer)?;
        Self::from_object(object).ok_or_else(|| {
            serde::de::Error::custom(format_args!("{object:?} is no reference to {}", A::ID))
        })
    }
}

impl<I> Clone for InterfaceRef<I> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<I> Copy for InterfaceRef<I> {}
impl<I> PartialEq for InterfaceRef<I> {
    fn eq(&self, other: &Self) -> bool {
        self.object == other.object
    }
}
impl<I> Eq for InterfaceRef<I> {}
impl<I> PartialOrd for InterfaceRef<I> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<I> Ord for InterfaceRef<I> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.object.cmp(&other.object)
    }
}
impl<I> Hash for InterfaceRef<I> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.object.hash(state);
    }
}
impl<I: Interface> fmt::Debug for InterfaceRef<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} as {}", self.object, I::ID)
    }
}
impl<I: Interface> Serialize for InterfaceRef<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object.serialize(serializer)
    }
}
impl<'de, I: Interface> Deserialize<'de> for InterfaceRef<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_object(ObjectRef::deserialize(deserializer)?))
    }
}
