//! Tools: what a model is offered, whether arguments fit, whether a result does.
//!
//! Schemas come from workers and clients, so a schema is bounded, its patterns run in linear time,
//! and it never leads to another document. One that does not compile checks nothing.

use jsonschema::{PatternOptions, Validator};
use quixos_protocol::{AgentConfig, LlmTool, Role, SubAgent, ToolInput};
use quixos_runtime::CallError;
use serde_json::{Value, json};

use crate::messages;
use crate::past::Past;
use crate::stored::{self, StoredCall};

/// The longest schema that is compiled, in bytes of its JSON.
const SCHEMA_BYTES: usize = 256 << 10;
/// How deep a schema may be.
const SCHEMA_DEPTH: usize = 64;
/// How many violations are told.
const VIOLATIONS: usize = 3;

/// What is known of the declaration that a tool call goes by.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Declaration {
    /// The model was offered this tool.
    Declared(LlmTool),
    /// The model was offered tools, and this was none of them.
    Undeclared,
    /// No reply on the path made the call, or the model was offered nothing.
    Unknowable,
}

/// Returns what a model is offered under a config: its tools, then one for each sub-agent.
pub(crate) fn offered(config: &AgentConfig) -> Vec<LlmTool> {
    let tools = config.tools().iter().map(|tool| LlmTool {
        name: tool.name.clone(),
        description: tool.description.clone().unwrap_or_default(),
        input: tool.input.clone(),
        output: tool.output.clone(),
    });
    tools.chain(config.sub_agents().iter().map(delegation)).collect()
}

/// Returns the tool by which a model delegates to a sub-agent.
fn delegation(agent: &SubAgent) -> LlmTool {
    let described = agent.description.clone();
    LlmTool {
        name: agent.id.clone(),
        description: described
            .unwrap_or_else(|| format!("Hands a task to the agent `{}`.", agent.id)),
        input: Some(json!({
            "type": "object",
            "properties": {"message": {"type": "string"}},
            "required": ["message"],
        })),
        output: None,
    }
}

/// Returns the declaration that a tool call goes by: that of the model call whose reply made it,
/// whatever the config says by now.
pub(crate) fn declaration(
    past: &impl Past,
    head: Option<&str>,
    call: &str,
    name: &str,
) -> Result<Declaration, CallError> {
    let Some(reply) = reply_with(past, head, call)? else { return Ok(Declaration::Unknowable) };
    let Some(model_call) = past.ended_call(&reply)? else { return Ok(Declaration::Unknowable) };
    let StoredCall::LlmCall { tools: Some(digest), .. } = stored::call_of(past, &model_call)?
    else {
        return Ok(Declaration::Unknowable);
    };
    let tools = kept_tools(past, &digest)?;
    Ok(match tools.into_iter().find(|tool| tool.name == name) {
        Some(tool) => Declaration::Declared(tool),
        None => Declaration::Undeclared,
    })
}

/// Returns the id of the last reply on the path that made a tool call.
pub(crate) fn reply_with(
    past: &impl Past,
    head: Option<&str>,
    call: &str,
) -> Result<Option<String>, CallError> {
    // As a message that made it has it in its text: no other need be understood.
    let quoted = stored::json_text(&call)?;
    let mut next = head.map(str::to_owned);
    while let Some(id) = next {
        let Some(node) = past.node(&id)? else { break };
        if node.message.contains(&quoted) {
            let message = messages::message(&node)?;
            let made = message.tool_calls.iter().any(|made| made.id == call);
            if message.role == Role::Assistant && made {
                return Ok(Some(id));
            }
        }
        next = node.parent;
    }
    Ok(None)
}

/// Returns the tools that were kept under a digest.
pub(crate) fn kept_tools(past: &impl Past, digest: &str) -> Result<Vec<LlmTool>, CallError> {
    let text = past.text(digest)?.ok_or_else(|| CallError::Corrupt {
        message: format!("the tools {digest} of a model call are not kept"),
    })?;
    stored::read_text(&text, "tools")
}

/// Returns what the raw arguments of a call are under a schema. Nothing is coerced or filled in.
pub(crate) fn input(schema: Option<&Value>, raw: &str) -> ToolInput {
    let raw = if raw.trim().is_empty() { "{}" } else { raw };
    let value: Value = match serde_json::from_str(raw) {
        Ok(value) => value,
        Err(error) => return ToolInput::Malformed { error: error.to_string() },
    };
    if !value.is_object() {
        let error = format!("the arguments must be a JSON object, not {}", kind_of(&value));
        return ToolInput::Malformed { error };
    }
    match violations(schema, &value) {
        Some(error) => ToolInput::Invalid { value, error },
        None => ToolInput::Valid { value },
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Returns how the result of a tool call breaks the schema that was declared for it, if it does.
///
/// A string passes as itself or as the JSON that it may be, since a tool that is declared to return
/// a string may return "42".
pub(crate) fn check_output(
    past: &impl Past,
    head: Option<&str>,
    call: &str,
    name: &str,
    result: &Value,
) -> Result<Option<String>, CallError> {
    let Declaration::Declared(LlmTool { output: Some(schema), .. }) =
        declaration(past, head, call, name)?
    else {
        return Ok(None);
    };
    Ok(output_violations(&schema, result)
        .map(|found| format!("the result breaks the declared output schema: {found}")))
}

fn output_violations(schema: &Value, result: &Value) -> Option<String> {
    let found = violations(Some(schema), result)?;
    let parsed = result.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let passes = parsed.is_some_and(|value| violations(Some(schema), &value).is_none());
    (!passes).then_some(found)
}

/// Returns the first violations of a schema, each with its place.
fn violations(schema: Option<&Value>, value: &Value) -> Option<String> {
    let validator = compile(schema?)?;
    let found: Vec<String> = validator
        .iter_errors(value)
        .take(VIOLATIONS)
        .map(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "/" } else { &place };
            format!("{place}: {error}")
        })
        .collect();
    (!found.is_empty()).then(|| found.join("; "))
}

fn compile(schema: &Value) -> Option<Validator> {
    let is_small = depth(schema) <= SCHEMA_DEPTH && schema.to_string().len() <= SCHEMA_BYTES;
    if !is_small {
        return None;
    }
    jsonschema::options().with_pattern_options(PatternOptions::regex()).build(schema).ok()
}

/// Returns how deep a value is. Parsing has bounded it already.
fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(fields) => fields.values().map(depth).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    inner.unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        })
    }

    #[test]
    fn takes_blank_arguments_for_an_empty_object() {
        for raw in ["", "  ", "{}"] {
            assert_eq!(input(None, raw), ToolInput::Valid { value: json!({}) });
        }
    }

    #[test]
    fn tells_what_is_no_object_from_what_does_not_fit() {
        assert!(matches!(input(None, r#"{"a":"#), ToolInput::Malformed { .. }));
        let ToolInput::Malformed { error } = input(None, "[1]") else { panic!("an array fits") };
        assert!(error.contains("an array"), "{error}");
        let raw = r#"{"days":"two"}"#;
        let ToolInput::Invalid { value, error } = input(Some(&schema()), raw) else {
            panic!("what breaks the schema fits")
        };
        assert_eq!(value, json!({"days": "two"}));
        assert!(error.contains("/days") && error.contains("; "), "{error}");
    }

    #[test]
    fn tells_three_violations_at_most() {
        let schema = json!({"additionalProperties": {"type": "null"}});
        let raw = r#"{"a":1,"b":2,"c":3,"d":4}"#;
        let ToolInput::Invalid { error, .. } = input(Some(&schema), raw) else {
            panic!("what breaks the schema fits")
        };
        assert_eq!(error.matches("; ").count(), 2, "{error}");
    }

    #[test]
    fn checks_nothing_by_a_schema_that_is_none() {
        let elsewhere = json!({"$ref": "https://example.org/schema.json"});
        for schema in [json!({"type": "nonsense"}), elsewhere, json!(12)] {
            assert_eq!(input(Some(&schema), "{}"), ToolInput::Valid { value: json!({}) });
        }
    }

    #[test]
    fn takes_a_string_as_itself_or_as_the_json_that_it_is() {
        let text = json!({"type": "string"});
        assert_eq!(output_violations(&text, &json!("42")), None);
        let number = json!({"type": "integer"});
        assert_eq!(output_violations(&number, &json!("42")), None);
        assert!(output_violations(&number, &json!("many")).is_some());
        assert!(output_violations(&number, &json!({"n": 1})).is_some());
    }
}
