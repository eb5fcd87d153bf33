//! What is left out, and what is `null`.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Debug;

use quixos_protocol::{
    Action, AgentConfig, ClientContext, ClientInput, DecisionError, DecisionRequest,
    DecisionResponse, DraftMessage, LlmRequest, LlmResponse, RetryPolicy, Trigger, action,
    parse_value,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns what is written of what was read.
fn echo<T: DeserializeOwned + Serialize + Debug>(value: Value) -> Value {
    serde_json::to_value(parse_value::<T>(value).unwrap()).unwrap()
}

#[test]
fn null_in_an_optional_field_reads_as_left_out() {
    let config = json!({"model": "m", "system": null, "stream": null, "handler": null,
        "format": null, "retry": null, "tools": null, "sub_agents": null});
    assert_eq!(echo::<AgentConfig>(config), json!({"model": "m"}));
    let message = json!({"id": null, "role": "user", "content": null, "tool_calls": null,
        "tool_call_id": null, "name": null});
    assert_eq!(echo::<DraftMessage>(message), json!({"role": "user"}));
    let response = json!({"model": "m", "content": null, "tool_calls": null, "usage": null,
        "finish_reason": null, "cost": null, "images": null});
    assert_eq!(echo::<LlmResponse>(response), json!({"model": "m"}));
    let call = json!({"type": "llm.call", "id": null, "model": null, "messages": null,
        "tools": null, "temperature": null, "max_completion_tokens": null, "reasoning": null,
        "stream": null, "retry": null, "handler": null});
    assert_eq!(echo::<Action>(call), json!({"type": "llm.call"}));
    let call = json!({"type": "llm.call", "reasoning": {"effort": null, "max_tokens": null}});
    assert_eq!(echo::<Action>(call), json!({"type": "llm.call", "reasoning": {}}));
    let context = json!({"tools": null, "context": null});
    assert_eq!(echo::<ClientContext>(context), json!({}));
}

#[test]
fn empty_lists_that_say_nothing_are_left_out_and_those_that_do_are_kept() {
    let message = json!({"role": "assistant", "tool_calls": []});
    assert_eq!(echo::<DraftMessage>(message), json!({"role": "assistant"}));
    let request = json!({"model": "m", "messages": [], "tools": []});
    assert_eq!(echo::<LlmRequest>(request), json!({"model": "m", "messages": []}));
    assert_eq!(echo::<DecisionResponse>(json!({"actions": []})), json!({}));
    for kept in [json!({"messages": []}), json!({"agent": {"model": "m", "tools": []}})] {
        assert_eq!(echo::<DecisionResponse>(kept.clone()), kept);
    }
    let call = json!({"type": "llm.call", "messages": [], "tools": []});
    assert_eq!(echo::<Action>(call.clone()), call);
}

#[test]
fn null_is_the_empty_decision() {
    let empty = DecisionResponse::default();
    assert!(empty.is_empty());
    for text in
        ["null", "{}", r#"{"messages": null, "actions": null, "state": null, "agent": null}"#]
    {
        assert_eq!(serde_json::from_str::<DecisionResponse>(text).unwrap(), empty);
    }
    let said_nothing: DecisionResponse = parse_value(json!({"messages": []})).unwrap();
    assert!(!said_nothing.is_empty());

    let mut request: Value =
        serde_json::from_str(include_str!("../examples/DecisionRequest/minimal.json")).unwrap();
    request["proposed"] = Value::Null;
    assert_eq!(echo::<DecisionRequest>(request)["proposed"], json!({}));
}

#[test]
fn a_null_that_is_handed_through_is_kept() {
    for kept in [
        json!({"type": "done", "data": null}),
        json!({"type": "interrupt", "reason": "r", "payload": null}),
        json!({"type": "tool.error", "error": "e", "retryable": false, "detail": null}),
        json!({"type": "tool.result", "result": null}),
        json!({"type": "tool.call", "name": "t", "arguments": null}),
        json!({"type": "llm.result", "response": null}),
    ] {
        assert_eq!(echo::<Action>(kept.clone()), kept);
    }
    for kept in [
        json!({"type": "client.action", "name": "n", "args": null}),
        json!({"type": "interrupt.resumed", "interrupt_id": "i", "payload": null}),
    ] {
        assert_eq!(echo::<Trigger>(kept.clone()), kept);
    }
    let kept = json!({"type": "tool.result", "id": "c", "result": null});
    assert_eq!(echo::<ClientInput>(kept.clone()), kept);
    let kept = json!({"state": null, "forwarded_props": null});
    assert_eq!(echo::<ClientContext>(kept.clone()), kept);
}

#[test]
fn a_result_is_required_of_a_worker_and_not_of_a_client() {
    let error = parse_value::<Action>(json!({"type": "tool.result", "id": "c"})).unwrap_err();
    assert_eq!(error.to_string(), "missing field `result`");
    let bare = json!({"type": "tool.result", "id": "c"});
    assert_eq!(echo::<ClientInput>(bare.clone()), bare);
    let error = json!({"type": "tool.error", "id": "c", "error": "e", "retryable": null});
    assert!(parse_value::<ClientInput>(error).is_err(), "`retryable` is required");
}

#[test]
fn defaults_that_are_not_nothing() {
    let expected = action::Failure { error: "e".to_owned(), ..action::Failure::default() };
    assert!(!expected.retryable);
    for text in [
        json!({"type": "llm.error", "error": "e"}),
        json!({"type": "llm.error", "error": "e", "retryable": null}),
    ] {
        assert_eq!(parse_value::<Action>(text).unwrap(), Action::LlmError(expected.clone()));
    }
    for text in [json!({"message": "m"}), json!({"message": "m", "retryable": null})] {
        assert!(parse_value::<DecisionError>(text).unwrap().retryable);
    }
}

#[test]
fn fields_that_are_always_there_are_missed_and_say_null_when_empty() {
    let minimal: Value =
        serde_json::from_str(include_str!("../examples/DecisionRequest/minimal.json")).unwrap();
    for field in ["state", "agent", "deadline", "turn_id"] {
        assert_eq!(minimal[field], Value::Null, "{field}");
        let mut cut = minimal.clone();
        cut.as_object_mut().unwrap().shift_remove(field);
        let error = parse_value::<DecisionRequest>(cut).unwrap_err();
        assert_eq!(error.to_string(), format!("missing field `{field}`"));
    }
    let policy = json!({"timeout_secs": null, "max_retries": 0, "backoff_base_secs": 1,
        "backoff_max_secs": 1});
    assert_eq!(echo::<RetryPolicy>(policy.clone()), policy);
    let mut cut = policy;
    cut.as_object_mut().unwrap().shift_remove("timeout_secs");
    assert!(parse_value::<RetryPolicy>(cut).is_err());
}

#[test]
fn values_keep_the_order_of_their_keys_and_are_equal_in_any() {
    let text = r#"{"state":{"b":1,"a":{"d":1.0,"c":[2,1]}},"agent":{"model":"m"}}"#;
    let one: DecisionResponse = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&one).unwrap(), text);
    let turned = r#"{"agent":{"later":1,"model":"m"},"state":{"a":{"c":[2,1],"d":1.0},"b":1}}"#;
    assert_eq!(serde_json::from_str::<DecisionResponse>(turned).unwrap(), one);
    for other in [text.replace("1.0", "1"), text.replace("[2,1]", "[1,2]")] {
        assert_ne!(serde_json::from_str::<DecisionResponse>(&other).unwrap(), one);
    }
    let names = |tools: Value| parse_value::<AgentConfig>(json!({"model": "m", "tools": tools}));
    assert_ne!(names(json!([])).unwrap(), AgentConfig::new("m"), "absent and empty differ");
}
