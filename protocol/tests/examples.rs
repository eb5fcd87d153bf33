//! What is in `examples/TYPE/` is that type on the wire, byte for byte: read, written again, and
//! valid by the schema. `KIND~NOTE.json` is one more example of a kind.
//!
//! The examples are written by hand, in the order of fields that the protocol gives, so they hold
//! the types to it, and not the other way round.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use quixos_protocol::agent::{
    AgentEvent, AgentRequest, AssistantContentBlock, EventStage, FinishReason, ResultStatus,
    UserContentBlock,
};
use quixos_protocol::{
    Action, AgentConfig, Call, CallHandler, CallKind, CallStatus, ClientInput, ContentPart,
    DecisionError, DecisionRequest, DecisionResponse, DraftMessage, Effort, ErrorCode, Format,
    Handler, LlmRequest, LlmResponse, Message, MessageTree, Role, StreamDelta, ToolHandler,
    ToolInput, Trigger, parse, parse_value, schema,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Names = &'static [&'static str];
type Check = fn(&str);

/// Every directory of examples: what reads it, and the kinds that must be there.
const TYPES: [(&str, Check, Names); 20] = [
    ("Action", check::<Action>, Action::KINDS),
    ("AgentConfig", check::<AgentConfig>, &["minimal", "full"]),
    ("AgentEvent", check::<AgentEvent>, AgentEvent::KINDS),
    ("AgentRequest", check::<AgentRequest>, &["minimal", "full", "answers"]),
    ("AssistantContentBlock", check::<AssistantContentBlock>, AssistantContentBlock::KINDS),
    ("Call", check::<Call>, &["tool_call", "llm_call", "sub_agent"]),
    ("ClientInput", check::<ClientInput>, ClientInput::KINDS),
    ("ContentPart", check::<ContentPart>, ContentPart::KINDS),
    ("DecisionError", check::<DecisionError>, &[]),
    ("DecisionRequest", check::<DecisionRequest>, &["minimal", "full"]),
    ("DecisionResponse", check::<DecisionResponse>, &["empty", "full"]),
    ("DraftMessage", check::<DraftMessage>, &["minimal", "parts"]),
    ("LlmRequest", check::<LlmRequest>, &["minimal", "full"]),
    ("LlmResponse", check::<LlmResponse>, &["minimal", "full"]),
    ("Message", check::<Message>, &["user", "assistant", "tool"]),
    ("MessageTree", check::<MessageTree>, &["empty"]),
    ("StreamDelta", check::<StreamDelta>, &["full"]),
    ("ToolInput", check::<ToolInput>, ToolInput::STATUSES),
    ("Trigger", check::<Trigger>, Trigger::KINDS),
    ("UserContentBlock", check::<UserContentBlock>, UserContentBlock::KINDS),
];

/// The types of the agent event protocol, which has a document of its own.
const AGENT_TYPES: [&str; 8] = [
    "ActionResult",
    "AgentEvent",
    "AgentRequest",
    "AssistantContentBlock",
    "EventStage",
    "FinishReason",
    "ResultStatus",
    "UserContentBlock",
];

#[test]
fn every_example_is_read_and_written_again_byte_for_byte() {
    for (name, check, kinds) in TYPES {
        let mut seen = BTreeSet::new();
        for path in examples(name) {
            let stem = path.file_stem().unwrap().to_str().unwrap();
            seen.insert(stem.split('~').next().unwrap().to_owned());
            println!("{}", path.display());
            check(&fs::read_to_string(&path).unwrap());
        }
        for kind in kinds {
            assert!(seen.contains(*kind), "examples/{name} has no example of `{kind}`");
        }
    }
    let directories = fs::read_dir(root()).unwrap().count();
    assert_eq!(directories, TYPES.len(), "directories under examples against TYPES");
}

fn check<T: DeserializeOwned + Serialize>(text: &str) {
    let value: T = parse(text.as_bytes(), text.len()).unwrap();
    assert_eq!(serde_json::to_string_pretty(&value).unwrap() + "\n", text);
}

#[test]
fn every_example_is_valid_by_the_schema() {
    for (name, _, _) in TYPES {
        let validator = validator(name);
        for path in examples(name) {
            let value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            if let Err(error) = validator.validate(&value) {
                panic!("{}: {error} at {}", path.display(), error.instance_path());
            }
        }
    }
}

/// One place in an example is taken out, or made something else: the schema and the parser judge
/// alike, and the parser names the place.
#[test]
fn the_schema_and_the_parser_refuse_the_same() {
    disagreements::<Action>("Action");
    disagreements::<AgentEvent>("AgentEvent");
    disagreements::<AgentRequest>("AgentRequest");
    disagreements::<AssistantContentBlock>("AssistantContentBlock");
    disagreements::<ClientInput>("ClientInput");
    disagreements::<DecisionRequest>("DecisionRequest");
    disagreements::<DecisionResponse>("DecisionResponse");
    disagreements::<LlmRequest>("LlmRequest");
    disagreements::<LlmResponse>("LlmResponse");
    disagreements::<StreamDelta>("StreamDelta");
    disagreements::<Trigger>("Trigger");
}

fn disagreements<T: DeserializeOwned + std::fmt::Debug>(name: &str) {
    let validator = validator(name);
    for path in examples(name) {
        let whole: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for place in places(&whole) {
            let mut others = vec![json!(null), json!(-1), json!("?"), json!({}), json!([])];
            // As which serde by itself would read an object, too.
            let fields = whole.pointer(&place).and_then(Value::as_object);
            others.extend(fields.map(|fields| fields.values().cloned().collect()));
            for other in std::iter::once(None).chain(others.into_iter().map(Some)) {
                // The empty decision, as which the parser reads it.
                if place == "/proposed" && other == Some(json!(null)) {
                    continue;
                }
                let mut broken = whole.clone();
                change(&mut broken, &place, other.clone());
                let parsed = parse_value::<T>(broken.clone());
                assert_eq!(
                    validator.is_valid(&broken),
                    parsed.is_ok(),
                    "{} with {other:?} at {place}: {parsed:?}",
                    path.display()
                );
                if let (Err(error), None) = (&parsed, &other) {
                    let (object, field) = place.rsplit_once('/').unwrap();
                    let gap = if object.is_empty() { "" } else { ": " };
                    let at = if object.is_empty() { "" } else { &format!("`{object}`") };
                    let expected = format!("{at}{gap}missing field `{field}`");
                    assert_eq!(error.to_string(), expected, "{}", path.display());
                }
            }
        }
    }
}

/// Returns the JSON pointers of everything in an object, at any depth.
fn places(value: &Value) -> Vec<String> {
    let within = |key: &str, inner: &Value| {
        let mut all = vec![format!("/{key}")];
        all.extend(places(inner).into_iter().map(|place| format!("/{key}{place}")));
        all
    };
    match value {
        Value::Object(fields) => {
            fields.iter().flat_map(|(key, inner)| within(key, inner)).collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, inner)| within(&index.to_string(), inner))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn change(whole: &mut Value, place: &str, other: Option<Value>) {
    let (outer, key) = place.rsplit_once('/').unwrap();
    match (whole.pointer_mut(outer).unwrap(), other) {
        (Value::Object(fields), Some(other)) => *fields.get_mut(key).unwrap() = other,
        (Value::Object(fields), None) => drop(fields.shift_remove(key)),
        (Value::Array(items), Some(other)) => items[key.parse::<usize>().unwrap()] = other,
        (Value::Array(items), None) => drop(items.remove(key.parse().unwrap())),
        (inner, _) => panic!("{inner} has no places"),
    }
}

#[test]
fn every_word_is_read_and_written_again_and_no_other() {
    words::<CallHandler>("CallHandler", &["server", "worker"]);
    words::<CallKind>("CallKind", &["tool_call", "llm_call", "sub_agent"]);
    words::<CallStatus>(
        "CallStatus",
        &["pending", "completed", "failed", "retry_scheduled", "queued"],
    );
    words::<Effort>("Effort", &["xhigh", "high", "medium", "low", "minimal", "none"]);
    words::<ErrorCode>(
        "ErrorCode",
        &["provider_error", "rate_limited", "refused", "budget_exceeded", "deadline_exceeded"],
    );
    words::<EventStage>("EventStage", &["start", "delta", "stop"]);
    words::<FinishReason>("FinishReason", &["stop", "length", "error", "action_required"]);
    words::<Format>("Format", &["openai", "anthropic"]);
    words::<Handler>("Handler", &["server", "worker", "client"]);
    words::<ResultStatus>("ResultStatus", &["success", "error"]);
    words::<Role>("Role", &["system", "user", "assistant", "tool"]);
    words::<ToolHandler>("ToolHandler", &["worker", "client"]);
}

fn words<T: DeserializeOwned + Serialize + std::fmt::Debug>(name: &str, words: &[&str]) {
    let validator = validator(name);
    for word in words {
        let value: T = parse_value(json!(word)).unwrap();
        assert_eq!(serde_json::to_value(&value).unwrap(), json!(word));
        assert!(validator.is_valid(&json!(word)), "{name} has no `{word}` in the schema");
    }
    let listed = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>();
    let expected = match listed.as_slice() {
        [one, other] => format!("{one} or {other}"),
        many => format!("one of {}", many.join(", ")),
    };
    let error = parse_value::<T>(json!("other")).unwrap_err().to_string();
    assert_eq!(error, format!("unknown variant `other`, expected {expected}"));
    assert!(!validator.is_valid(&json!("other")));
}

fn validator(name: &str) -> jsonschema::Validator {
    let is_agents = AGENT_TYPES.contains(&name);
    let mut document = if is_agents { schema::agent_document() } else { schema::document() };
    document["$ref"] = json!(format!("#/$defs/{name}"));
    jsonschema::draft202012::new(&document).unwrap()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn examples(name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(name)).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
