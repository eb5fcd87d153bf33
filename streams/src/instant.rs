//! Instants as streams keep them: RFC 3339 in UTC.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use quixos_runtime::CallError;

/// Prints an instant.
pub(crate) fn text(instant: DateTime<Utc>) -> String {
    instant.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Reads an instant that is stored.
pub(crate) fn stored(text: &str) -> Result<DateTime<Utc>, CallError> {
    read(text)
        .ok_or_else(|| CallError::Corrupt { message: format!("`{text}` is stored as an instant") })
}

/// Reads an instant that was given, in whichever zone.
pub(crate) fn given(path: &str, text: &str) -> Result<DateTime<Utc>, CallError> {
    read(text).ok_or_else(|| CallError::invalid(path, "an instant is written as RFC 3339 says"))
}

fn read(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|instant| instant.to_utc())
}

/// Returns the instant some milliseconds later, if there is one.
pub(crate) fn after(instant: DateTime<Utc>, millis: u64) -> Option<DateTime<Utc>> {
    let delta = i64::try_from(millis).ok().and_then(TimeDelta::try_milliseconds)?;
    instant.checked_add_signed(delta)
}
