//! A value, as stored bytes and as JSON of anybody's.

use quixos_runtime::value::{Fault, Shape, ValueError};
use quixos_runtime::{Layout, Value};
use quixos_schema::Definitions;
use serde_json::Value as Json;

use crate::layouts::chosen;

/// How many parts a value may have beyond those that its bytes pay for: lists of nothing.
const HOLLOW: usize = 1 << 16;

/// Reads bytes as a value of the type that the first of them chooses. It must be that
///
/// - what is read is written as the same bytes, and is the same through JSON;
/// - it has no more parts than its bytes pay for;
/// - all ways to look at the bytes agree on whether they are a value.
pub fn values(bytes: &[u8]) {
    let Some((layout, definitions, stored)) = chosen(bytes) else { return };
    let read = Value::decode(stored, layout);
    assert_eq!(layout.check(stored).err(), read.as_ref().err().cloned());
    let is_record = matches!(layout.shape(), Shape::Record(_));
    let fields = layout.fields(stored);
    match &read {
        Ok(_) => assert_eq!(fields.is_ok(), is_record),
        // Whoever cuts a record into its fields does not look at the texts in it.
        Err(error) => {
            let is_cut = is_record && error.fault == Fault::BadUtf8;
            assert!(fields.is_err() || is_cut, "{error}");
        }
    }
    if let Ok(fields) = fields {
        assert_eq!(fields.concat(), stored);
    }
    strings(layout, stored, read.as_ref().ok());
    let Ok(value) = read else { return };
    assert_eq!(value.encode(layout).as_deref(), Ok(stored));
    let paid = 64 + 4 * stored.len() + HOLLOW;
    assert!(parts(&value) <= paid, "{} parts of {} bytes", parts(&value), stored.len());

    let mut leads_nowhere = false;
    let walked: Result<(), ValueError> = layout.references(stored, |_, reference, expected| {
        leads_nowhere |= !expected.accepts(reference);
        Ok(())
    });
    assert_eq!(walked, Ok(()));
    if !leads_nowhere {
        through_json(&value, layout, definitions);
    }
}

/// Reads a text as JSON of a value of the type that its first byte chooses. It must be that
///
/// - what is read has bytes and JSON, and is the same through both;
/// - what is refused is `invalid`, in a message that a person can read.
pub fn json(bytes: &[u8]) {
    let Some((layout, definitions, text)) = chosen(bytes) else { return };
    let Ok(json) = serde_json::from_slice::<Json>(text) else { return };
    match Value::from_json(&json, layout, definitions) {
        Ok(value) => {
            let stored = value.encode(layout).expect("what was read can be written");
            assert_eq!(Value::decode(&stored, layout).as_ref(), Ok(&value));
            through_json(&value, layout, definitions);
        }
        Err(error) => {
            assert_eq!(error.code(), "invalid", "{error}");
            // The path to the fault may be as long as what it leads through.
            assert!(error.to_string().len() < 2_000 + text.len(), "{error}");
        }
    }
}

fn through_json(value: &Value, layout: &Layout, definitions: &Definitions) {
    let text = value.to_json(layout, definitions).to_string();
    let json = serde_json::from_str(&text).expect("it was just written");
    let again = Value::from_json(&json, layout, definitions);
    let again = again.unwrap_or_else(|error| panic!("{error}: {text}"));
    // As bytes, in which a zero has its sign.
    assert_eq!(again.encode(layout), value.encode(layout), "{text}");
}

/// Looks up every string that stands directly in a record.
fn strings(layout: &Layout, stored: &[u8], read: Option<&Value>) {
    let Shape::Record(fields) = layout.shape() else {
        assert_eq!(layout.string_at(stored, &[0]).ok(), None);
        return;
    };
    for (at, field) in fields.iter().enumerate() {
        let found = layout.string_at(stored, &[at]);
        assert!(found.is_err() || *field.layout.shape() == Shape::String);
        if let Some(Value::Record(values)) = read
            && let Value::String(text) = &values[at]
        {
            assert_eq!(found, Ok(text.as_str()));
        }
    }
}

fn parts(value: &Value) -> usize {
    match value {
        Value::List(items) | Value::Record(items) => 1 + items.iter().map(parts).sum::<usize>(),
        Value::Optional(Some(value)) => 1 + parts(value),
        Value::Unit
        | Value::Bool(_)
        | Value::Int32(_)
        | Value::Int64(_)
        | Value::Uint32(_)
        | Value::Uint64(_)
        | Value::Float64(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Optional(None)
        | Value::Reference(_) => 1,
    }
}
