//! What a script is, and which of its lines fits.

use quixos_protocol::{ErrorCode, LlmRequest, Role};
use serde::Deserialize;
use serde_json::Value;

use super::text_of;

/// What a scripted model replies.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The lines. The first that fits replies; none that fits is a failure.
    pub lines: Vec<Line>,
    /// Milliseconds before each word of a reply that is streamed. Default: none.
    #[serde(default)]
    pub pace_ms: u64,
}

/// One reply, and what it replies to.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Line {
    /// What it replies to. Default: anything.
    pub when: When,
    /// How it fails first.
    pub fail: Option<Fail>,
    /// What is thought, which only a stream shows.
    pub think: Option<String>,
    /// What is said.
    pub say: Option<String>,
    /// The tools that are called.
    pub call: Vec<Call>,
    /// Why the reply ends. Default: `tool_calls` if there are some, else `stop`.
    pub finish_reason: Option<String>,
}

/// What a line replies to: all that is said here must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// The user speaks last, and says this among other things, in large or small letters.
    pub says: Option<String>,
    /// This tool, or sub-agent, answered last.
    pub answered: Option<String>,
    /// The last message, whoever speaks, has this in it, in large or small letters.
    pub message: Option<String>,
    /// These tools are offered.
    pub offers: Vec<String>,
    /// This model is asked.
    pub model: Option<String>,
}

/// How a line fails.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fail {
    /// How many attempts fail, counted from the first.
    pub times: u32,
    /// What went wrong.
    #[serde(default = "overloaded")]
    pub error: String,
    /// Its kind. Default: `provider_error`.
    #[serde(default)]
    pub code: Option<ErrorCode>,
    /// Whether another attempt is worth it. Default: yes.
    #[serde(default = "yes")]
    pub retryable: bool,
    /// Seconds to wait before it.
    #[serde(default)]
    pub retry_after: Option<u64>,
    /// Words that a stream says before it breaks off.
    #[serde(default)]
    pub after_words: usize,
}

/// A tool that a line calls.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool, or the sub-agent.
    pub tool: String,
    /// With what. Default: nothing.
    #[serde(default = "nothing")]
    pub arguments: Value,
}

fn overloaded() -> String {
    "the model is overloaded".to_owned()
}

fn yes() -> bool {
    true
}

fn nothing() -> Value {
    Value::Object(serde_json::Map::new())
}

impl Script {
    /// Returns the line that replies to a request.
    pub(super) fn line(&self, request: &LlmRequest) -> Option<&Line> {
        self.lines.iter().find(|line| line.when.fits(request))
    }
}

impl When {
    fn fits(&self, request: &LlmRequest) -> bool {
        let last = request.messages.last();
        let is_by = |role| last.is_some_and(|last| last.role == role);
        let text = last.map(text_of).unwrap_or_default().to_lowercase();
        let has = |wanted: &String| text.contains(&wanted.to_lowercase());
        let answers = |tool: &String| {
            is_by(Role::Tool) && last.is_some_and(|last| last.name.as_ref() == Some(tool))
        };
        let is_offered = |name: &String| request.tools.iter().any(|tool| tool.name == *name);
        self.says.as_ref().is_none_or(|says| is_by(Role::User) && has(says))
            && self.answered.as_ref().is_none_or(answers)
            && self.message.as_ref().is_none_or(has)
            && self.offers.iter().all(is_offered)
            && self.model.as_ref().is_none_or(|model| request.model == *model)
    }
}

/// Returns a text of a script with the last message in its place.
pub(super) fn filled(text: &str, message: &str) -> String {
    text.replace("{message}", message)
}

/// Returns arguments of a script, with the last message in the place of each text that stands for
/// it.
pub(super) fn filled_value(value: &Value, message: &str) -> Value {
    match value {
        Value::String(text) => Value::String(filled(text, message)),
        Value::Array(items) => items.iter().map(|item| filled_value(item, message)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), filled_value(value, message)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
