//! What can become of a question, and what it may be answered with.

use quixos_runtime::{CallError, Fence};

use crate::agent_runtime::QuestionData;
use crate::json;

/// The words for what has become of a question. One that has expired stays `open`: time alone
/// writes nothing.
pub(crate) const OPEN: &str = "open";
/// It was answered in time.
pub(crate) const ANSWERED: &str = "answered";
/// It was taken back.
pub(crate) const CANCELLED: &str = "cancelled";

/// Says whether an answer is one of the options of a question; without options, any is.
pub(crate) fn allows(question: &QuestionData, answer: &str) -> Result<bool, CallError> {
    let options = options(question)?;
    Ok(options.is_empty() || options.iter().any(|option| option == answer))
}

/// Reads the options of a question.
pub(crate) fn options(question: &QuestionData) -> Result<Vec<String>, CallError> {
    json::strings("options", &question.options)
        .map_err(|error| CallError::Corrupt { message: format!("stored options: {error}") })
}

/// Returns the fence under which a question was asked.
pub(crate) fn fence(question: &QuestionData) -> Fence {
    Fence { attempt: question.attempt.clone(), generation: question.generation }
}
