//! Values through serde, so that their bytes are postcard's and no format of our own.
//!
//! Reading follows [`Layout::check`], which has bounded every length by then.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, SerializeTuple, Serializer};
use serde::{Deserialize, Serialize};

use crate::reference::ObjectRef;
use crate::value::{Fault, Layout, Path, Shape, Value, ValueError};

/// Reads a value from bytes that were checked.
pub(super) fn read(bytes: &[u8], layout: &Layout) -> Result<Value, ValueError> {
    let mut deserializer = postcard::Deserializer::from_bytes(bytes);
    Typed(layout).deserialize(&mut deserializer).map_err(failed)
}

/// Writes a value that fits the layout.
pub(super) fn write(value: &Value, layout: &Layout) -> Result<Vec<u8>, ValueError> {
    postcard::to_allocvec(&Written { value, layout }).map_err(failed)
}

fn failed(error: postcard::Error) -> ValueError {
    ValueError::new(&Path::Whole, None, Fault::Codec(error))
}

struct Written<'a> {
    value: &'a Value,
    layout: &'a Layout,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.value, self.layout.shape()) {
            (Value::Unit, _) => serializer.serialize_unit(),
            (Value::Bool(it), _) => serializer.serialize_bool(*it),
            (Value::Int32(it), _) => serializer.serialize_i32(*it),
            (Value::Int64(it), _) => serializer.serialize_i64(*it),
            (Value::Uint32(it), _) => serializer.serialize_u32(*it),
            (Value::Uint64(it), _) => serializer.serialize_u64(*it),
            (Value::Float64(it), _) => serializer.serialize_f64(*it),
            (Value::String(it), _) => serializer.serialize_str(it),
            (Value::Bytes(it), _) => serializer.serialize_bytes(it),
            (Value::Reference(it), _) => it.serialize(serializer),
            (Value::Optional(None), _) => serializer.serialize_none(),
            (Value::Optional(Some(value)), Shape::Optional(layout)) => {
                serializer.serialize_some(&Written { value, layout })
            }
            (Value::List(items), Shape::List(layout)) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for value in items {
                    list.serialize_element(&Written { value, layout })?;
                }
                list.end()
            }
            (Value::Record(values), Shape::Record(fields)) => {
                let mut record = serializer.serialize_tuple(fields.len())?;
                for (value, field) in values.iter().zip(fields) {
                    record.serialize_element(&Written { value, layout: &field.layout })?;
                }
                record.end()
            }
            (Value::Optional(Some(_)) | Value::List(_) | Value::Record(_), shape) => {
                Err(serde::ser::Error::custom(format_args!("is not {}", shape.noun())))
            }
        }
    }
}

/// Reads a value of a layout.
#[derive(Clone, Copy)]
struct Typed<'a>(&'a Layout);

impl<'de> DeserializeSeed<'de> for Typed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        match self.0.shape() {
            Shape::Unit => <()>::deserialize(from).map(|()| Value::Unit),
            Shape::Bool => bool::deserialize(from).map(Value::Bool),
            Shape::Int32 => i32::deserialize(from).map(Value::Int32),
            Shape::Int64 => i64::deserialize(from).map(Value::Int64),
            Shape::Uint32 => u32::deserialize(from).map(Value::Uint32),
            Shape::Uint64 => u64::deserialize(from).map(Value::Uint64),
            Shape::Float64 => f64::deserialize(from).map(Value::Float64),
            Shape::String => String::deserialize(from).map(Value::String),
            Shape::Bytes => from.deserialize_byte_buf(BytesVisitor).map(Value::Bytes),
            Shape::Reference(_) => ObjectRef::deserialize(from).map(Value::Reference),
            Shape::Optional(inner) => from.deserialize_option(OptionalVisitor(inner)),
            Shape::List(item) => from.deserialize_seq(ListVisitor(item)),
            Shape::Record(fields) => from.deserialize_tuple(fields.len(), RecordVisitor(self.0)),
            Shape::Unusable => Err(D::Error::custom("the type is unusable")),
        }
    }
}

struct BytesVisitor;

impl Visitor<'_> for BytesVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

struct OptionalVisitor<'a>(&'a Layout);

impl<'de> Visitor<'de> for OptionalVisitor<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an optional")
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Optional(None))
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        Typed(self.0).deserialize(from).map(|value| Value::Optional(Some(Box::new(value))))
    }
}

struct ListVisitor<'a>(&'a Layout);

impl<'de> Visitor<'de> for ListVisitor<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        // Grows as items are read, whatever length the bytes claim.
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Typed(self.0))? {
            items.push(item);
        }
        Ok(Value::List(items))
    }
}

struct RecordVisitor<'a>(&'a Layout);

impl<'de> Visitor<'de> for RecordVisitor<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let Shape::Record(fields) = self.0.shape() else {
            return Err(A::Error::custom("is not a record"));
        };
        let mut values = Vec::with_capacity(fields.len());
        for field in fields {
            let value = seq.next_element_seed(Typed(&field.layout))?;
            values.push(value.ok_or_else(|| A::Error::custom("a record ends early"))?);
        }
        Ok(Value::Record(values))
    }
}
