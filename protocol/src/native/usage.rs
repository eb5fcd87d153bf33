//! What a provider says that a reply used.

use serde_json::{Map, Value};

/// The longest amount that is taken for one: what is longer is noise of a float.
const AMOUNT_DIGITS: usize = 32;

/// Returns the numbers of a usage, each under its path, and the dollars if they are in it.
pub(super) fn read(usage: Option<&Value>) -> (Option<Value>, Option<String>) {
    let Some(Value::Object(fields)) = usage else { return (None, None) };
    let mut counts = Map::new();
    flatten("", fields, &mut counts);
    let cost = fields.get("cost").and_then(dollars);
    if cost.is_some() {
        counts.shift_remove("cost");
    }
    ((!counts.is_empty()).then_some(Value::Object(counts)), cost)
}

/// Puts a later usage of the same reply over an earlier one: counts are of all so far, so the later
/// one counts.
pub(super) fn merge(old: &mut Map<String, Value>, new: Option<&Value>) {
    if let Some(Value::Object(fields)) = new {
        flatten("", fields, old);
    }
}

fn flatten(prefix: &str, fields: &Map<String, Value>, counts: &mut Map<String, Value>) {
    for (name, value) in fields {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Number(_) => {
                counts.insert(path, value.clone());
            }
            // Parsing has bounded how deep this goes.
            Value::Object(inner) => flatten(&path, inner, counts),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) => {}
        }
    }
}

/// Returns a number of dollars as digits, without an exponent.
fn dollars(value: &Value) -> Option<String> {
    let amount = value.as_f64().filter(|amount| *amount >= 0.0)?;
    // Not JSON's own writing, which has exponents.
    let text = amount.abs().to_string();
    (text.len() <= AMOUNT_DIGITS).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_flat_and_dollars_apart() {
        let usage =
            json!({"prompt_tokens": 3, "details": {"cached": 1, "tier": "fast"}, "cost": 1.4e-5});
        let (counts, cost) = read(Some(&usage));
        assert_eq!(counts, Some(json!({"prompt_tokens": 3, "details.cached": 1})));
        assert_eq!(cost.as_deref(), Some("0.000014"));
    }

    #[test]
    fn what_is_no_usage_is_none() {
        for usage in [json!(null), json!(3), json!({"tier": "fast"})] {
            assert_eq!(read(Some(&usage)), (None, None), "{usage}");
        }
        assert_eq!(read(Some(&json!({"cost": -1}))).1, None);
        assert_eq!(read(Some(&json!({"cost": 1e-300}))).1, None);
    }
}
