//! Chat Completions: requests.
//!
//! Only fields that this form has are written, since its servers refuse others. What a role cannot
//! say in it (a picture that an assistant made, a file that a tool returned) becomes a text that
//! names it.

use serde_json::{Map, Value, json};

use crate::llm::{Effort, LlmRequest, LlmTool, ReasoningConfig};
use crate::message::{Content, ContentPart, DraftMessage, Role, ToolCall};
use crate::native::{left_out, put};

/// The longest name that a speaker may have.
const NAME_LENGTH: usize = 64;

pub(in crate::native) fn body(request: &LlmRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.clone().into());
    let messages = request.messages.iter().map(message);
    body.insert("messages".to_owned(), messages.collect());
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    put(&mut body, "temperature", request.temperature);
    put(&mut body, "max_completion_tokens", request.max_completion_tokens);
    put(&mut body, "reasoning_effort", request.reasoning.as_ref().and_then(effort));
    Value::Object(body)
}

fn message(message: &DraftMessage) -> Value {
    let mut said = Map::new();
    said.insert("role".to_owned(), role(message.role).into());
    let content = match (message.role, &message.content) {
        // A model that only calls tools says nothing.
        (Role::Assistant, None) => Value::Null,
        (Role::User | Role::System | Role::Tool, None) => "".into(),
        (_, Some(Content::Text(text))) => text.clone().into(),
        (Role::User, Some(Content::Parts(parts))) => parts.iter().map(|part| json!(part)).collect(),
        (Role::System | Role::Assistant | Role::Tool, Some(Content::Parts(parts))) => {
            spoken(parts).into()
        }
    };
    said.insert("content".to_owned(), content);
    if message.role == Role::Assistant && !message.tool_calls.is_empty() {
        said.insert("tool_calls".to_owned(), message.tool_calls.iter().map(call).collect());
    }
    match (message.role, &message.tool_call_id, &message.name) {
        (Role::Tool, id, _) => put(&mut said, "tool_call_id", id.clone()),
        (_, _, Some(name)) if is_name(name) => put(&mut said, "name", Some(name.clone())),
        (_, _, _) => {}
    }
    Value::Object(said)
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

/// Returns what parts say where only text may be.
fn spoken(parts: &[ContentPart]) -> String {
    let texts: Vec<_> = parts
        .iter()
        .map(|part| part.text().map_or_else(|| left_out(part), str::to_owned))
        .collect();
    texts.join("\n")
}

fn call(call: &ToolCall) -> Value {
    let function = &call.function;
    // Blank arguments are an empty object to us, and a fault to many servers.
    let is_blank = function.arguments.trim().is_empty();
    let arguments = if is_blank { "{}" } else { &function.arguments };
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": function.name, "arguments": arguments},
    })
}

fn tool(tool: &LlmTool) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters(),
        },
    })
}

/// Returns how hard the model is to think, which is all that can be said of it here.
fn effort(reasoning: &ReasoningConfig) -> Option<&'static str> {
    if reasoning.enabled == Some(false) {
        return Some("none");
    }
    reasoning.effort.map(|effort| match effort {
        Effort::Xhigh => "xhigh",
        Effort::High => "high",
        Effort::Medium => "medium",
        Effort::Low => "low",
        Effort::Minimal => "minimal",
        Effort::None => "none",
    })
}

/// Says whether a name is one that a speaker may have.
fn is_name(name: &str) -> bool {
    let is_odd = |letter: char| letter.is_whitespace() || "<|\\/>".contains(letter);
    !name.is_empty() && name.chars().count() <= NAME_LENGTH && !name.contains(is_odd)
}
