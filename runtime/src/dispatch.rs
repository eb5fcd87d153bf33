//! What generated code needs on the way from bytes to a handler and back.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::CallError;
use crate::object::encoded;

/// Reads a handler's input from its bytes.
///
/// # Errors
/// `invalid`. The runtime has checked the bytes by then, so it takes code that was generated from
/// other definitions.
pub fn decode_input<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CallError> {
    postcard::from_bytes(bytes).map_err(|error| CallError::invalid("$", error.to_string()))
}

/// Makes the bytes of a handler's output.
///
/// # Errors
/// `invalid`, when the value has no form in bytes.
pub fn encode_output<T: Serialize>(output: &T) -> Result<Vec<u8>, CallError> {
    encoded(output)
}
