//! What a request is run with, frozen when it is admitted.
//!
//! Canonical JSON (RFC 8785), so that equal configurations are equal texts with equal digests.

use quixos_runtime::CallError;
use serde::Serialize;
use serde_json::Value;

use crate::json;

/// What an admitted request is run with. `settings` are those that the agent had, as written:
/// without defaults, which belong to whoever reads them.
#[derive(Serialize)]
pub(crate) struct Configuration<'a> {
    /// The canonical reference of the agent. Its name may change and need not be unique.
    pub(crate) agent: String,
    /// The agent's instructions.
    pub(crate) instructions: &'a str,
    /// The profile that was asked for.
    pub(crate) profile: Option<&'a str>,
    /// The agent's settings.
    pub(crate) settings: Value,
}

impl Configuration<'_> {
    /// Returns the canonical text.
    pub(crate) fn text(&self) -> Result<String, CallError> {
        serde_json_canonicalizer::to_string(self)
            .map_err(|error| CallError::Corrupt { message: format!("stored settings: {error}") })
    }
}

/// Returns the digest of a configuration: BLAKE3, in hex.
pub(crate) fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Returns the profile that a configuration names. That of a repair is whatever was written
/// elsewhere, and may name none.
pub(crate) fn profile(text: &str) -> Option<String> {
    let configuration = json::parse("configuration", text).ok()?;
    configuration.get("profile")?.as_str().map(str::to_owned)
}
