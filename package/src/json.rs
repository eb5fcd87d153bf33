//! JSON inside a field: what a client wrote as text is read here, and a fault is named by its path.

use std::fmt;

use quixos_runtime::CallError;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads JSON in which no object has a name twice: of two values one would be lost silently.
pub(crate) fn parse(path: &str, text: &str) -> Result<Value, CallError> {
    serde_json::from_str::<Unambiguous>(text)
        .map(|json| json.0)
        .map_err(|error| fault(path, &error))
}

/// Checks that a text is JSON in which no object has a name twice.
pub(crate) fn check(path: &str, text: &str) -> Result<(), CallError> {
    parse(path, text).map(drop)
}

/// Reads a JSON array of strings.
pub(crate) fn strings(path: &str, text: &str) -> Result<Vec<String>, CallError> {
    let Value::Array(values) = parse(path, text)? else {
        return Err(CallError::invalid(path, "must be a JSON array of strings"));
    };
    let string = |(position, value): (usize, Value)| {
        let text = value.as_str().map(str::to_owned);
        text.ok_or_else(|| wrong(&format!("{path}[{position}]"), "a string", &value))
    };
    values.into_iter().enumerate().map(string).collect()
}

/// The error of a value of the wrong type.
pub(crate) fn wrong(path: &str, expected: &str, found: &Value) -> CallError {
    CallError::invalid(path, format!("must be {expected}, not {}", kind(found)))
}

fn fault(path: &str, error: &serde_json::Error) -> CallError {
    CallError::invalid(path, format!("is not JSON: {error}"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "this number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A JSON value whose objects have each name once.
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values).map(Self)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Unambiguous(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Unambiguous(value))) = entries.next_entry::<String, _>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format_args!("the name `{name}` is there twice")));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_is_read_as_it_stands() {
        let text = r#"{"a":[null,true,-1,18446744073709551615,0.5,"x",{}],"b":{"a":1}}"#;
        let plain: Value = serde_json::from_str(text).unwrap();
        assert_eq!(parse("at", text).unwrap(), plain);
    }

    #[test]
    fn a_name_that_is_there_twice_is_invalid_at_any_depth() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"a":2}}]"#] {
            assert!(parse("at", text).unwrap_err().to_string().contains("`a` is there twice"));
            assert!(check("at", text).unwrap_err().to_string().contains("`a` is there twice"));
        }
    }

    #[test]
    fn a_string_list_names_the_element_that_is_none() {
        assert_eq!(strings("at", r#"["a","b"]"#).unwrap(), ["a", "b"]);
        let error = strings("at", r#"["a",1]"#).unwrap_err();
        assert_eq!(error, CallError::invalid("at[1]", "must be a string, not this number"));
    }
}
