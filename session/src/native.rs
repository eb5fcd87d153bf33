//! What models reply: the neutral form, the forms of two providers, and the message of any of them.
//!
//! Nothing is looked up here: a body in, a reply or a named fault out.

mod request;

pub use request::request;

use quixos_protocol::{
    Content, ContentPart, DraftMessage, ErrorCode, Format, LlmResponse, MediaUrl, Role, ToolCall,
    parse_value,
};
use serde::Deserialize;
use serde_json::Value;

use crate::usage::Decimal;

/// What is recorded of a reply.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Reply {
    /// The message, under the id of the call.
    pub(crate) message: DraftMessage,
    /// Whether it was cut off for its length.
    pub(crate) truncated: bool,
}

/// Why there is no reply in an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// The model, or a filter before it, refused.
    Refused(String),
    /// The provider said that it failed, or what it said cannot be read.
    Provider(String),
}

impl Fault {
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Refused(_) => ErrorCode::Refused,
            Self::Provider(_) => ErrorCode::ProviderError,
        }
    }

    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Refused(message) | Self::Provider(message) => message,
        }
    }
}

/// The reason of a reply that a filter held back.
const FILTERED: &str = "content_filter";
/// The reason of a reply in which the model refuses.
const REFUSAL: &str = "refusal";
/// The reason of a reply that was cut off.
const LENGTH: &str = "length";
/// What is said of a refusal that gives no reason.
const REFUSED: &str = "the model refused";

/// Reads a neutral reply. The text says what is wrong with one that is none.
pub(crate) fn neutral(body: &Value) -> Result<LlmResponse, String> {
    let reply: LlmResponse = parse_value(body.clone()).map_err(|error| error.to_string())?;
    match &reply.cost {
        Some(cost) if cost.parse::<Decimal>().is_err() => {
            Err(format!("`/cost`: `{cost}` is no amount in dollars"))
        }
        Some(_) | None => Ok(reply),
    }
}

/// Reads the reply of a provider in the provider's own form.
pub(crate) fn read(format: Format, body: &Value) -> Result<LlmResponse, Fault> {
    if let Some(error) = body.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").and_then(Value::as_str);
        let message = message.map_or_else(|| error.to_string(), str::to_owned);
        return Err(Fault::Provider(message));
    }
    match format {
        Format::Openai => openai(body),
        Format::Anthropic => anthropic(body),
    }
}

/// Returns what is recorded of a reply, unless the model refused.
pub(crate) fn recorded(call: &str, reply: LlmResponse) -> Result<Reply, Fault> {
    let reason = reply.finish_reason.as_deref();
    if matches!(reason, Some(FILTERED | REFUSAL)) {
        let text = reply.content.filter(|text| !text.trim().is_empty());
        return Err(Fault::Refused(text.unwrap_or_else(|| REFUSED.to_owned())));
    }
    let truncated = reason == Some(LENGTH);
    let text = reply.content.filter(|text| !text.is_empty());
    let content = if reply.images.is_empty() {
        text.map(Content::Text)
    } else {
        let text = text.map(|text| ContentPart::Text { text });
        let images = reply.images.into_iter().map(|image_url| ContentPart::ImageUrl { image_url });
        Some(Content::Parts(text.into_iter().chain(images).collect()))
    };
    let message = DraftMessage {
        id: Some(call.to_owned()),
        role: Role::Assistant,
        content,
        tool_calls: reply.tool_calls,
        tool_call_id: None,
        name: None,
    };
    Ok(Reply { message, truncated })
}

/// The body of Chat Completions, as far as it is read.
#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    model: String,
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: CompletionMessage,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct CompletionMessage {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<ToolCall>>,
    #[serde(default)]
    images: Option<Vec<CompletionImage>>,
}

#[derive(Deserialize)]
struct CompletionImage {
    image_url: MediaUrl,
}

fn openai(body: &Value) -> Result<LlmResponse, Fault> {
    let completion: Completion = parse(body)?;
    let Some(Choice { message, finish_reason }) = completion.choices.into_iter().next() else {
        return Err(Fault::Provider("the reply has no choice in it".to_owned()));
    };
    if let Some(refusal) = message.refusal.filter(|refusal| !refusal.is_empty()) {
        return Err(Fault::Refused(refusal));
    }
    let images = message.images.unwrap_or_default();
    Ok(LlmResponse {
        model: completion.model,
        content: message.content.map(|content| content.text().into_owned()),
        tool_calls: message.tool_calls.unwrap_or_default(),
        finish_reason,
        usage: completion.usage,
        cost: None,
        images: images.into_iter().map(|image| image.image_url).collect(),
    })
}

/// The body of Messages, as far as it is read.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    model: String,
    content: Vec<Block>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Option<Value>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Value,
    },
    /// Thoughts, and whatever else is no part of a conversation.
    #[serde(other)]
    Other,
}

fn anthropic(body: &Value) -> Result<LlmResponse, Fault> {
    let answer: Answer = parse(body)?;
    let mut text = String::new();
    let mut tool_calls = Vec::new();
    for block in answer.content {
        match block {
            Block::Text { text: more } => text.push_str(&more),
            Block::ToolUse { id, name, input } => {
                tool_calls.push(ToolCall::function(id, name, input.to_string()));
            }
            Block::Other => {}
        }
    }
    Ok(LlmResponse {
        model: answer.model,
        content: (!text.is_empty()).then_some(text),
        tool_calls,
        finish_reason: answer.stop_reason.map(|reason| neutral_reason(&reason).to_owned()),
        usage: answer.usage,
        cost: None,
        images: Vec::new(),
    })
}

/// Returns the neutral word for why Messages ended.
fn neutral_reason(reason: &str) -> &str {
    match reason {
        "end_turn" | "stop_sequence" => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" | "model_context_window_exceeded" => LENGTH,
        other => other,
    }
}

fn parse<T: for<'de> Deserialize<'de>>(body: &Value) -> Result<T, Fault> {
    parse_value(body.clone())
        .map_err(|error| Fault::Provider(format!("the reply cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn openai_choice(message: &Value, reason: &str) -> Result<LlmResponse, Fault> {
        let choice = json!({"message": message, "finish_reason": reason});
        read(Format::Openai, &json!({"model": "m", "choices": [choice], "usage": {"in": 1}}))
    }

    #[test]
    fn chat_completions_come_to_the_neutral_form() {
        let call = json!({"id": "c", "type": "function",
            "function": {"name": "find", "arguments": "{}"}});
        let reply =
            openai_choice(&json!({"content": null, "tool_calls": [call]}), "tool_calls").unwrap();
        assert_eq!(reply.tool_calls, [ToolCall::function("c", "find", "{}")]);
        assert_eq!((reply.content, reply.usage), (None, Some(json!({"in": 1}))));
        let cut = openai_choice(&json!({"content": "so"}), "length").unwrap();
        assert!(recorded("call", cut).unwrap().truncated);
    }

    #[test]
    fn messages_come_to_the_neutral_form() {
        let body = json!({"type": "message", "model": "m", "stop_reason": "tool_use", "content": [
            {"type": "thinking", "thinking": "hm", "signature": ""},
            {"type": "text", "text": "Let me "}, {"type": "text", "text": "see."},
            {"type": "tool_use", "id": "c", "name": "find", "input": {"q": 1}},
        ]});
        let reply = read(Format::Anthropic, &body).unwrap();
        assert_eq!(reply.content.as_deref(), Some("Let me see."));
        assert_eq!(reply.tool_calls, [ToolCall::function("c", "find", r#"{"q":1}"#)]);
        assert_eq!(reply.finish_reason.as_deref(), Some("tool_calls"));
        for (reason, neutral) in
            [("end_turn", "stop"), ("stop_sequence", "stop"), ("max_tokens", "length")]
        {
            assert_eq!(neutral_reason(reason), neutral);
        }
    }

    #[test]
    fn a_refusal_is_a_failure_of_its_own_kind() {
        let refused = |reply| recorded("call", reply).unwrap_err().code();
        let filtered = openai_choice(&json!({"content": ""}), "content_filter").unwrap();
        assert_eq!(refused(filtered), ErrorCode::Refused);
        let said = openai_choice(&json!({"content": null, "refusal": "No."}), "stop");
        assert_eq!(said, Err(Fault::Refused("No.".to_owned())));
        let body = json!({"content": [], "stop_reason": "refusal"});
        assert_eq!(refused(read(Format::Anthropic, &body).unwrap()), ErrorCode::Refused);
    }

    #[test]
    fn an_error_or_nonsense_is_the_providers() {
        for body in [
            json!({"error": {"message": "overloaded"}}),
            json!({"choices": []}),
            json!("nothing"),
            Value::Null,
        ] {
            for format in [Format::Openai, Format::Anthropic] {
                let fault = read(format, &body).unwrap_err();
                assert_eq!(fault.code(), ErrorCode::ProviderError, "{body}");
            }
        }
    }

    #[test]
    fn pictures_come_behind_the_text() {
        let images = vec![MediaUrl { url: "data:,x".to_owned() }];
        let picture = LlmResponse { images, ..LlmResponse::default() };
        let text = Some("See.".to_owned());
        let both = LlmResponse { content: text, ..picture.clone() };
        let parts = |reply| match recorded("call", reply).unwrap().message.content {
            Some(Content::Parts(parts)) => parts.len(),
            Some(Content::Text(_)) | None => 0,
        };
        assert_eq!((parts(both), parts(picture)), (2, 1));
        let empty = recorded("call", LlmResponse::default()).unwrap().message;
        assert_eq!((empty.content, empty.id.as_deref()), (None, Some("call")));
    }

    #[test]
    fn a_cost_that_is_no_amount_is_no_reply() {
        assert!(neutral(&json!({"model": "m", "cost": "0.002"})).is_ok());
        for body in [json!({"model": "m", "cost": "cheap"}), json!({"content": "x"})] {
            assert!(neutral(&body).is_err(), "{body}");
        }
    }
}
