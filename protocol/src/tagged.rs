//! Objects that are one of several shapes, told apart by a field.
//!
//! serde derives this too, but loses on the way where in the object a fault is. Here each shape is
//! read with its own path, and the path travels in front of the message, which is all the room
//! that a serde error has; [`parse`](crate::parse()) takes it apart again.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, Unexpected};
use serde_json::{Map, Value};

use crate::parse::located;
use crate::strict::Strict;

/// An object of which only the tag has been read.
pub(crate) struct Tagged {
    pub(crate) tag: String,
    fields: Map<String, Value>,
}

impl Tagged {
    /// Reads an object and takes its tag out of it.
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        source: D,
        tag: &'static str,
    ) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(source)?;
        match fields.shift_remove(tag) {
            Some(Value::String(tag)) => Ok(Self { tag, fields }),
            Some(other) => {
                let fault = D::Error::invalid_type(unexpected(&other), &"a string");
                Err(D::Error::custom(format_args!("/{tag}: {fault}")))
            }
            None => Err(D::Error::missing_field(tag)),
        }
    }

    /// Reads what is left as one shape.
    pub(crate) fn fields<T: DeserializeOwned, E: Error>(self) -> Result<T, E> {
        serde_path_to_error::deserialize(Strict(Value::Object(self.fields)))
            .map_err(|error| fault("", &error))
    }

    /// Takes one field out of what is left.
    pub(crate) fn field<T: DeserializeOwned, E: Error>(
        &mut self,
        name: &'static str,
    ) -> Result<T, E> {
        let value = self.fields.shift_remove(name).ok_or_else(|| E::missing_field(name))?;
        serde_path_to_error::deserialize(Strict(value))
            .map_err(|error| fault(&format!("/{name}"), &error))
    }
}

fn fault<E: Error>(place: &str, error: &serde_path_to_error::Error<serde_json::Error>) -> E {
    let (path, message) = located(error);
    if place.is_empty() && path.is_empty() {
        E::custom(message)
    } else {
        E::custom(format_args!("{place}{path}: {message}"))
    }
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(_) => Unexpected::Other("a number"),
        Value::String(value) => Unexpected::Str(value),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

/// Gives a choice its names: `KINDS`, `kind()` and `Deserialize`.
///
/// `Serialize` and `JsonSchema` are derived with the same names; the examples hold the two
/// together.
macro_rules! tagged {
    ($choice:ident { $($kind:literal => $variant:ident $(($fields:ident))?,)* }) => {
        $crate::tagged::tagged!($choice by "type" { $($kind => $variant $(($fields))?,)* });
    };
    ($choice:ident by $tag:literal { $($kind:literal => $variant:ident $(($fields:ident))?,)* }) => {
        impl $choice {
            #[doc = concat!("Every `", $tag, "` that this choice has.")]
            pub const KINDS: &'static [&'static str] = &[$($kind),*];

            #[doc = concat!("Returns the `", $tag, "` that this is on the wire.")]
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $kind,)*
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $choice {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                let tagged = $crate::tagged::Tagged::read(source, $tag)?;
                match tagged.tag.as_str() {
                    $($kind => $crate::tagged::tagged!(@read tagged $variant $(($fields))?),)*
                    unknown => Err(serde::de::Error::unknown_variant(unknown, Self::KINDS)),
                }
            }
        }
    };
    (@read $tagged:ident $variant:ident) => { Ok(Self::$variant) };
    (@read $tagged:ident $variant:ident ($fields:ident)) => {
        $tagged.fields::<$fields, D::Error>().map(Self::$variant)
    };
}
pub(crate) use tagged;
