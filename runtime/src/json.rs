//! Values as JSON, for people and for programs that have no Rust types.
//!
//! | type | JSON |
//! | --- | --- |
//! | `unit` | `null` |
//! | `bool` | `true`, `false` |
//! | `int32`, `int64`, `uint32`, `uint64` | a number written without fraction and exponent |
//! | `float64` | a number |
//! | `string` | a string |
//! | `bytes` | a string, base64 with padding |
//! | `optional<T>` | `null`, or the value; as a field it may be left out |
//! | `list<T>` | an array |
//! | `record` | an object; all fields, no others, in any order |
//! | references | `"atom-id/ULID"` |
//!
//! Of several faults the first is reported: members in the order of the document, then fields
//! that are missing in the order of the definition. Whether a referenced object exists is not
//! asked here.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use quixos_schema::{Definitions, meant};
use serde_json::{Map, Number, Value as Json};

use crate::error::CallError;
use crate::reference::ObjectRef;
use crate::value::{
    Expected, Fault, FieldLayout, Layout, Path, Shape, Value, ValueError, parse_reference,
    reference_text, shortened,
};

impl Value {
    /// Reads a value of a type from JSON.
    ///
    /// # Errors
    /// [`CallError::Invalid`] with the path to the first fault, what was wrong and what would be
    /// right.
    pub fn from_json(
        json: &Json,
        layout: &Layout,
        definitions: &Definitions,
    ) -> Result<Self, CallError> {
        let value = Reader { definitions }.value(json, layout, &Path::Whole)?;
        if layout.has_conditions() {
            value.encode(layout).map_err(ValueError::invalid)?;
        }
        Ok(value)
    }

    /// Returns the value as JSON. It must be a value of this type, as [`Value::decode`] and
    /// [`Value::from_json`] give it.
    #[must_use]
    pub fn to_json(&self, layout: &Layout, definitions: &Definitions) -> Json {
        match (self, layout.shape()) {
            (Self::Unit | Self::Optional(None), _) => Json::Null,
            (Self::Bool(it), _) => Json::Bool(*it),
            (Self::Int32(it), _) => Json::from(*it),
            (Self::Int64(it), _) => Json::from(*it),
            (Self::Uint32(it), _) => Json::from(*it),
            (Self::Uint64(it), _) => Json::from(*it),
            (Self::Float64(it), _) => Number::from_f64(*it).map_or(Json::Null, Json::Number),
            (Self::String(it), _) => Json::String(it.clone()),
            (Self::Bytes(it), _) => Json::String(BASE64.encode(it)),
            (Self::Reference(it), _) => Json::String(reference_text(definitions, *it)),
            (Self::Optional(Some(value)), Shape::Optional(inner)) => {
                value.to_json(inner, definitions)
            }
            (Self::List(items), Shape::List(item)) => {
                items.iter().map(|value| value.to_json(item, definitions)).collect()
            }
            (Self::Record(values), Shape::Record(fields)) => {
                let member = |(field, value): (&FieldLayout, &Self)| {
                    (field.name.clone(), value.to_json(&field.layout, definitions))
                };
                Json::Object(fields.iter().zip(values).map(member).collect())
            }
            (Self::Optional(Some(_)) | Self::List(_) | Self::Record(_), _) => Json::Null,
        }
    }
}

struct Reader<'d> {
    definitions: &'d Definitions,
}

impl Reader<'_> {
    fn value(&self, json: &Json, layout: &Layout, path: &Path<'_>) -> Result<Value, CallError> {
        match (layout.shape(), json) {
            (Shape::Unit, Json::Null) => Ok(Value::Unit),
            (Shape::Bool, Json::Bool(it)) => Ok(Value::Bool(*it)),
            (Shape::Int32, Json::Number(it)) => integer(it, path, "an int32").map(Value::Int32),
            (Shape::Int64, Json::Number(it)) => integer(it, path, "an int64").map(Value::Int64),
            (Shape::Uint32, Json::Number(it)) => integer(it, path, "a uint32").map(Value::Uint32),
            (Shape::Uint64, Json::Number(it)) => integer(it, path, "a uint64").map(Value::Uint64),
            (Shape::Float64, Json::Number(it)) => float(it, path),
            (Shape::String, Json::String(it)) => Ok(Value::String(it.clone())),
            (Shape::Bytes, Json::String(it)) => bytes(it, path),
            (Shape::Reference(expected), Json::String(it)) => {
                self.reference(it, expected, path).map(Value::Reference)
            }
            (Shape::Optional(_), Json::Null) => Ok(Value::Optional(None)),
            (Shape::Optional(inner), _) => {
                let value = self.value(json, inner, path)?;
                Ok(Value::Optional(Some(Box::new(value))))
            }
            (Shape::List(item), Json::Array(items)) => (0..)
                .zip(items)
                .map(|(at, json)| self.value(json, item, &path.item(at)))
                .collect::<Result<_, _>>()
                .map(Value::List),
            (Shape::Record(fields), Json::Object(members)) => self.record(members, fields, path),
            (
                Shape::Unit
                | Shape::Bool
                | Shape::Int32
                | Shape::Int64
                | Shape::Uint32
                | Shape::Uint64
                | Shape::Float64
                | Shape::String
                | Shape::Bytes
                | Shape::Reference(_)
                | Shape::List(_)
                | Shape::Record(_),
                _,
            ) => Err(wrong(layout, json, path)),
            (Shape::Unusable, _) => Err(invalid(path, Fault::Unusable.to_string())),
        }
    }

    fn record(
        &self,
        members: &Map<String, Json>,
        fields: &[FieldLayout],
        path: &Path<'_>,
    ) -> Result<Value, CallError> {
        let mut values: Vec<Option<Value>> = vec![None; fields.len()];
        for (name, json) in members {
            let Some(at) = fields.iter().position(|field| field.name == *name) else {
                return Err(unknown_field(name, fields, path));
            };
            let field = &fields[at];
            values[at] = Some(self.value(json, &field.layout, &path.field(&field.name))?);
        }
        let filled = fields.iter().zip(values).map(|(field, value)| match value {
            Some(value) => Ok(value),
            None if matches!(field.layout.shape(), Shape::Optional(_)) => Ok(Value::Optional(None)),
            None => {
                let message = format!("missing, must be {}", described(&field.layout));
                Err(invalid(&path.field(&field.name), message))
            }
        });
        filled.collect::<Result<_, _>>().map(Value::Record)
    }

    fn reference(
        &self,
        text: &str,
        expected: &Expected,
        path: &Path<'_>,
    ) -> Result<ObjectRef, CallError> {
        let reference = parse_reference(self.definitions, text)
            .map_err(|error| invalid(path, error.to_string()))?;
        expected.check(reference, path, self.definitions)?;
        Ok(reference)
    }
}

impl Expected {
    /// Checks that a reference in an input leads to one of the atoms.
    ///
    /// # Errors
    /// [`CallError::Invalid`] that names both.
    pub fn check(
        &self,
        reference: ObjectRef,
        path: &Path<'_>,
        definitions: &Definitions,
    ) -> Result<(), CallError> {
        if self.accepts(reference) {
            return Ok(());
        }
        let found = definitions
            .atom_of_tag(reference.atom)
            .map_or("an unknown atom", |at| &definitions.atom(at).name);
        let message = format!("must be a reference to {}, is one to {found}", self.noun());
        Err(invalid(path, message))
    }
}

/// Reads an integer. `T` says its range; that of `i128` holds every number that JSON brings.
fn integer<T: TryFrom<i128> + Bounds>(
    number: &Number,
    path: &Path<'_>,
    noun: &str,
) -> Result<T, CallError> {
    let Some(wide) = number.as_i128() else {
        let message = format!(
            "must be {noun}, a number from {} to {} without fraction and exponent, is {number}",
            T::MIN,
            T::MAX
        );
        return Err(invalid(path, message));
    };
    T::try_from(wide).map_err(|_| {
        let message = format!("must be {noun}, from {} to {}, is {number}", T::MIN, T::MAX);
        invalid(path, message)
    })
}

/// The ends of an integer type, for messages.
trait Bounds {
    const MIN: i128;
    const MAX: i128;
}

macro_rules! bounds {
    ($($integer:ty),*) => {
        $(impl Bounds for $integer {
            const MIN: i128 = <$integer>::MIN as i128;
            const MAX: i128 = <$integer>::MAX as i128;
        })*
    };
}
bounds!(i32, i64, u32, u64);

fn float(number: &Number, path: &Path<'_>) -> Result<Value, CallError> {
    let float = number.as_f64().filter(|it| it.is_finite());
    float.map(Value::Float64).ok_or_else(|| invalid(path, Fault::NotFinite.to_string()))
}

fn bytes(text: &str, path: &Path<'_>) -> Result<Value, CallError> {
    BASE64.decode(text).map(Value::Bytes).map_err(|error| {
        invalid(path, format!("must be base64 with padding: {}", error.to_string().to_lowercase()))
    })
}

fn unknown_field(name: &str, fields: &[FieldLayout], path: &Path<'_>) -> CallError {
    let names = || fields.iter().map(|field| field.name.as_str());
    let help = match meant(name, names()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if fields.is_empty() => "the record has no fields".into(),
        None => format!("there are `{}`", names().collect::<Vec<_>>().join("`, `")),
    };
    invalid(&path.field(&shortened(name)), format!("unknown field; {help}"))
}

fn wrong(layout: &Layout, json: &Json, path: &Path<'_>) -> CallError {
    let found = match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    };
    invalid(path, format!("must be {}, is {found}", described(layout)))
}

/// Returns what JSON a type takes.
fn described(layout: &Layout) -> String {
    match layout.shape() {
        Shape::Unit => "null".into(),
        Shape::Bool => "true or false".into(),
        Shape::Int32 | Shape::Int64 | Shape::Uint32 | Shape::Uint64 | Shape::Float64 => {
            format!("a number ({})", layout.shape().noun())
        }
        Shape::Bytes => "a string of base64".into(),
        Shape::Reference(expected) => {
            format!("a reference to {}, \"atom-id/ULID\"", expected.noun())
        }
        Shape::Optional(inner) => format!("null or {}", described(inner)),
        Shape::List(_) => "an array".into(),
        Shape::Record(_) => "an object".into(),
        shape @ (Shape::String | Shape::Unusable) => shape.noun().into(),
    }
}

fn invalid(path: &Path<'_>, message: String) -> CallError {
    CallError::Invalid { path: path.to_string(), message }
}
