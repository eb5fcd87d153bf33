//! What `null` and absence mean, where it is not what serde makes of an `Option`.
//!
//! | function | absent | `null` |
//! | --- | --- | --- |
//! | (an `Option`) | `None` | `None` |
//! | [`given`] | `None` | `Some(null)` |
//! | [`stated`] | refused | `None` |
//! | [`or_default`] | the default | the default |

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Keeps a `null` that was written. With `#[serde(default)]`.
pub(crate) fn given<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}

/// Wants the field, which may be `null`: serde asks for a field that has a function of its own.
pub(crate) fn stated<'de, D, T>(source: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(source)
}

/// The schema of a [`stated`] field, which schemars would not require.
pub(crate) fn stated_schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Option<T>>()
}

/// Reads `null` as absent where absent has a value. With `#[serde(default)]`.
pub(crate) fn or_default<'de, D, T>(source: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(source).map(Option::unwrap_or_default)
}
