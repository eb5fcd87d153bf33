//! The protocols as JSON Schema, for workers and clients that are not written in Rust.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::agent::{AgentEvent, AgentRequest};
use crate::config::AgentConfig;
use crate::decision::{DecisionRequest, DecisionResponse};
use crate::frame::DecisionError;
use crate::input::ClientInput;
use crate::llm::{LlmRequest, LlmResponse, StreamDelta};

/// Returns one document (draft 2020-12) with every type in `$defs`.
///
/// What stands on its own on the wire: `DecisionRequest`, `WorkerAnswer`, `ClientInput`,
/// `AgentConfig`, `LlmRequest`, `LlmResponse`, `StreamDelta`, `DecisionError`. The document as a
/// whole describes a `DecisionRequest`, for tools that want a root.
pub fn document() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<DecisionRequest>();
    let response = generator.subschema_for::<DecisionResponse>();
    generator.subschema_for::<ClientInput>();
    generator.subschema_for::<AgentConfig>();
    generator.subschema_for::<LlmRequest>();
    generator.subschema_for::<LlmResponse>();
    generator.subschema_for::<StreamDelta>();
    generator.subschema_for::<DecisionError>();
    let mut types = generator.take_definitions(true);
    types.insert(
        "WorkerAnswer".to_owned(),
        json!({
            "anyOf": [response, { "type": "null" }],
            "description": "What a worker sends back, as a body or as the last frame of a stream.",
        }),
    );
    of_types("Decision protocol", "DecisionRequest", types)
}

/// Returns the agent event protocol as one document (draft 2020-12), which as a whole describes an
/// `AgentEvent`. The other type that stands on its own is `AgentRequest`.
pub fn agent_document() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<AgentRequest>();
    generator.subschema_for::<AgentEvent>();
    let types = generator.take_definitions(true);
    of_types("Agent event protocol", "AgentEvent", types)
}

fn of_types(title: &str, root: &str, mut types: Map<String, Value>) -> Value {
    types.values_mut().for_each(unwrap_descriptions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "$ref": format!("#/$defs/{root}"),
        "$defs": types,
    })
}

/// Takes out of descriptions the line breaks that only the width of our source put there.
fn unwrap_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get_mut("description") {
                let paragraphs: Vec<_> =
                    text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
                *text = paragraphs.join("\n\n");
            }
            fields.values_mut().for_each(unwrap_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(unwrap_descriptions),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
