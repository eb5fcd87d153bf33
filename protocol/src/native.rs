//! Model calls in the forms that two providers gave them: Chat Completions and Messages.
//!
//! [`request`] writes the neutral form in one of them, [`response`] reads a reply back, and
//! [`Stream`] reads a reply that comes in pieces. All three are pure, and total: whatever a provider
//! sends, there is a reply or a named error.
//!
//! What holds in both directions: a body has nothing in it that is the engine's own (ids of
//! messages, output schemas) and never says whether to stream; a reply keeps only what the neutral
//! form has a place for, its usage as numbers under flat names.

mod anthropic;
mod openai;
mod usage;

use serde_json::{Map, Value, json};

use crate::config::Format;
use crate::llm::{LlmRequest, LlmResponse, LlmTool, StreamDelta};
use crate::message::ContentPart;
use crate::text::text_of;

/// Returns the provider's body of a request, without a word on streaming.
pub fn request(format: Format, request: &LlmRequest) -> Value {
    match format {
        Format::Openai => openai::request::body(request),
        Format::Anthropic => anthropic::request::body(request),
    }
}

/// Reads a provider's reply.
pub fn response(format: Format, body: &Value) -> Result<LlmResponse, NativeError> {
    if let Some(error) = NativeError::said(body) {
        return Err(error);
    }
    match format {
        Format::Openai => openai::response(body),
        Format::Anthropic => anthropic::response(body),
    }
}

/// Why there is no reply in what a provider sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NativeError {
    /// The model, or a filter before it, refused.
    #[error("{0}")]
    Refused(String),
    /// The provider says that it failed.
    #[error("{message}")]
    Failed {
        /// What it says.
        message: String,
        /// Its word for the kind of failure, or its number.
        kind: Option<String>,
    },
    /// What it sent is no reply.
    #[error("the reply cannot be read: {0}")]
    Unreadable(String),
    /// A stream ended before the reply did.
    #[error("the stream ended before the reply did")]
    Cut,
}

impl NativeError {
    /// Returns the error that a body is, if it is one.
    pub fn said(body: &Value) -> Option<Self> {
        let error = body.get("error").filter(|error| !error.is_null())?;
        let message = text_of(error.get("message").unwrap_or(error));
        let kind = ["code", "type"].into_iter().find_map(|key| match error.get(key) {
            Some(Value::String(word)) => Some(word.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(_) | None => None,
        });
        Some(Self::Failed { message, kind })
    }

    /// Returns a refusal, in the model's words if it has any.
    fn refused(text: &str) -> Self {
        let text = text.trim();
        Self::Refused(if text.is_empty() { "the model refused" } else { text }.to_owned())
    }

    fn unreadable(error: &serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// A reply that comes in pieces, put together.
#[derive(Debug)]
pub struct Stream(Pieces);

#[derive(Debug)]
enum Pieces {
    Openai(openai::Pieces),
    Anthropic(anthropic::Pieces),
}

impl Stream {
    /// Returns a stream of which nothing has come.
    pub fn new(format: Format) -> Self {
        Self(match format {
            Format::Openai => Pieces::Openai(openai::Pieces::default()),
            Format::Anthropic => Pieces::Anthropic(anthropic::Pieces::default()),
        })
    }

    /// Takes the data of one event as it came. What is no JSON is passed over, but for the mark that
    /// ends Chat Completions.
    pub fn data(&mut self, data: &[u8]) -> Option<StreamDelta> {
        match (serde_json::from_slice(data), &mut self.0) {
            (Ok(event), _) => self.event(&event),
            (Err(_), Pieces::Openai(pieces)) => {
                pieces.mark(data);
                None
            }
            (Err(_), Pieces::Anthropic(_)) => None,
        }
    }

    /// Takes one event, and returns what the reply grew by, if it did. What cannot be read is
    /// passed over.
    pub fn event(&mut self, event: &Value) -> Option<StreamDelta> {
        let delta = match &mut self.0 {
            Pieces::Openai(pieces) => pieces.event(event),
            Pieces::Anthropic(pieces) => pieces.event(event),
        };
        delta.filter(|delta| *delta != StreamDelta::default())
    }

    /// Says whether nothing more is to come: the reply is whole, or the provider said that it
    /// failed.
    pub fn is_over(&self) -> bool {
        match &self.0 {
            Pieces::Openai(pieces) => pieces.is_over(),
            Pieces::Anthropic(pieces) => pieces.is_over(),
        }
    }

    /// Returns the reply.
    pub fn finish(self) -> Result<LlmResponse, NativeError> {
        match self.0 {
            Pieces::Openai(pieces) => pieces.finish(),
            Pieces::Anthropic(pieces) => pieces.finish(),
        }
    }
}

impl LlmTool {
    /// Returns the schema of the arguments: without one, that of an object that is left empty.
    fn parameters(&self) -> Value {
        self.input.clone().unwrap_or_else(|| json!({"type": "object", "properties": {}}))
    }
}

/// Returns the text that stands for a part where a form has no place for it, so that the model
/// knows of it.
fn left_out(part: &ContentPart) -> String {
    match part {
        ContentPart::Text { text } => text.clone(),
        ContentPart::ImageUrl { .. } => "[a picture that is not shown here]".to_owned(),
        ContentPart::File { file } => format!("[the file {}, not shown here]", file.filename),
        ContentPart::InputAudio { .. } => "[a recording that is not played here]".to_owned(),
        ContentPart::VideoUrl { .. } => "[a film that is not shown here]".to_owned(),
    }
}

/// Puts a field in that is there.
fn put(body: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(name.to_owned(), value.into());
    }
}
