//! A model that says what a script says: for demos, and for tests of what is built around a model.
//!
//! It uses no network and no chance. What it replies depends on the prompt and on the attempt alone,
//! so that a call that is made again says the same again.
//!
//! A [`Script`] is JSON (or anything else that serde reads). The first line that fits replies:
//!
//! ```json
//! {"lines": [
//!   {"when": {"says": "weather"}, "call": [{"tool": "weather", "arguments": {"city": "Oslo"}}]},
//!   {"when": {"answered": "weather"}, "say": "I looked it up: {message}."},
//!   {"when": {"says": "flaky"}, "fail": {"times": 2, "error": "overloaded"}, "say": "At last."},
//!   {"say": "Ask me for the weather."}
//! ]}
//! ```
//!
//! A line fits if all that its `when` says holds; without a `when` it always fits. In `say`,
//! `think` and the texts of `arguments`, `{message}` stands for the last message. To delegate is to
//! call the tool that has the sub-agent's name.

mod demo;
mod script;

use std::time::Duration;

use async_trait::async_trait;
use quixos_protocol::{
    DraftMessage, ErrorCode, LlmRequest, LlmResponse, StreamDelta, ToolCall, ToolCallDelta,
};
use serde_json::json;

pub use script::{Call, Fail, Line, Script, When};

use self::script::filled;
use super::{Provider, ProviderError};
use crate::live::Sink;

/// A model that says what a script says.
#[derive(Clone, Debug)]
pub struct Scripted {
    script: Script,
}

impl Scripted {
    /// Returns a model with a script.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self { script }
    }

    /// Returns the reply of a line, and how it is called.
    fn reply(line: &Line, request: &LlmRequest, message: &str) -> LlmResponse {
        let content = line.say.as_deref().map(|text| filled(text, message));
        let made = request.messages.iter().map(|message| message.tool_calls.len()).sum::<usize>();
        let tool_calls: Vec<_> = (made + 1..)
            .zip(&line.call)
            .map(|(number, call)| {
                let arguments = script::filled_value(&call.arguments, message).to_string();
                ToolCall::function(format!("call_{number}"), &call.tool, arguments)
            })
            .collect();
        let read: usize = request.messages.iter().map(|message| words(&text_of(message))).sum();
        let written = words(content.as_deref().unwrap_or_default()) + tool_calls.len();
        let reason = if tool_calls.is_empty() { "stop" } else { "tool_calls" };
        LlmResponse {
            model: request.model.clone(),
            content,
            tool_calls,
            finish_reason: Some(line.finish_reason.as_deref().unwrap_or(reason).to_owned()),
            usage: Some(json!({"prompt_tokens": read, "completion_tokens": written})),
            cost: None,
            images: Vec::new(),
        }
    }

    /// Says the first words of a reply.
    async fn break_off(
        &self,
        line: &Line,
        reply: &LlmResponse,
        message: &str,
        words: usize,
        sink: &Sink,
    ) {
        for delta in said(line, reply, message).into_iter().take(words) {
            self.say(delta, sink).await;
        }
    }

    /// Says a reply as a model does, a word at a time.
    async fn speak(&self, line: &Line, reply: &LlmResponse, message: &str, sink: &Sink) {
        for delta in said(line, reply, message) {
            self.say(delta, sink).await;
        }
        for call in &reply.tool_calls {
            let delta = ToolCallDelta {
                id: call.id.clone(),
                name: Some(call.function.name.clone()),
                arguments: Some(call.function.arguments.clone()),
            };
            self.say(StreamDelta { tool_calls: vec![delta], ..StreamDelta::default() }, sink).await;
        }
        let finish_reason = reply.finish_reason.clone();
        sink.delta(StreamDelta { finish_reason, ..StreamDelta::default() });
    }

    async fn say(&self, delta: StreamDelta, sink: &Sink) {
        tokio::time::sleep(Duration::from_millis(self.script.pace_ms)).await;
        sink.delta(delta);
    }
}

#[async_trait]
impl Provider for Scripted {
    async fn complete(
        &self,
        request: &LlmRequest,
        stream: bool,
        sink: &Sink,
    ) -> Result<LlmResponse, ProviderError> {
        sink.alive();
        let message = request.messages.last().map(text_of).unwrap_or_default();
        let line =
            self.script.line(request).ok_or_else(|| failed("the script has no line", None))?;
        let reply = Self::reply(line, request, &message);
        if let Some(fail) = line.fail.as_ref().filter(|fail| fail.times >= sink.attempt()) {
            if stream {
                self.break_off(line, &reply, &message, fail.after_words, sink).await;
            }
            return Err(failed(&fail.error, Some(fail)));
        }
        if stream {
            self.speak(line, &reply, &message, sink).await;
        }
        Ok(reply)
    }
}

/// Returns what is thought and said, a word each.
fn said(line: &Line, reply: &LlmResponse, message: &str) -> Vec<StreamDelta> {
    let thought = line.think.as_deref().map(|text| filled(text, message)).unwrap_or_default();
    let words = |text: &str| pieces(text).map(str::to_owned).collect::<Vec<_>>();
    let thought = words(&thought)
        .into_iter()
        .map(|word| StreamDelta { reasoning: Some(word), ..StreamDelta::default() });
    let text = words(reply.content.as_deref().unwrap_or_default()).into_iter();
    let text = text.map(|word| StreamDelta { text: Some(word), ..StreamDelta::default() });
    thought.chain(text).collect()
}

fn failed(message: &str, fail: Option<&Fail>) -> ProviderError {
    ProviderError {
        message: message.to_owned(),
        code: fail.and_then(|fail| fail.code).unwrap_or(ErrorCode::ProviderError),
        retryable: fail.is_some_and(|fail| fail.retryable),
        retry_after: fail.and_then(|fail| fail.retry_after),
        detail: None,
    }
}

/// Returns the text of a message.
fn text_of(message: &DraftMessage) -> String {
    message.content.as_ref().map(|content| content.text().into_owned()).unwrap_or_default()
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Returns the words of a text, each with the space behind it, so that together they are the text.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}
