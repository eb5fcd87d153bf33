//! What people are told of how a tool call ended: how much came of it, and not what.

use serde_json::Value;

/// Says what kind of result a text is.
pub(crate) fn of_result(text: &str) -> String {
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => counted(fields.len(), "an object of", "field"),
        Ok(Value::Array(items)) => counted(items.len(), "a list of", "item"),
        Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | Err(_) => {
            match text.chars().count() {
                0 => "no result".to_owned(),
                letters => counted(letters, "a text of", "character"),
            }
        }
    }
}

/// Says in which way a call failed, as far as that is not the tool's own affair.
pub(crate) fn of_failure(code: Option<&str>) -> String {
    let told = if code == Some("deadline_exceeded") { "it took too long" } else { "it failed" };
    told.to_owned()
}

fn counted(count: usize, what: &str, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{what} {count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_nothing_of_the_result_in_it() {
        for (text, told) in [
            ("", "no result"),
            ("rain in Oslo", "a text of 12 characters"),
            ("ü", "a text of 1 character"),
            ("{\"card\": 1}", "an object of 1 field"),
            ("[1, 2]", "a list of 2 items"),
            ("{broken", "a text of 7 characters"),
            ("true", "a text of 4 characters"),
        ] {
            assert_eq!(of_result(text), told, "{text}");
        }
        assert_eq!(of_failure(Some("deadline_exceeded")), "it took too long");
        assert_eq!(of_failure(None), "it failed");
    }
}
