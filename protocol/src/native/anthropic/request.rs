//! Messages: requests.
//!
//! The form knows two speakers in turn. Instructions go to `system`; what a tool answered is said
//! by the user, first thing after the call; neighbours of one speaker become one message. Empty
//! texts are left out, since the form refuses them.

use serde_json::{Map, Value, json};

use super::{media, thinking};
use crate::llm::{LlmRequest, LlmTool};
use crate::message::{Content, ContentPart, DraftMessage, Role, ToolCall};
use crate::native::{left_out, put};

pub(in crate::native) fn body(request: &LlmRequest) -> Value {
    let room = thinking::room(request);
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.clone().into());
    body.insert("max_tokens".to_owned(), room.max_tokens.into());
    if let Some(system) = system(&request.messages) {
        body.insert("system".to_owned(), system.into());
    }
    body.insert("messages".to_owned(), messages(&request.messages));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    match room.budget {
        Some(budget) => {
            let thinking = json!({"type": "enabled", "budget_tokens": budget});
            body.insert("thinking".to_owned(), thinking);
        }
        // A model that thinks has its own temperature.
        None => put(&mut body, "temperature", request.temperature),
    }
    Value::Object(body)
}

fn system(messages: &[DraftMessage]) -> Option<String> {
    let instructions = messages.iter().filter(|message| message.role == Role::System);
    let texts = instructions.filter_map(|message| message.content.as_ref()).map(Content::text);
    let texts: Vec<_> = texts.filter(|text| !text.trim().is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn messages(messages: &[DraftMessage]) -> Value {
    let mut turns: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (speaker, blocks) = match message.role {
            Role::System => continue,
            Role::User => ("user", blocks(message.content.as_ref())),
            Role::Tool => ("user", vec![result(message)]),
            Role::Assistant => ("assistant", reply(message)),
        };
        match turns.last_mut() {
            Some((last, said)) if *last == speaker => said.extend(blocks),
            Some(_) | None if blocks.is_empty() => {}
            Some(_) | None => turns.push((speaker, blocks)),
        }
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn blocks(content: Option<&Content>) -> Vec<Value> {
    match content {
        Some(Content::Text(text)) => text_block(text).into_iter().collect(),
        Some(Content::Parts(parts)) => parts.iter().filter_map(block).collect(),
        None => Vec::new(),
    }
}

fn block(part: &ContentPart) -> Option<Value> {
    match part.text() {
        Some(text) => text_block(text),
        None => Some(media::block(part)),
    }
}

fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// Returns what the model said. It never says media here: they are named instead.
fn reply(message: &DraftMessage) -> Vec<Value> {
    let said = match &message.content {
        Some(Content::Text(text)) => text_block(text).into_iter().collect(),
        Some(Content::Parts(parts)) => parts
            .iter()
            .filter_map(|part| match part.text() {
                Some(text) => text_block(text),
                None => text_block(&left_out(part)),
            })
            .collect(),
        None => Vec::new(),
    };
    said.into_iter().chain(message.tool_calls.iter().map(call)).collect()
}

fn call(call: &ToolCall) -> Value {
    json!({
        "type": "tool_use",
        "id": id(&call.id),
        "name": call.function.name,
        "input": input(&call.function.arguments),
    })
}

/// Returns the arguments of a call as the object that they must be here. What is none is shown
/// as it was written, since the model is told that it was wrong.
fn input(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(input)) => Value::Object(input),
        Ok(_) | Err(_) => json!({"arguments": arguments}),
    }
}

fn result(message: &DraftMessage) -> Value {
    let mut block = Map::new();
    block.insert("type".to_owned(), "tool_result".into());
    let call = message.tool_call_id.as_deref().unwrap_or_default();
    block.insert("tool_use_id".to_owned(), id(call).into());
    let content = match &message.content {
        Some(Content::Text(text)) if !text.is_empty() => Some(Value::from(text.clone())),
        Some(Content::Parts(parts)) => Some(parts.iter().filter_map(self::block).collect()),
        Some(Content::Text(_)) | None => None,
    };
    if let Some(content) = content.filter(|content| *content != json!([])) {
        block.insert("content".to_owned(), content);
    }
    Value::Object(block)
}

/// Returns the id of a call in the letters that ids have here, the same for a call and its answer.
fn id(id: &str) -> String {
    let letter = |letter: char| {
        let is_known = letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if is_known { letter } else { '_' }
    };
    id.chars().map(letter).collect()
}

fn tool(tool: &LlmTool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters(),
    })
}
