//! The schema that workers in other languages are written against is the one of these types.

#![allow(clippy::unwrap_used, reason = "tests")]

use expect_test::expect_file;
use quixos_protocol::agent::{AgentEvent, AssistantContentBlock, UserContentBlock};
use quixos_protocol::{Action, ClientInput, ContentPart, ToolInput, Trigger, schema};
use serde_json::{Value, json};

/// `UPDATE_EXPECT=1` rewrites the file; the diff is the review.
#[test]
fn the_schema_in_the_tree_is_the_one_of_the_types() {
    let text = |document: &Value| serde_json::to_string_pretty(document).unwrap() + "\n";
    expect_file!["../schema/decision-protocol.json"].assert_eq(&text(&schema::document()));
    expect_file!["../schema/agent-event-protocol.json"].assert_eq(&text(&schema::agent_document()));
}

#[test]
fn it_is_a_schema_of_its_draft() {
    for document in [schema::document(), schema::agent_document()] {
        jsonschema::meta::validate(&document).unwrap();
        assert_eq!(document["$schema"], json!("https://json-schema.org/draft/2020-12/schema"));
    }
}

#[test]
fn choices_have_the_names_that_the_types_list() {
    for (name, tag, kinds) in [
        ("Action", "type", Action::KINDS),
        ("ClientInput", "type", ClientInput::KINDS),
        ("ContentPart", "type", ContentPart::KINDS),
        ("ToolInput", "status", ToolInput::STATUSES),
        ("Trigger", "type", Trigger::KINDS),
    ] {
        choices(&schema::document(), name, tag, kinds);
    }
    let document = schema::agent_document();
    choices(&document, "AgentEvent", "event", AgentEvent::KINDS);
    choices(&document, "AssistantContentBlock", "type", AssistantContentBlock::KINDS);
    choices(&document, "UserContentBlock", "type", UserContentBlock::KINDS);
}

fn choices(document: &Value, name: &str, tag: &str, kinds: &[&str]) {
    let choices = document["$defs"][name]["oneOf"].as_array().unwrap();
    let seen: Vec<_> =
        choices.iter().map(|choice| choice["properties"][tag]["const"].as_str().unwrap()).collect();
    assert_eq!(seen, kinds, "{name}");
}

#[test]
fn every_type_and_every_field_is_described() {
    all_described(&schema::document());
    all_described(&schema::agent_document());
}

fn all_described(document: &Value) {
    for (name, of_type) in document["$defs"].as_object().unwrap() {
        described(name, of_type);
        for choice in of_type["oneOf"].as_array().into_iter().flatten() {
            described(name, choice);
        }
    }
}

fn described(place: &str, schema: &Value) {
    let text = schema["description"].as_str().unwrap_or_default();
    let is_wrapped = text.replace("\n\n", "").contains('\n');
    assert!(!text.is_empty() && !is_wrapped, "{place} is described by {text:?}");
    for (field, inner) in schema["properties"].as_object().into_iter().flatten() {
        // A constant is described by the choice that it names.
        if inner.get("const").is_none() {
            described(&format!("{place}.{field}"), inner);
        }
    }
}

#[test]
fn a_worker_may_answer_with_null() {
    let mut document = schema::document();
    document["$ref"] = json!("#/$defs/WorkerAnswer");
    let validator = jsonschema::draft202012::new(&document).unwrap();
    assert!(validator.is_valid(&Value::Null));
    assert!(validator.is_valid(&json!({"messages": []})));
    assert!(!validator.is_valid(&json!([])));
}
