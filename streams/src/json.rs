//! Messages of JSON: kept as they were written, with commas between.

use quixos_runtime::CallError;
use serde_json::value::RawValue;

/// Splits what was sent into messages: the elements of an array, or the one value.
pub(crate) fn messages(body: &[u8]) -> Result<Vec<&RawValue>, CallError> {
    let wrong = |error: serde_json::Error| CallError::invalid("body", format!("not JSON: {error}"));
    let value: &RawValue = serde_json::from_slice(body).map_err(wrong)?;
    if value.get().starts_with('[') {
        return serde_json::from_str(value.get()).map_err(wrong);
    }
    Ok(vec![value])
}

/// Returns messages as they are stored.
pub(crate) fn joined(messages: &[&RawValue]) -> Vec<u8> {
    let texts: Vec<&str> = messages.iter().map(|message| message.get()).collect();
    texts.join(",").into_bytes()
}

/// Returns the first of some stored messages, stored.
pub(crate) fn first(stored: &[u8], count: usize) -> Result<Vec<u8>, CallError> {
    let array = [b"[".as_slice(), stored, b"]"].concat();
    let messages: Vec<&RawValue> = serde_json::from_slice(&array)
        .map_err(|error| CallError::Corrupt { message: format!("stored as messages: {error}") })?;
    Ok(joined(&messages[..count.min(messages.len())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(body: &str) -> (usize, String) {
        let messages = messages(body.as_bytes()).unwrap();
        (messages.len(), String::from_utf8(joined(&messages)).unwrap())
    }

    #[test]
    fn one_level_of_an_array_is_taken_apart() {
        assert_eq!(stored(" {\"a\": 1} "), (1, "{\"a\": 1}".to_owned()));
        assert_eq!(stored("[[1, 2], \"]\", 1e400]"), (3, "[1, 2],\"]\",1e400".to_owned()));
        assert_eq!(stored(" [ ] "), (0, String::new()));
        for wrong in ["", "[1,]", "{", "1 2", "[1] 2", "\u{feff}1"] {
            assert!(messages(wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert!(messages(b"\"\xff\"").is_err());
    }

    #[test]
    fn the_first_messages_are_those_that_were_stored_first() {
        assert_eq!(first(b"[1,2],\",\",3", 2).unwrap(), b"[1,2],\",\"");
        assert_eq!(first(b"1", 7).unwrap(), b"1");
        assert!(first(b"1,,", 1).is_err());
    }
}
