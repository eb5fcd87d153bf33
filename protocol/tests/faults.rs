//! A fault in what somebody sent is told by its place and what would have been right.

use quixos_protocol::{DecisionResponse, ParseError, parse};
use serde::de::DeserializeOwned;

const LIMIT: usize = 1 << 20;

/// Returns `PLACE | MESSAGE` of a text that must be refused for its shape.
fn fault<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    match parse::<T>(text.as_bytes(), LIMIT) {
        Err(ParseError::Shape { path, message }) => format!("{path} | {message}"),
        other => format!("no fault of shape: {other:?}"),
    }
}

#[test]
fn a_fault_deep_in_an_answer_is_told_by_its_place() {
    let text = r#"{"actions": [{"type": "done"}, {"type": "llm.call", "messages": [
        {"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}]}"#;
    let expected = "/actions/1/messages/0/content/0/image_url | missing field `url`";
    assert_eq!(fault::<DecisionResponse>(text), expected);
}

#[test]
fn an_unknown_choice_is_refused_with_the_known_ones() {
    assert_eq!(
        fault::<DecisionResponse>(r#"{"actions": [{"type": "tool.exec"}]}"#),
        "/actions/0 | unknown variant `tool.exec`, expected one of `llm.call`, `tool.call`, \
         `tool.result`, `tool.error`, `llm.result`, `llm.error`, `sub_agent.spawn`, \
         `message.send`, `interrupt`, `done`"
    );
}
