//! What a model is asked, in the forms of two providers.
//!
//! Whether the reply is streamed is no part of it, nor is anything that only the engine knows: ids
//! of messages stay here, and so do the schemas that results must satisfy.

use quixos_protocol::{
    Content, ContentPart, DraftMessage, Effort, Format, LlmRequest, LlmTool, ReasoningConfig, Role,
    ToolCall,
};
use serde_json::{Map, Value, json};

/// How many tokens a reply may have where the request does not say and the provider must be told.
const MAX_TOKENS: u64 = 8192;
/// The fewest tokens that a model can be given to think.
const LEAST_THOUGHT: u64 = 1024;

/// Returns the body of a request in a provider's own form.
#[must_use]
pub fn request(format: Format, request: &LlmRequest) -> Value {
    match format {
        Format::Openai => openai(request),
        Format::Anthropic => anthropic(request),
    }
}

/// Returns the body of Chat Completions.
fn openai(request: &LlmRequest) -> Value {
    let messages: Vec<Value> = request.messages.iter().map(openai_message).collect();
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("messages".to_owned(), Value::Array(messages));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let (name, description) = (&tool.name, &tool.description);
            let function =
                json!({"name": name, "description": description, "parameters": schema(tool)});
            json!({"type": "function", "function": function})
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(most) = request.max_completion_tokens {
        body.insert("max_completion_tokens".to_owned(), json!(most));
    }
    if let Some(effort) = request.reasoning.and_then(effort) {
        body.insert("reasoning_effort".to_owned(), json!(effort));
    }
    Value::Object(body)
}

fn openai_message(message: &DraftMessage) -> Value {
    let mut body = json!({"role": message.role, "content": message.content});
    if !message.tool_calls.is_empty() {
        body["tool_calls"] = json!(message.tool_calls);
    }
    if let Some(call) = &message.tool_call_id {
        body["tool_call_id"] = json!(call);
    }
    if let (Some(name), true) = (&message.name, message.role != Role::Tool) {
        body["name"] = json!(name);
    }
    body
}

/// Returns the body of Messages.
fn anthropic(request: &LlmRequest) -> Value {
    let (system, spoken): (Vec<_>, Vec<_>) =
        request.messages.iter().partition(|message| message.role == Role::System);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    let most = request.max_completion_tokens.unwrap_or(MAX_TOKENS);
    let budget = request.reasoning.and_then(budget);
    // What a model thinks is part of what it may say.
    let most = budget.map_or(most, |budget| most.max(budget.saturating_add(1)));
    body.insert("max_tokens".to_owned(), json!(most));
    if let Some(budget) = budget {
        let thinking = json!({"type": "enabled", "budget_tokens": budget});
        body.insert("thinking".to_owned(), thinking);
    }
    let system: Vec<_> = system
        .into_iter()
        .filter_map(|message| message.content.as_ref())
        .map(|content| content.text().into_owned())
        .filter(|text| !text.is_empty())
        .collect();
    if !system.is_empty() {
        body.insert("system".to_owned(), json!(system.join("\n\n")));
    }
    body.insert("messages".to_owned(), turns(&spoken));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let (name, description) = (&tool.name, &tool.description);
            json!({"name": name, "description": description, "input_schema": schema(tool)})
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    Value::Object(body)
}

/// Returns messages as turns of two speakers: the answers of tools are said by the user, and all
/// answers to one reply in one turn.
fn turns(messages: &[&DraftMessage]) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let speaker = if message.role == Role::Assistant { "assistant" } else { "user" };
        let blocks = blocks(message);
        match turns.last_mut() {
            Some((last, said)) if *last == speaker => said.extend(blocks),
            Some(_) | None => turns.push((speaker, blocks)),
        }
    }
    turns.retain(|(_, blocks)| !blocks.is_empty());
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn blocks(message: &DraftMessage) -> Vec<Value> {
    let said = message.content.as_ref().map(content_blocks).unwrap_or_default();
    if let (Role::Tool, Some(call)) = (message.role, &message.tool_call_id) {
        return vec![json!({"type": "tool_result", "tool_use_id": call, "content": said})];
    }
    said.into_iter().chain(message.tool_calls.iter().map(tool_use)).collect()
}

fn tool_use(call: &ToolCall) -> Value {
    // A provider takes nothing but an object, whatever the model once wrote.
    let input = serde_json::from_str(&call.function.arguments).ok().filter(Value::is_object);
    let input = input.unwrap_or_else(|| json!({}));
    json!({"type": "tool_use", "id": call.id, "name": call.function.name, "input": input})
}

fn content_blocks(content: &Content) -> Vec<Value> {
    match content {
        Content::Text(text) if text.is_empty() => Vec::new(),
        Content::Text(text) => vec![json!({"type": "text", "text": text})],
        Content::Parts(parts) => parts.iter().map(block).collect(),
    }
}

fn block(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text { text } => json!({"type": "text", "text": text}),
        ContentPart::ImageUrl { image_url } => {
            json!({"type": "image", "source": source(&image_url.url)})
        }
        ContentPart::File { file } => {
            let (name, source) = (&file.filename, source(&file.file_data));
            json!({"type": "document", "title": name, "source": source})
        }
        ContentPart::InputAudio { .. } => json!({"type": "text", "text": "(a recording)"}),
        ContentPart::VideoUrl { .. } => json!({"type": "text", "text": "(a film)"}),
    }
}

/// Returns where media are, or themselves if the address has them in it.
fn source(url: &str) -> Value {
    let embedded = url.strip_prefix("data:").and_then(|data| data.split_once(";base64,"));
    match embedded {
        Some((kind, data)) => json!({"type": "base64", "media_type": kind, "data": data}),
        None => json!({"type": "url", "url": url}),
    }
}

/// Returns the schema of a tool's arguments; without one there are none.
fn schema(tool: &LlmTool) -> Value {
    tool.input.clone().unwrap_or_else(|| json!({"type": "object", "properties": {}}))
}

/// Returns how hard a model is to think, if that is said.
fn effort(reasoning: ReasoningConfig) -> Option<Effort> {
    if reasoning.enabled == Some(false) { Some(Effort::None) } else { reasoning.effort }
}

/// Returns how many tokens a model may think, if it is to think at all.
fn budget(reasoning: ReasoningConfig) -> Option<u64> {
    let by_effort = match effort(reasoning) {
        Some(Effort::None) => return None,
        Some(Effort::Minimal) => Some(LEAST_THOUGHT),
        Some(Effort::Low) => Some(2048),
        Some(Effort::Medium) => Some(8192),
        Some(Effort::High) => Some(16_384),
        Some(Effort::Xhigh) => Some(32_768),
        None if reasoning.enabled == Some(true) => Some(8192),
        None => None,
    };
    reasoning.max_tokens.or(by_effort).map(|budget| budget.max(LEAST_THOUGHT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation() -> LlmRequest {
        let calls = ["a", "b"].map(|id| ToolCall::function(id, "find", r#"{"q":1}"#)).to_vec();
        let calling = DraftMessage { content: None, tool_calls: calls, ..DraftMessage::user("") };
        let tool = LlmTool {
            name: "find".to_owned(),
            description: "Finds.".to_owned(),
            input: None,
            output: Some(json!({"type": "string"})),
        };
        LlmRequest {
            model: "m".to_owned(),
            messages: vec![
                DraftMessage::system("Be kind."),
                DraftMessage::user("Go.").with_id("msg_1"),
                DraftMessage { role: Role::Assistant, ..calling },
                DraftMessage::tool("a", "find", "one").with_id("msg_2"),
                DraftMessage::tool("b", "find", "two"),
            ],
            tools: vec![tool],
            ..LlmRequest::default()
        }
    }

    #[test]
    fn chat_completions_carry_no_ids_of_messages_and_no_output_schemas() {
        let body = request(Format::Openai, &conversation());
        assert_eq!(body["messages"][1], json!({"role": "user", "content": "Go."}));
        let answer = json!({"role": "tool", "content": "one", "tool_call_id": "a"});
        assert_eq!(body["messages"][3], answer);
        let parameters = json!({"type": "object", "properties": {}});
        assert_eq!(body["tools"][0]["function"]["parameters"], parameters);
        let text = body.to_string();
        assert!(!text.contains("msg_") && !text.contains("output") && !text.contains("stream"));
    }

    #[test]
    fn messages_have_the_system_apart_and_all_answers_to_a_reply_in_one_turn() {
        let body = request(Format::Anthropic, &conversation());
        assert_eq!(body["system"], json!("Be kind."));
        assert!(body["max_tokens"].is_u64());
        let roles: Vec<_> = body["messages"].as_array().unwrap().iter().map(|it| &it["role"]).collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
        let used = json!({"type": "tool_use", "id": "a", "name": "find", "input": {"q": 1}});
        assert_eq!(body["messages"][1]["content"][0], used);
        assert_eq!(body["messages"][2]["content"][1]["tool_use_id"], json!("b"));
        assert_eq!(body["tools"][0]["input_schema"]["type"], json!("object"));
    }

    #[test]
    fn thinking_leaves_room_to_speak() {
        let reasoning = ReasoningConfig { max_tokens: Some(9000), ..ReasoningConfig::default() };
        let thoughtful = LlmRequest { reasoning: Some(reasoning), ..conversation() };
        let body = request(Format::Anthropic, &thoughtful);
        assert_eq!(body["thinking"]["budget_tokens"], json!(9000));
        assert!(body["max_tokens"].as_u64() > Some(9000));
    }
}
