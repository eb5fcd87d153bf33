//! Numbers that only count: a step that does not fit is the error `limit`, and nothing wraps.

use quixos_runtime::CallError;

/// Returns the number after `value`; `name` says what it counts.
pub(crate) fn next(name: &str, value: u64) -> Result<u64, CallError> {
    value.checked_add(1).ok_or_else(|| limit(name, "above", value))
}

/// Returns one more than `value`.
pub(crate) fn up(name: &str, value: u32) -> Result<u32, CallError> {
    value.checked_add(1).ok_or_else(|| limit(name, "above", value.into()))
}

/// Returns one less than `value`.
pub(crate) fn down(name: &str, value: u32) -> Result<u32, CallError> {
    value.checked_sub(1).ok_or_else(|| limit(name, "below", value.into()))
}

/// The error of a counter that would go out of its range.
pub(crate) fn limit(name: &str, way: &str, value: u64) -> CallError {
    CallError::Limit { message: format!("`{name}` cannot go {way} {value}") }
}
