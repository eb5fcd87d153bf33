//! What a host says of commands, line by line; in the host they are written, at the shell read.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::exit::Exit;
use crate::failure::{Failure, Origin};
use crate::output::Block;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Frame {
    /// What a command answers.
    Answer {
        /// The value that `--json` prints.
        answer: Value,
        /// What a person is shown, where that is asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// What a shell lays out for a person, where that is asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        blocks: Option<Vec<Block>>,
    },
    /// A variable was set, for a shell that prints by other names than references' own.
    Name {
        /// Its name.
        name: String,
        /// What it holds.
        value: Value,
    },
    /// A command wants to know whether it may.
    Ask {
        /// The question.
        ask: String,
        /// The byte where the command begins; from there it goes on once it is confirmed.
        at: usize,
    },
    /// A command failed.
    Error {
        /// How.
        error: ErrorFrame,
    },
    /// The last line.
    Exit {
        /// What a shell's process would end with.
        exit: u8,
        /// Whether `exit` was said.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        end: bool,
    },
}

/// Why a command failed: what `--json` prints, and the bytes that are to blame.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ErrorFrame {
    code: String,
    exit: u8,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// The first byte, and the one behind the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<(usize, usize)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

impl ErrorFrame {
    pub(super) fn new(failure: &Failure) -> Self {
        let origin = failure.origin.as_deref();
        let place = origin.map(Origin::line_and_column);
        Self {
            code: failure.exit.code().to_owned(),
            exit: failure.exit.number(),
            message: failure.message.clone(),
            help: failure.help.clone(),
            line: place.map(|it| it.0),
            column: place.map(|it| it.1),
            span: origin.map(|it| (it.span.start, it.span.end)),
            label: origin.and_then(|it| it.label.clone()),
        }
    }

    /// Returns the failure of a command of a text that is called `name`.
    pub(super) fn failure(self, name: &str, text: &str) -> Failure {
        // A host of another version may have a code that is not known here.
        let exit = Exit::of_code(&self.code).unwrap_or(Exit::Io);
        let failure = Failure { help: self.help, ..Failure::new(exit, self.message) };
        let is_within = |(start, end): &(usize, usize)| text.get(*start..*end).is_some();
        match self.span.filter(is_within) {
            Some((start, end)) => failure.at(Origin {
                name: name.to_owned(),
                text: text.to_owned(),
                span: start..end,
                label: self.label,
            }),
            None => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn again(frame: &Frame) -> Frame {
        serde_json::from_str(&serde_json::to_string(frame).unwrap()).unwrap()
    }

    #[test]
    fn each_line_is_read_as_what_it_was_written() {
        let answer = Frame::Answer { answer: Value::Null, text: None, blocks: None };
        assert!(matches!(again(&answer), Frame::Answer { answer: Value::Null, .. }));
        let ask = Frame::Ask { ask: "sure?".to_owned(), at: 3 };
        assert!(matches!(again(&ask), Frame::Ask { at: 3, .. }));
        let exit = Frame::Exit { exit: 0, end: true };
        assert!(matches!(again(&exit), Frame::Exit { exit: 0, end: true }));
        let name = Frame::Name { name: "x".to_owned(), value: json!({ "answer": 1 }) };
        assert!(matches!(again(&name), Frame::Name { .. }));
    }

    #[test]
    fn a_failure_keeps_its_code_its_place_and_its_help() {
        let text = "vars\nlist no";
        let failure = Failure::usage("no atom `no`").help("`describe atoms`").at(Origin {
            name: "line".to_owned(),
            text: text.to_owned(),
            span: 10..12,
            label: None,
        });
        let Frame::Error { error } = again(&Frame::Error { error: ErrorFrame::new(&failure) })
        else {
            panic!("it is read as something else")
        };
        let read = error.failure("line", text);
        assert_eq!(
            (read.exit, &read.message, &read.help),
            (failure.exit, &failure.message, &failure.help)
        );
        assert_eq!(read.origin, failure.origin);
        assert_eq!(read.origin.unwrap().line_and_column(), (2, 6));
    }
}
