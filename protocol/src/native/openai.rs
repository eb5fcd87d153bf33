//! Chat Completions: replies, whole and in pieces.
//!
//! Many servers speak this form, each a little differently: fields may be missing or `null`,
//! arguments may be an object instead of its text, and pieces of several tool calls may bear the
//! same index. All that is read.

pub(super) mod request;

use serde::Deserialize;
use serde_json::Value;

use super::{NativeError, usage};
use crate::llm::{LlmResponse, StreamDelta, ToolCallDelta};
use crate::message::{MediaUrl, ToolCall};
use crate::text::text_of;

/// The reason of a reply that a filter held back.
const FILTERED: &str = "content_filter";

#[derive(Deserialize)]
struct Completion {
    model: Option<String>,
    choices: Vec<Choice>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

/// A message, or what one grew by.
#[derive(Default, Deserialize)]
struct Said {
    content: Option<Value>,
    /// Two names of the same: what the model thinks.
    reasoning: Option<Value>,
    reasoning_content: Option<Value>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Called>>,
    images: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Called {
    index: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
}

#[derive(Default, Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Picture {
    image_url: MediaUrl,
}

impl Said {
    /// Returns the text, which may come as a list of parts.
    fn text(&self) -> String {
        match &self.content {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => {
                parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
            }
            Some(_) | None => String::new(),
        }
    }

    /// Returns what the model thinks.
    fn thought(&self) -> Option<String> {
        let thought = [&self.reasoning, &self.reasoning_content];
        let thought = thought.into_iter().flatten().find_map(Value::as_str);
        thought.filter(|thought| !thought.is_empty()).map(str::to_owned)
    }

    /// Returns the pictures, which may be among the parts.
    fn pictures(&self) -> Vec<MediaUrl> {
        let parts = self.content.as_ref().and_then(Value::as_array).into_iter().flatten();
        let pictures = parts.chain(self.images.iter().flatten());
        let pictures = pictures.filter_map(|picture| Picture::deserialize(picture).ok());
        pictures.map(|picture| picture.image_url).collect()
    }
}

/// Reads a whole reply.
pub(super) fn response(body: &Value) -> Result<LlmResponse, NativeError> {
    let completion =
        Completion::deserialize(body).map_err(|error| NativeError::unreadable(&error))?;
    let Some(Choice { message, finish_reason }) = completion.choices.into_iter().next() else {
        return Err(NativeError::Unreadable("there is no choice in it".to_owned()));
    };
    let mut pieces = Pieces { usage: completion.usage, ..Pieces::default() };
    pieces.model = completion.model.unwrap_or_default();
    pieces.is_whole = true;
    pieces.grow(&message);
    pieces.finish_reason = finish_reason;
    pieces.finish()
}

/// Returns the neutral word for why a completion ended.
fn neutral_reason(reason: &str) -> &str {
    match reason {
        "function_call" => "tool_calls",
        other => other,
    }
}

/// What has come of a reply.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    model: String,
    text: String,
    refusal: String,
    calls: Vec<Growing>,
    images: Vec<MediaUrl>,
    finish_reason: Option<String>,
    usage: Option<Value>,
    error: Option<NativeError>,
    /// Whether the end was marked.
    is_whole: bool,
}

#[derive(Debug)]
struct Growing {
    index: Option<u64>,
    call: ToolCall,
}

#[derive(Deserialize)]
struct Chunk {
    model: Option<String>,
    choices: Option<Vec<ChunkChoice>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    delta: Option<Said>,
    finish_reason: Option<String>,
}

impl Pieces {
    /// Takes what is no JSON: the mark of the end, or nothing of interest.
    pub(super) fn mark(&mut self, data: &[u8]) {
        self.is_whole |= data.trim_ascii() == b"[DONE]";
    }

    pub(super) fn event(&mut self, event: &Value) -> Option<StreamDelta> {
        if let Some(error) = NativeError::said(event) {
            self.error.get_or_insert(error);
            return None;
        }
        let chunk = Chunk::deserialize(event).ok()?;
        if let Some(model) = chunk.model {
            self.model = model;
        }
        if chunk.usage.as_ref().is_some_and(Value::is_object) {
            self.usage = chunk.usage;
        }
        let choice = chunk.choices?.into_iter().next()?;
        let mut delta = self.grow(&choice.delta.unwrap_or_default());
        if let Some(reason) = choice.finish_reason {
            delta.finish_reason = Some(neutral_reason(&reason).to_owned());
            self.finish_reason = Some(reason);
        }
        Some(delta)
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_whole || self.error.is_some()
    }

    pub(super) fn finish(self) -> Result<LlmResponse, NativeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.is_whole && self.finish_reason.is_none() {
            return Err(NativeError::Cut);
        }
        if !self.refusal.trim().is_empty() {
            return Err(NativeError::refused(&self.refusal));
        }
        if self.finish_reason.as_deref() == Some(FILTERED) {
            return Err(NativeError::refused(&self.text));
        }
        let (usage, cost) = usage::read(self.usage.as_ref());
        Ok(LlmResponse {
            model: self.model,
            content: (!self.text.is_empty()).then_some(self.text),
            tool_calls: self.calls.into_iter().map(|growing| growing.call).collect(),
            finish_reason: self.finish_reason.map(|reason| neutral_reason(&reason).to_owned()),
            usage,
            cost,
            images: self.images,
        })
    }

    fn grow(&mut self, said: &Said) -> StreamDelta {
        let text = said.text();
        self.text.push_str(&text);
        self.refusal.push_str(said.refusal.as_deref().unwrap_or_default());
        self.images.extend(said.pictures());
        let calls = said.tool_calls.iter().flatten();
        StreamDelta {
            text: Some(text).filter(|text| !text.is_empty()),
            reasoning: said.thought(),
            tool_calls: calls.map(|called| self.grow_call(called)).collect(),
            finish_reason: None,
        }
    }

    /// Takes a piece of a tool call. Only the first piece of one names it.
    fn grow_call(&mut self, called: &Called) -> ToolCallDelta {
        let id = called.id.as_deref().filter(|id| !id.is_empty());
        let place = self.place(called.index, id);
        let function = called.function.as_ref();
        let name = function.and_then(|function| function.name.clone());
        let arguments = function.and_then(|function| function.arguments.as_ref()).map(text_of);
        let place = place.unwrap_or_else(|| {
            // One that the provider gave no id still needs one to be answered under.
            let id = id.map_or_else(|| format!("call_{}", self.calls.len()), str::to_owned);
            self.calls.push(Growing { index: called.index, call: ToolCall::function(id, "", "") });
            self.calls.len() - 1
        });
        let call = &mut self.calls[place].call;
        let is_named = !call.function.name.is_empty();
        let name = name.filter(|name| !is_named && !name.is_empty());
        call.function.name.push_str(name.as_deref().unwrap_or_default());
        call.function.arguments.push_str(arguments.as_deref().unwrap_or_default());
        let arguments = arguments.filter(|arguments| !arguments.is_empty());
        ToolCallDelta { id: call.id.clone(), name, arguments }
    }

    /// Returns which call a piece belongs to, if it has begun. An id says more than an index.
    fn place(&self, index: Option<u64>, id: Option<&str>) -> Option<usize> {
        let is_same = |growing: &Growing| match (index, id) {
            (_, Some(id)) => growing.call.id == id,
            (Some(_), None) => growing.index == index,
            (None, None) => true,
        };
        // The calls of a whole reply are not pieces.
        self.calls.iter().rposition(is_same).filter(|_| !self.is_whole)
    }
}
