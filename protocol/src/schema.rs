//! The protocol as JSON Schema, for workers that are not written in Rust.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::agent::AgentConfig;
use crate::decision::{DecisionRequest, DecisionResponse};
use crate::frame::DecisionError;
use crate::input::ClientInput;
use crate::llm::{LlmRequest, LlmResponse, StreamDelta};

/// The types that stand on their own on the wire; each is in `$defs` of [`document`].
pub const TOP_LEVEL: &[&str] = &[
    "DecisionRequest",
    "DecisionResponse",
    "ClientInput",
    "LlmRequest",
    "LlmResponse",
    "StreamDelta",
    "DecisionError",
    "AgentConfig",
];

/// Returns one document (draft 2020-12) with every type in `$defs`.
///
/// The document as a whole describes a decision request, so that a generator which wants a root
/// has one.
pub fn document() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<DecisionRequest>();
    generator.subschema_for::<DecisionResponse>();
    generator.subschema_for::<ClientInput>();
    generator.subschema_for::<LlmRequest>();
    generator.subschema_for::<LlmResponse>();
    generator.subschema_for::<StreamDelta>();
    generator.subschema_for::<DecisionError>();
    generator.subschema_for::<AgentConfig>();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Decision protocol",
        "$ref": "#/$defs/DecisionRequest",
        "$defs": generator.take_definitions(true),
    })
}
