//! Inputs that are in order. A test changes what it is about.

use quixos_protocol::DraftMessage;
use quixos_session::sessions::Authority;
use serde_json::{Value, json};

/// Where the clock stands at first.
pub(crate) const START: &str = "2026-01-31T12:00:00Z";
/// The agent that most tests talk to.
pub(crate) const AGENT: &str = "helper";
/// The engine that drives the sessions of most tests.
pub(crate) const ENGINE: &str = "engine-1";
/// Whose the sessions are.
pub(crate) const OWNER: &str = "anna";
/// The tenant of all.
pub(crate) const TENANT: &str = "home";

/// Returns a client of an owner.
pub(crate) fn frontend(owner: &str) -> Authority {
    authority("frontend", owner)
}

/// Returns a program of the operator.
pub(crate) fn machine() -> Authority {
    authority("machine", "")
}

/// Returns the engine.
pub(crate) fn system() -> Authority {
    authority("system", "")
}

fn authority(class: &str, owner: &str) -> Authority {
    Authority { class: class.to_owned(), tenant: TENANT.to_owned(), owner_id: owner.to_owned() }
}

/// Returns the config of an agent whose models the engine runs.
pub(crate) fn config() -> Value {
    json!({"model": "m", "system": "Be kind."})
}

/// Returns a config with tools, each run by the worker or by the client.
pub(crate) fn config_with(tools: &[(&str, &str)]) -> Value {
    let tool = |(name, handler): &(&str, &str)| json!({"name": name, "handler": handler});
    let tools: Vec<Value> = tools.iter().map(tool).collect();
    json!({"model": "m", "tools": tools})
}

/// Returns what a client says, as a turn if it has an id.
pub(crate) fn message(turn: &str, text: &str) -> Value {
    json!({
        "type": "client.message",
        "agent_id": AGENT,
        "turn_id": turn,
        "message": {"role": "user", "content": text},
    })
}

/// Returns a client's view.
pub(crate) fn view(turn: &str, messages: &[DraftMessage]) -> Value {
    json!({
        "type": "client.messages",
        "agent_id": AGENT,
        "turn_id": turn,
        "messages": messages,
    })
}

/// Returns a client's action.
pub(crate) fn action(turn: &str, name: &str) -> Value {
    json!({"type": "client.action", "agent_id": AGENT, "turn_id": turn, "name": name})
}

/// Returns a model's reply that is a text.
pub(crate) fn says(text: &str) -> Value {
    json!({"model": "m", "content": text, "finish_reason": "stop"})
}

/// Returns a model's reply that calls tools, each under its id.
pub(crate) fn calls(made: &[(&str, &str)]) -> Value {
    let call = |(id, name): &(&str, &str)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}});
    let made: Vec<Value> = made.iter().map(call).collect();
    json!({"model": "m", "tool_calls": made, "finish_reason": "tool_calls"})
}

/// Returns the answer to a `tool.execute` that has a result.
pub(crate) fn tool_result(result: &str) -> Value {
    json!({"actions": [{"type": "tool.result", "result": result}]})
}

/// Returns a policy of retries.
pub(crate) fn retry(timeout: Option<u64>, retries: u32, base: u64, most: u64) -> Value {
    json!({
        "timeout_secs": timeout,
        "max_retries": retries,
        "backoff_base_secs": base,
        "backoff_max_secs": most,
    })
}
