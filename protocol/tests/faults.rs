//! A fault in what somebody sent is told by its place and by what would have been right.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Debug;

use quixos_protocol::{
    Action, ClientInput, DecisionRequest, DecisionResponse, ParseError, ToolInput, Trigger, parse,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

const LIMIT: usize = 1 << 20;

/// Returns the error of a text that must be refused for its shape.
fn fault<T: DeserializeOwned + Debug>(text: &str) -> String {
    match parse::<T>(text.as_bytes(), LIMIT) {
        Err(error @ ParseError::Shape { .. }) => error.to_string(),
        other => panic!("no fault of shape: {other:?}"),
    }
}

#[test]
fn a_fault_deep_in_an_answer_is_told_by_its_place() {
    let text = r#"{"actions": [{"type": "done"}, {"type": "llm.call", "messages": [
        {"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}]}"#;
    assert_eq!(
        fault::<DecisionResponse>(text),
        "`/actions/1/messages/0/content/0/image_url`: missing field `url`"
    );
    let text = r#"{"type": "client.messages", "agent_id": "a", "messages": [], "client":
        {"tools": [{"name": "t", "handler": "server"}]}}"#;
    assert_eq!(
        fault::<ClientInput>(text),
        "`/client/tools/0/handler`: unknown variant `server`, expected `worker` or `client`"
    );
}

/// serde by itself reads a list as the fields of an object, in their order.
#[test]
fn a_list_is_no_object() {
    for (text, place) in [
        (r#"{"agent": ["m"]}"#, "/agent"),
        (r#"{"actions": [["done"]]}"#, "/actions/0"),
        (
            r#"{"actions": [{"type": "llm.call", "tools": [["t", "A tool."]]}]}"#,
            "/actions/0/tools/0",
        ),
        (r#"{"agent": {"retry": [1, 2, 3, 4]}}"#, "/agent/retry"),
    ] {
        let told = format!("`{place}`: a list where an object is expected");
        assert_eq!(fault::<DecisionResponse>(text), told, "{text}");
    }
}

#[test]
fn a_place_is_a_json_pointer_whatever_its_keys_are() {
    let minimal = include_str!("../examples/DecisionRequest/minimal.json");
    let text = minimal.replace("{},", r#"{"metadata": {"a/b: ~c": 1}},"#);
    let error = parse::<DecisionRequest>(text.as_bytes(), LIMIT).unwrap_err();
    let ParseError::Shape { path, message } = error else { panic!("{error}") };
    assert_eq!(path, "/identity/metadata/a~1b: ~0c");
    assert_eq!(message, "invalid type: integer `1`, expected a string");
}

#[test]
fn an_unknown_choice_is_refused_with_the_known_ones() {
    assert_eq!(
        fault::<DecisionResponse>(r#"{"actions": [{"type": "tool.exec"}]}"#),
        "`/actions/0`: unknown variant `tool.exec`, expected one of `llm.call`, `tool.call`, \
         `tool.result`, `tool.error`, `llm.result`, `llm.error`, `sub_agent.spawn`, \
         `message.send`, `interrupt`, `done`"
    );
    assert_eq!(
        fault::<ToolInput>(r#"{"status": "fine"}"#),
        "unknown variant `fine`, expected one of `valid`, `invalid`, `malformed`"
    );
    for text in [r#"{"type": "?"}"#, r#"{"type": "session.Start"}"#, r#"{"type": ""}"#] {
        assert!(fault::<Trigger>(text).contains("expected one of `session.start`, "));
        assert!(fault::<ClientInput>(text).contains("expected one of `client.message`, "));
    }
}

#[test]
fn a_choice_wants_its_name() {
    assert_eq!(fault::<Action>("{}"), "missing field `type`");
    assert_eq!(
        fault::<Action>(r#"{"type": 7}"#),
        "`/type`: invalid type: a number, expected a string"
    );
    assert_eq!(fault::<Action>(r#""done""#), r#"invalid type: string "done", expected a map"#);
    assert_eq!(fault::<ToolInput>(r#"{"type": "valid"}"#), "missing field `status`");
}

#[test]
fn content_is_a_text_or_parts() {
    assert_eq!(
        fault::<DecisionResponse>(r#"{"messages": [{"role": "user", "content": 7}]}"#),
        "`/messages/0/content`: invalid type: integer `7`, expected a string or a list of content \
         parts"
    );
}

#[test]
fn numbers_that_count_are_whole_and_not_negative() {
    let policy = |field: &str, value: &str| {
        let text = r#"{"timeout_secs": 1, "max_retries": 1, "backoff_base_secs": 1,
            "backoff_max_secs": 1}"#;
        let text = text.replace(&format!("\"{field}\": 1"), &format!("\"{field}\": {value}"));
        fault::<Action>(&format!(r#"{{"type": "llm.call", "retry": {text}}}"#))
    };
    for field in ["timeout_secs", "max_retries", "backoff_base_secs", "backoff_max_secs"] {
        for value in ["-1", "0.5", "\"1\""] {
            let error = policy(field, value);
            assert!(error.starts_with(&format!("`/retry/{field}`: invalid ")), "{error}");
        }
    }
    let error = policy("max_retries", "null");
    assert_eq!(error, "`/retry/max_retries`: invalid type: null, expected u32");
}

#[test]
fn what_is_not_json_is_another_error_than_what_is_not_the_type() {
    for text in ["", " ", "{", "{\"type\": \"done\"} {}", "{'type': 'done'}", "\u{feff}{}", "NaN"] {
        let error = parse::<DecisionResponse>(text.as_bytes(), LIMIT).unwrap_err();
        assert!(matches!(error, ParseError::Malformed { .. }), "{text}: {error}");
    }
    let error = parse::<DecisionResponse>(b"{\"state\": \"\xff\"}", LIMIT).unwrap_err();
    assert!(matches!(error, ParseError::Malformed { .. }), "{error}");
    for text in ["[]", "7", "\"\"", "true"] {
        assert!(fault::<DecisionResponse>(text).ends_with("expected a decision or null"));
    }
}

#[test]
fn more_bytes_than_the_limit_are_not_looked_at() {
    let text = b"{\"type\": \"done\"}";
    assert!(parse::<Action>(text, text.len()).is_ok());
    let size = text.len();
    let error = parse::<Action>(text, size - 1).unwrap_err();
    assert_eq!(error, ParseError::TooLarge { size, limit: size - 1 });
}

#[test]
fn nesting_without_end_is_an_error_and_no_crash() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize| {
            let inner = format!("{}0{}", open.repeat(depth), close.repeat(depth));
            format!("{{\"state\": {inner}}}")
        };
        assert!(parse::<DecisionResponse>(nested(100).as_bytes(), LIMIT).is_ok());
        let error = parse::<DecisionResponse>(nested(50_000).as_bytes(), LIMIT).unwrap_err();
        assert!(matches!(error, ParseError::Malformed { .. }), "{error}");
    }
}

#[test]
fn unknown_fields_are_ignored_at_every_depth() {
    /// Puts a field into every object that is of one of our types.
    fn litter(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (key, inner) in fields.iter_mut() {
                    let is_theirs = ["state", "input", "output", "metadata", "value", "data"]
                        .contains(&key.as_str());
                    if !is_theirs {
                        litter(inner);
                    }
                }
                fields.insert("of_a_later_version".to_owned(), Value::Bool(true));
            }
            Value::Array(items) => items.iter_mut().for_each(litter),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    for text in [
        include_str!("../examples/DecisionRequest/full.json"),
        include_str!("../examples/DecisionRequest/minimal.json"),
    ] {
        let expected: DecisionRequest = parse(text.as_bytes(), LIMIT).unwrap();
        let mut value: Value = serde_json::from_str(text).unwrap();
        litter(&mut value);
        assert!(value.to_string().matches("of_a_later_version").count() > 4);
        let seen: DecisionRequest = parse(value.to_string().as_bytes(), LIMIT).unwrap();
        assert_eq!(seen, expected);
    }
    let session_start: Trigger = parse(br#"{"type": "session.start", "x": 1}"#, LIMIT).unwrap();
    assert_eq!(session_start, Trigger::SessionStart);
}
