//! What a value of any type reads as where the protocol has a text, a tool's result above all.

use serde_json::Value;

/// Returns a value as text: a string as it is, `null` as the empty text, anything else as compact
/// JSON.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
