//! What the types know of themselves.

#![allow(clippy::unwrap_used, reason = "tests")]

use quixos_protocol::{
    Action, CallHandler, ClientInput, Content, ContentPart, DraftMessage, Frame, FrameError,
    Handler, MediaUrl, Message, Role, ToolCall, ToolHandler, ToolInput, Trigger, parse_value,
    text_of,
};
use serde_json::{Value, json};

#[test]
fn a_value_as_text() {
    assert_eq!(text_of(&json!("a \"b\"")), "a \"b\"");
    assert_eq!(text_of(&Value::Null), "");
    assert_eq!(text_of(&json!(42)), "42");
    assert_eq!(text_of(&json!(false)), "false");
    assert_eq!(text_of(&json!({"b": [1, null, "ü"], "a": 1.0})), r#"{"b":[1,null,"ü"],"a":1.0}"#);
}

#[test]
fn the_text_of_content_is_that_of_its_text_parts() {
    assert_eq!(Content::from_text("hello").text(), "hello");
    let text = |text: &str| ContentPart::Text { text: text.to_owned() };
    let image = ContentPart::ImageUrl { image_url: MediaUrl { url: "u".to_owned() } };
    assert_eq!(Content::Parts(vec![text("a"), image, text("b")]).text(), "ab");
    assert_eq!(Content::Parts(Vec::new()).text(), "");
}

#[test]
fn drafts_and_messages() {
    let draft = DraftMessage::tool("call_1", "get_weather", "sunny");
    let value = json!({"role": "tool", "content": "sunny", "tool_call_id": "call_1",
        "name": "get_weather"});
    assert_eq!(serde_json::to_value(&draft).unwrap(), value);
    assert_eq!(draft.id(), None);
    assert_eq!(draft.clone().with_id("").id(), None, "an empty id is none");
    assert_eq!(draft.clone().with_id("m1").id(), Some("m1"));
    assert_eq!(draft.clone().with_id("m1").without_id(), draft);

    let message: Message = draft.clone().with_id("other").into_message("m1");
    assert_eq!(message.id, "m1");
    assert_eq!(DraftMessage::from(message), draft.with_id("m1"));

    let roles = [DraftMessage::system("s"), DraftMessage::user("u"), DraftMessage::assistant("a")];
    assert_eq!(roles.map(|draft| draft.role), [Role::System, Role::User, Role::Assistant]);
    assert_eq!(ToolCall::function("c", "f", "{}").kind, "function");
}

#[test]
fn handlers_of_one_kind_are_handlers() {
    assert_eq!(Handler::from(CallHandler::default()), Handler::Server);
    assert_eq!(Handler::from(CallHandler::Worker), Handler::Worker);
    assert_eq!(Handler::from(ToolHandler::default()), Handler::Worker);
    assert_eq!(Handler::from(ToolHandler::Client), Handler::Client);
}

#[test]
fn what_is_wrong_with_an_input() {
    let error = "e".to_owned();
    assert_eq!(ToolInput::Valid { value: json!({}) }.error(), None);
    assert_eq!(ToolInput::Malformed { error }.error(), Some("e"));
}

#[test]
fn a_trigger_knows_its_call() {
    let finished = json!({"type": "tool.finished", "id": "c", "ok": true, "name": "t"});
    let finished: Trigger = parse_value(finished).unwrap();
    assert_eq!(finished.kind(), "tool.finished");
    assert_eq!((finished.call_id(), finished.attempt()), (Some("c"), None));
    let execute = json!({"type": "llm.execute", "id": "c", "request": {}, "stream": false,
        "attempt": 3});
    let execute: Trigger = parse_value(execute).unwrap();
    assert_eq!((execute.call_id(), execute.attempt()), (Some("c"), Some(3)));
    assert_eq!(Trigger::SessionStart.call_id(), None);
}

#[test]
fn an_action_and_an_input_know_their_call() {
    let of = |value: Value| parse_value::<Action>(value).unwrap().call_id().map(str::to_owned);
    assert_eq!(of(json!({"type": "llm.call", "id": "c"})).as_deref(), Some("c"));
    assert_eq!(of(json!({"type": "tool.error", "error": "e"})), None);
    let spawn = json!({"type": "sub_agent.spawn", "session_id": "s", "agent_id": "a",
        "tool_call_id": "c"});
    assert_eq!(of(spawn).as_deref(), Some("c"));

    let input = json!({"type": "client.action", "agent_id": "a", "turn_id": "t", "name": "n"});
    let input: ClientInput = parse_value(input).unwrap();
    assert_eq!(input.kind(), "client.action");
    assert_eq!((input.agent_id(), input.turn_id()), (Some("a"), Some("t")));
    let input: ClientInput = parse_value(json!({"type": "tool.result", "id": "c"})).unwrap();
    assert_eq!((input.agent_id(), input.turn_id(), input.call_id()), (None, None, Some("c")));
}

#[test]
fn a_stream_is_deltas_and_one_last_frame() {
    let read = |event: &str, data: &str| Frame::parse(event, data.as_bytes(), 1000);
    for (event, data) in [
        ("llm.token.delta", r#"{"text":"hel"}"#),
        ("llm.token.delta", r#"{"choices":[]}"#),
        ("decision.result", r#"{"actions":[{"type":"llm.result","response":{"model":"m"}}]}"#),
        ("decision.error", r#"{"message":"m","retryable":false}"#),
    ] {
        let frame = read(event, data).unwrap();
        assert_eq!((frame.event(), frame.data().unwrap().as_str()), (event, data));
    }
    assert_eq!(read("decision.result", "null"), read("decision.result", "{}"));
    let Ok(Frame::Error(error)) = read("decision.error", r#"{"message":"m"}"#) else { panic!() };
    assert!(error.retryable);

    assert!(matches!(read("llm.token.delta", "[DONE]"), Err(FrameError::Delta(_))));
    assert!(matches!(read("decision.result", "[]"), Err(FrameError::Decision(_))));
    assert!(matches!(read("decision.error", "{}"), Err(FrameError::Decision(_))));
    assert_eq!(
        read("message", "{}").unwrap_err().to_string(),
        "unknown event `message`, expected one of `llm.token.delta`, `decision.result`, \
         `decision.error`"
    );
}
