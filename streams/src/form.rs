//! What the content type of a stream means for what is in it.

/// How the content of a stream is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Messages of JSON (`application/json`).
    Json,
    /// Text (`text/…`).
    Text,
    /// Bytes: everything else.
    Binary,
}

impl Form {
    /// Returns the form of a content type.
    #[must_use]
    pub fn of(content_type: &str) -> Self {
        let essence = essence(content_type);
        if essence == "application/json" {
            Self::Json
        } else if essence.starts_with("text/") {
            Self::Text
        } else {
            Self::Binary
        }
    }
}

/// Returns a content type without its parameters, in small letters.
fn essence(content_type: &str) -> String {
    let (essence, _) = content_type.split_once(';').unwrap_or((content_type, ""));
    essence.trim().to_ascii_lowercase()
}

/// Tells whether two content types say the same. Parameters don't count.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    essence(a) == essence(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_case_nor_parameters_count() {
        assert_eq!(Form::of("Application/JSON; charset=utf-8"), Form::Json);
        assert_eq!(Form::of("TEXT/plain"), Form::Text);
        assert_eq!(Form::of("application/x-ndjson"), Form::Binary);
        assert!(is_same("text/plain;charset=utf-8", "Text/Plain"));
        assert!(!is_same("text/plain", "text/html"));
    }
}
