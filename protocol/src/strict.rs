//! JSON as the schemas have it: an object is an object.
//!
//! serde also reads a list for one, as its fields in their order. No page tells of that, the schemas
//! refuse it, and who sends it has made a mistake that would be taken for something else.

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value};

/// A value to be read, in which no list stands for an object.
pub(crate) struct Strict(pub(crate) Value);

impl Strict {
    fn list<'de, V: Visitor<'de>>(items: Vec<Value>, visitor: V) -> Result<V::Value, Error> {
        let mut items = SeqDeserializer::<_, Error>::new(items.into_iter().map(Self));
        let read = visitor.visit_seq(&mut items)?;
        items.end().map(|()| read)
    }

    fn object<'de, V: Visitor<'de>>(
        fields: Map<String, Value>,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut fields = MapDeserializer::new(strict(fields));
        let read = visitor.visit_map(&mut fields)?;
        fields.end().map(|()| read)
    }
}

fn strict(fields: Map<String, Value>) -> impl Iterator<Item = (String, Strict)> {
    fields.into_iter().map(|(name, value)| (name, Strict(value)))
}

impl IntoDeserializer<'_, Error> for Strict {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Strict {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => Self::list(items, visitor),
            Value::Object(fields) => Self::object(fields, visitor),
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                plain.deserialize_any(visitor)
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(_) => Err(Error::custom("a list where an object is expected")),
            Value::Object(fields) => Self::object(fields, visitor),
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                plain.deserialize_map(visitor)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(fields) => {
                let fields = MapDeserializer::new(strict(fields));
                MapAccessDeserializer::new(fields).deserialize_enum(name, variants, visitor)
            }
            plain @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)) => plain.deserialize_enum(name, variants, visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct identifier ignored_any
    }
}
