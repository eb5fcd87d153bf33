//! The settings of an agent: a JSON object of known keys, each of which may be absent.
//!
//! What is checked on the way in is stored as it was written, and read here again wherever it
//! counts. A key that nobody knows is refused, since a misspelled limit would be no limit. What is
//! under `session` is for whoever runs sessions; here it is an object and no more.

use quixos_runtime::CallError;
use serde_json::{Map, Value};

use crate::json;

/// What the settings of an agent come to, defaults filled in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    /// How much may be pending.
    pub(crate) limits: Limits,
    /// Whether the end of a request is told on the agent's stream.
    pub(crate) notify_completions: bool,
}

/// How much may be pending in the directory when a request for this agent is admitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    /// Requests of any kind.
    pub(crate) max_pending: u32,
    /// Requests that are not interactive, for one that is not.
    pub(crate) max_ordinary_pending: u32,
    /// Requests that are not interactive, for optional work.
    pub(crate) max_optional_pending: u32,
    /// How many requests may have led to one.
    pub(crate) max_causal_depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_pending: 1024,
            max_ordinary_pending: 768,
            max_optional_pending: 256,
            max_causal_depth: 8,
        }
    }
}

impl Settings {
    /// Reads settings from the field `settings` of an input.
    pub(crate) fn parse(text: &str) -> Result<Self, CallError> {
        let mut keys = Keys::of("settings", json::parse("settings", text)?)?;
        let settings = Self {
            limits: keys.take("limits").map_or(Ok(Limits::default()), Limits::read)?,
            notify_completions: keys.take("notifyCompletions").map_or(Ok(true), boolean)?,
        };
        keys.take("session").map_or(Ok(()), object)?;
        keys.end()?;
        Ok(settings)
    }

    /// Reads settings that were checked when they were stored.
    pub(crate) fn stored(text: &str) -> Result<Self, CallError> {
        Self::parse(text)
            .map_err(|error| CallError::Corrupt { message: format!("stored settings: {error}") })
    }
}

impl Limits {
    fn read((path, value): (String, Value)) -> Result<Self, CallError> {
        let mut keys = Keys::of(&path, value)?;
        let mut limit = |name, default| keys.take(name).map_or(Ok(default), number);
        let default = Self::default();
        let limits = Self {
            max_pending: limit("maxPending", default.max_pending)?,
            max_ordinary_pending: limit("maxOrdinaryPending", default.max_ordinary_pending)?,
            max_optional_pending: limit("maxOptionalPending", default.max_optional_pending)?,
            max_causal_depth: limit("maxCausalDepth", default.max_causal_depth)?,
        };
        keys.end()?;
        Ok(limits)
    }
}

fn number((path, value): (String, Value)) -> Result<u32, CallError> {
    value
        .as_u64()
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| json::wrong(&path, "a whole number from 0 to 4294967295", &value))
}

fn boolean((path, value): (String, Value)) -> Result<bool, CallError> {
    value.as_bool().ok_or_else(|| json::wrong(&path, "`true` or `false`", &value))
}

fn object((path, value): (String, Value)) -> Result<(), CallError> {
    if value.is_object() { Ok(()) } else { Err(json::wrong(&path, "a JSON object", &value)) }
}

/// The keys of an object that were not yet asked for; those that remain are unknown.
struct Keys {
    path: String,
    object: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Keys {
    fn of(path: &str, value: Value) -> Result<Self, CallError> {
        if let Value::Object(object) = value {
            Ok(Self { path: path.to_owned(), object, known: Vec::new() })
        } else {
            Err(json::wrong(path, "a JSON object", &value))
        }
    }

    fn take(&mut self, name: &'static str) -> Option<(String, Value)> {
        self.known.push(name);
        self.object.remove(name).map(|value| (format!("{}.{name}", self.path), value))
    }

    fn end(self) -> Result<(), CallError> {
        match self.object.keys().next() {
            None => Ok(()),
            Some(name) => Err(CallError::invalid(
                format!("{}.{name}", self.path),
                format!("is not known here; what is: `{}`", self.known.join("`, `")),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> String {
        let error = Settings::parse(text).unwrap_err();
        if let CallError::Invalid { path, .. } = error { path } else { error.code().to_owned() }
    }

    #[test]
    fn what_is_absent_has_its_default() {
        let settings = Settings::parse(r#"{"limits":{"maxPending":3}}"#).unwrap();
        assert_eq!(settings.limits, Limits { max_pending: 3, ..Limits::default() });
        assert!(settings.notify_completions);
        assert!(!Settings::parse(r#"{"notifyCompletions":false}"#).unwrap().notify_completions);
    }

    #[test]
    fn what_sessions_are_told_is_theirs() {
        let told = Settings::parse(r#"{"session":{"agent":{"model":"m"},"anything":1}}"#).unwrap();
        assert_eq!(told, Settings::parse("{}").unwrap());
    }

    #[test]
    fn a_key_that_nobody_knows_is_answered_with_those_that_are_known() {
        let error = Settings::parse(r#"{"limit":{}}"#).unwrap_err().to_string();
        assert!(error.contains("`limits`, `notifyCompletions`, `session`"), "{error}");
    }

    #[test]
    fn a_fault_is_named_by_its_path() {
        for (text, at) in [
            ("", "settings"),
            ("[]", "settings"),
            ("{} {}", "settings"),
            (r#"{"limits":{},"limits":{}}"#, "settings"),
            (r#"{"limit":{}}"#, "settings.limit"),
            (r#"{"limits":[]}"#, "settings.limits"),
            (r#"{"limits":{"maxPendings":1}}"#, "settings.limits.maxPendings"),
            (r#"{"limits":{"maxPending":"1"}}"#, "settings.limits.maxPending"),
            (r#"{"limits":{"maxOrdinaryPending":-1}}"#, "settings.limits.maxOrdinaryPending"),
            (r#"{"limits":{"maxOptionalPending":1.0}}"#, "settings.limits.maxOptionalPending"),
            (r#"{"limits":{"maxCausalDepth":4294967296}}"#, "settings.limits.maxCausalDepth"),
            (r#"{"notifyCompletions":null}"#, "settings.notifyCompletions"),
            (r#"{"session":[]}"#, "settings.session"),
        ] {
            assert_eq!(path(text), at, "{text}");
        }
    }
}
