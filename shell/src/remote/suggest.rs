//! Suggestions as they go between a host and a shell.

use serde_json::{Value, json};

use crate::completion::Suggestion;

/// Returns suggestions as a host says them.
pub(super) fn to_json(suggestions: &[Suggestion]) -> Value {
    let one = |it: &Suggestion| {
        json!({
            "text": it.text,
            "start": it.span.start,
            "end": it.span.end,
            "about": it.about,
            "ends": it.ends,
        })
    };
    suggestions.iter().map(one).collect()
}

/// Reads suggestions for a text; what does not fit it is left out.
pub(super) fn from_json(said: &Value, text: &str) -> Vec<Suggestion> {
    let one = |it: &Value| {
        let at = |field: &str| it[field].as_u64().and_then(|at| usize::try_from(at).ok());
        let span = at("start")?..at("end")?;
        text.get(span.clone())?;
        Some(Suggestion {
            text: it["text"].as_str()?.to_owned(),
            span,
            about: it["about"].as_str()?.to_owned(),
            ends: it["ends"].as_bool()?,
        })
    };
    said.as_array().into_iter().flatten().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_come_over_as_they_are() {
        let suggestion = |text: &str, span| Suggestion {
            text: text.to_owned(),
            span,
            about: "x".to_owned(),
            ends: true,
        };
        let all = vec![suggestion("call", 0..2), suggestion("é", 2..2)];
        assert_eq!(from_json(&to_json(&all), "ca"), all);
        assert_eq!(from_json(&to_json(&all), "c"), Vec::new());
        assert_eq!(from_json(&json!({ "no": "list" }), "ca"), Vec::new());
    }
}
