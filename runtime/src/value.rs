//! Values whose type is known only at run time, and what is known of a type beforehand.
//!
//! Generated code has Rust types; the shell, the host, `verify` and the store's own checks have a
//! definition's [`Type`](quixos_schema::Type). Both read and write the same bytes: postcard of the
//! type, a record as its fields in the order written, a reference as [`ObjectRef`].
//!
//! A [`Layout`] is made of a type once. What is done often is done on the bytes with it, without
//! a [`Value`]: [`Layout::check`], [`Layout::references`], [`Layout::string_at`].
//!
//! Invariant: a value has one form in bytes. Whatever is read here and is not that form (bytes too
//! many or too few, a number longer than it need be, a float that is no number) is an error, and
//! no length is believed before the bytes are there.

mod codec;
mod error;
mod expected;
mod layout;
mod path;
mod scan;
mod text;

pub use error::{Fault, ValueError};
pub use expected::Expected;
pub use layout::{FieldLayout, Layout, Shape};
pub use path::Path;
pub use text::{ReferenceError, parse_reference, reference_text};

pub(crate) use text::shortened;

use crate::reference::ObjectRef;

/// A value of a definition's type.
///
/// It does not carry its type: a record is its fields in the order of the definition, and their
/// names are in the [`Layout`].
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Nothing.
    Unit,
    /// `bool`
    Bool(bool),
    /// `int32`
    Int32(i32),
    /// `int64`
    Int64(i64),
    /// `uint32`
    Uint32(u32),
    /// `uint64`
    Uint64(u64),
    /// `float64`, finite
    Float64(f64),
    /// `string`
    String(String),
    /// `bytes`
    Bytes(Vec<u8>),
    /// `optional<T>`
    Optional(Option<Box<Value>>),
    /// `list<T>`
    List(Vec<Value>),
    /// `record {…}`, in the order of its fields
    Record(Vec<Value>),
    /// `atom-ref<A>` or `interface-ref<I>`
    Reference(ObjectRef),
}

impl Value {
    /// Reads a value of a type from its bytes.
    ///
    /// # Errors
    /// When the bytes are not the form of a value of this type, with the path and the offset.
    pub fn decode(bytes: &[u8], layout: &Layout) -> Result<Self, ValueError> {
        layout.check(bytes)?;
        codec::read(bytes, layout)
    }

    /// Returns the bytes of the value.
    ///
    /// # Errors
    /// When it is not a value of this type, with the path.
    pub fn encode(&self, layout: &Layout) -> Result<Vec<u8>, ValueError> {
        self.fits(layout, &Path::Whole)?;
        let bytes = codec::write(self, layout)?;
        // What a type alone does not say (a float is finite, a list of nothing is not endless) is
        // said in one place.
        layout.check(&bytes)?;
        Ok(bytes)
    }

    fn fits(&self, layout: &Layout, path: &Path<'_>) -> Result<(), ValueError> {
        match (self, layout.shape()) {
            (Self::Unit, Shape::Unit)
            | (Self::Bool(_), Shape::Bool)
            | (Self::Int32(_), Shape::Int32)
            | (Self::Int64(_), Shape::Int64)
            | (Self::Uint32(_), Shape::Uint32)
            | (Self::Uint64(_), Shape::Uint64)
            | (Self::Float64(_), Shape::Float64)
            | (Self::String(_), Shape::String)
            | (Self::Bytes(_), Shape::Bytes)
            | (Self::Optional(None), Shape::Optional(_))
            | (Self::Reference(_), Shape::Reference(_)) => Ok(()),
            (Self::Optional(Some(value)), Shape::Optional(inner)) => value.fits(inner, path),
            (Self::List(items), Shape::List(item)) => {
                (0..).zip(items).try_for_each(|(at, value)| value.fits(item, &path.item(at)))
            }
            (Self::Record(values), Shape::Record(fields)) if values.len() == fields.len() => fields
                .iter()
                .zip(values)
                .try_for_each(|(field, value)| value.fits(&field.layout, &path.field(&field.name))),
            (_, shape) => {
                let fault = Fault::Mismatch { expected: shape.noun(), found: self.noun() };
                Err(ValueError::new(path, None, fault))
            }
        }
    }

    /// Returns what the value is, with its article: `a string`.
    #[must_use]
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Bool(_) => "a bool",
            Self::Int32(_) => "an int32",
            Self::Int64(_) => "an int64",
            Self::Uint32(_) => "a uint32",
            Self::Uint64(_) => "a uint64",
            Self::Float64(_) => "a float64",
            Self::String(_) => "a string",
            Self::Bytes(_) => "bytes",
            Self::Optional(_) => "an optional",
            Self::List(_) => "a list",
            Self::Record(_) => "a record",
            Self::Reference(_) => "a reference",
        }
    }
}
