//! What models say, in each form: as one body, and as a stream.

use quixos_protocol::Format;
use serde_json::{Value, json};

/// What a model says when it calls tools, and when it does not.
pub(crate) const CALLING: &str = "Let me see.";
pub(crate) const SPEAKING: &str = "It is done.";
/// What each reply uses.
pub(crate) const USED: u64 = 7;

/// What a model says: the tools that it calls, or none.
pub(crate) struct Reply<'r> {
    pub(crate) model: &'r str,
    pub(crate) calls: &'r [String],
}

impl Reply<'_> {
    fn text(&self) -> &'static str {
        if self.calls.is_empty() { SPEAKING } else { CALLING }
    }

    /// Returns the text in two pieces.
    fn pieces(&self) -> [&'static str; 2] {
        let (first, rest) = self.text().split_at(self.text().find(' ').unwrap());
        [first, rest]
    }

    fn reason(&self, calling: &'static str, speaking: &'static str) -> &'static str {
        if self.calls.is_empty() { speaking } else { calling }
    }

    fn id(name: &str) -> String {
        format!("call_{name}")
    }

    fn tool_calls(&self) -> Vec<Value> {
        let call = |name: &String| {
            let function = json!({"name": name, "arguments": arguments(name).to_string()});
            json!({"id": Self::id(name), "type": "function", "function": function})
        };
        self.calls.iter().map(call).collect()
    }

    /// Returns the reply as one body; without a form in that of an `LlmResponse`.
    pub(crate) fn body(&self, form: Option<Format>) -> Value {
        let (model, text) = (self.model, self.text());
        let calls = self.tool_calls();
        match form {
            Some(Format::Openai) => {
                let mut message = json!({"role": "assistant", "content": text});
                if !calls.is_empty() {
                    message["tool_calls"] = json!(calls);
                }
                let reason = self.reason("tool_calls", "stop");
                let choice = json!({"index": 0, "message": message, "finish_reason": reason});
                let usage = json!({"total_tokens": USED});
                json!({"model": model, "choices": [choice], "usage": usage})
            }
            Some(Format::Anthropic) => {
                let mut content = vec![json!({"type": "text", "text": text})];
                content.extend(self.calls.iter().map(|name| {
                    json!({"type": "tool_use", "id": Self::id(name), "name": name,
                        "input": arguments(name)})
                }));
                let reason = self.reason("tool_use", "end_turn");
                let usage = json!({"output_tokens": USED});
                json!({"model": model, "type": "message", "role": "assistant", "content": content,
                    "stop_reason": reason, "usage": usage})
            }
            None => {
                let reason = self.reason("tool_calls", "stop");
                let usage = json!({"total_tokens": USED});
                json!({"model": model, "content": text, "tool_calls": calls,
                    "finish_reason": reason, "usage": usage})
            }
        }
    }

    /// Returns the reply as the events of a stream; without a form as `StreamDelta`s.
    pub(crate) fn events(&self, form: Option<Format>) -> Vec<Value> {
        match form {
            Some(Format::Openai) => self.chunks(),
            Some(Format::Anthropic) => self.blocks(),
            None => {
                let texts = self.pieces().map(|text| json!({ "text": text }));
                let calls = self.calls.iter().enumerate().map(|(index, name)| {
                    let (id, arguments) = (Self::id(name), arguments(name).to_string());
                    let call =
                        json!({"index": index, "id": id, "name": name, "arguments": arguments});
                    json!({ "tool_calls": [call] })
                });
                texts.into_iter().chain(calls).collect()
            }
        }
    }

    fn chunks(&self) -> Vec<Value> {
        let model = self.model;
        let chunk = |delta: Value, reason: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
            json!({"model": model, "choices": [choice]})
        };
        let texts = self.pieces().map(|text| chunk(json!({ "content": text }), Value::Null));
        let calls = self.tool_calls().into_iter().enumerate().map(|(index, mut call)| {
            call["index"] = json!(index);
            chunk(json!({ "tool_calls": [call] }), Value::Null)
        });
        let end = chunk(json!({}), json!(self.reason("tool_calls", "stop")));
        let usage = json!({"model": model, "choices": [], "usage": {"total_tokens": USED}});
        texts.into_iter().chain(calls).chain([end, usage]).collect()
    }

    fn blocks(&self) -> Vec<Value> {
        let begun = |index: usize, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
        let grown = |index: usize, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let ended = |index: usize| json!({"type": "content_block_stop", "index": index});
        let message = json!({"type": "message", "role": "assistant", "model": self.model,
            "content": [], "usage": {}});
        let mut events = vec![json!({"type": "message_start", "message": message})];
        events.push(begun(0, json!({"type": "text", "text": ""})));
        let texts = self.pieces().map(|text| grown(0, json!({"type": "text_delta", "text": text})));
        events.extend(texts);
        events.push(ended(0));
        for (index, name) in (1..).zip(self.calls) {
            let block =
                json!({"type": "tool_use", "id": Self::id(name), "name": name, "input": {}});
            let json = arguments(name).to_string();
            let delta = json!({"type": "input_json_delta", "partial_json": json});
            events.extend([begun(index, block), grown(index, delta), ended(index)]);
        }
        let delta = json!({"stop_reason": self.reason("tool_use", "end_turn")});
        let usage = json!({"output_tokens": USED});
        events.push(json!({"type": "message_delta", "delta": delta, "usage": usage}));
        events.push(json!({"type": "message_stop"}));
        events
    }
}

/// Returns what a tool, or a sub-agent, is called with.
fn arguments(name: &str) -> Value {
    json!({"message": format!("for {name}")})
}

/// Returns a frame of a stream of events.
pub(crate) fn frame(event: Option<&str>, data: &Value) -> Vec<u8> {
    let event = event.map(|event| format!("event: {event}\n")).unwrap_or_default();
    format!("{event}data: {data}\n\n").into_bytes()
}
