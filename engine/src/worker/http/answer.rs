//! An answer that is no stream, and the one that a stream ends with.

use quixos_protocol::{DecisionResponse, parse_value, text_of};
use reqwest::StatusCode;
use serde_json::Value;

use super::never;
use crate::worker::DeliveryError;

/// Letters of what a worker says went wrong that are passed on.
const ERROR_LENGTH: usize = 500;
/// What a decision may have; a body with an `error` and none of these is an error.
const FIELDS: [&str; 4] = ["messages", "actions", "state", "agent"];

/// Reads a body that came with success. What it says goes on as the worker wrote it.
pub(super) fn of_body(body: &[u8]) -> Result<Value, DeliveryError> {
    if body.trim_ascii().is_empty() {
        return Err(never("the worker's answer is empty; to do nothing is `{}` or `null`"));
    }
    let answer: Value = serde_json::from_slice(body)
        .map_err(|error| never(format!("the worker's answer is no JSON: {error}")))?;
    if let Some(message) = said(&answer) {
        let retryable = answer.get("retryable").and_then(Value::as_bool).unwrap_or(false);
        return Err(DeliveryError { message, retryable });
    }
    match parse_value::<DecisionResponse>(answer.clone()) {
        Ok(_) => Ok(answer),
        Err(fault) => Err(never(format!("the worker's answer is no decision: {fault}"))),
    }
}

/// Returns why a delivery failed that came back with another status than success.
pub(super) fn of_status(status: StatusCode, body: &[u8]) -> DeliveryError {
    let said = serde_json::from_slice(body).ok().and_then(|body| said(&body));
    let said = said.map(|error| format!(": {error}")).unwrap_or_default();
    let what = if status.is_redirection() {
        "the worker sends elsewhere, which is not followed"
    } else {
        "the worker answers"
    };
    let message = format!("{what} ({status}){said}");
    DeliveryError { message, retryable: status.is_server_error() }
}

/// Returns the first letters of what a worker said.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(ERROR_LENGTH).collect()
}

/// Returns the error that a body is, if it is one: a text, or an object with a `message`.
fn said(body: &Value) -> Option<String> {
    let fields = body.as_object()?;
    let error = fields.get("error").filter(|error| !error.is_null())?;
    if FIELDS.iter().any(|field| fields.contains_key(*field)) {
        return None;
    }
    Some(cut(&text_of(error.get("message").unwrap_or(error))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: &str) -> Result<Value, (String, bool)> {
        of_body(body.as_bytes()).map_err(|error| (error.message, error.retryable))
    }

    #[test]
    fn a_decision_and_null_are_answers() {
        assert_eq!(read("null"), Ok(Value::Null));
        assert_eq!(read(" {} "), Ok(json!({})));
        assert_eq!(read(r#"{"state": 1, "error": "x"}"#), Ok(json!({"state": 1, "error": "x"})));
        assert_eq!(read(r#"{"error": null}"#), Ok(json!({"error": null})));
    }

    #[test]
    fn what_is_no_answer_is_not_asked_for_again() {
        let odd_action = r#"{"actions": [{"type": "x"}]}"#;
        for body in ["", " \n", "{", "<html>", "3", "[]", "\"x\"", odd_action] {
            assert!(matches!(read(body), Err((_, false))), "{body}");
        }
    }

    #[test]
    fn an_error_is_the_workers() {
        assert_eq!(read(r#"{"error": "no"}"#), Err(("no".to_owned(), false)));
        let body = r#"{"error": {"message": "busy"}, "retryable": true}"#;
        assert_eq!(read(body), Err(("busy".to_owned(), true)));
    }
}
