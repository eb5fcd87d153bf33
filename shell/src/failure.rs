//! Why a command did not do what it should: code, message, where, what to do.

use std::io;
use std::ops::Range;
use std::path::Path;

use quixos_runtime::CallError;
use serde_json::{Map, Value, json};

use crate::exit::Exit;

/// Why a command ends early.
#[derive(Debug)]
pub struct Failure {
    /// What the process ends with.
    pub exit: Exit,
    /// What happened: lowercase, no full stop.
    pub message: String,
    /// Where it was written, if it was.
    pub origin: Option<Box<Origin>>,
    /// What to do.
    pub help: Option<String>,
    /// Nothing is left to say: the reader went away, or all was said.
    pub quiet: bool,
}

/// A place in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What the script is called.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The bytes that matter.
    pub span: Range<usize>,
    /// What they are.
    pub label: Option<String>,
}

impl Origin {
    /// Returns the line and the column, from 1.
    #[must_use]
    pub fn line_and_column(&self) -> (usize, usize) {
        let before = &self.text[..self.span.start.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        (line, column)
    }
}

impl Failure {
    /// Says what happened.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), origin: None, help: None, quiet: false }
    }

    /// The command line or a script asks for what cannot be.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// A file could not be read or written.
    #[must_use]
    pub fn io(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(Exit::Io, format!("cannot {what} `{}`: {error}", path.display()))
    }

    /// All has been said; only the code is left.
    #[must_use]
    pub fn said(exit: Exit) -> Self {
        Self { quiet: true, ..Self::new(exit, "") }
    }

    /// The same, with advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same, with a place, unless it has one.
    #[must_use]
    pub fn at(mut self, origin: Origin) -> Self {
        self.origin.get_or_insert_with(|| Box::new(origin));
        self
    }

    /// Returns the form for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut error = Map::new();
        error.insert("code".to_owned(), json!(self.exit.code()));
        error.insert("exit".to_owned(), json!(self.exit.number()));
        error.insert("message".to_owned(), json!(self.message));
        if let Some(origin) = &self.origin {
            let (line, column) = origin.line_and_column();
            error.insert("script".to_owned(), json!(origin.name));
            error.insert("line".to_owned(), json!(line));
            error.insert("column".to_owned(), json!(column));
        }
        if let Some(help) = &self.help {
            error.insert("help".to_owned(), json!(help));
        }
        json!({ "error": error })
    }
}

impl From<io::Error> for Failure {
    /// An error of writing an answer. A reader that went away is no reason to complain.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::said(Exit::Good)
        } else {
            Self::new(Exit::Io, format!("cannot write the answer: {error}"))
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let help = advice(&error);
        let message = match &error {
            CallError::Invalid { path, message } => format!("`{path}`: {message}"),
            CallError::Refused { reason } => reason.clone(),
            CallError::Conflict { message }
            | CallError::Busy { message }
            | CallError::Limit { message }
            | CallError::Unavailable { message }
            | CallError::Storage { message }
            | CallError::Corrupt { message } => message.clone(),
            CallError::NotFound { what } => what.clone(),
            CallError::StaleFence { given, held } => {
                format!("the fence {given} is not the one that is held, {held}")
            }
            CallError::StaleVersion { given, stored } => {
                format!("version {given} is not above the stored one, {stored}")
            }
            CallError::Capability(denied) => denied.to_string(),
        };
        Self { help, ..Self::new(Exit::of_call(&error), message) }
    }
}

/// What to do about a failed call; nothing where the message says it all.
fn advice(error: &CallError) -> Option<String> {
    let advice = match error {
        CallError::Refused { reason } => {
            return Some(format!("`explain {reason}` says when this is refused"));
        }
        CallError::StaleFence { .. } => {
            "another attempt took the request over, or it ended; `explain` it"
        }
        CallError::StaleVersion { .. } => "read what is stored, and write a higher version",
        CallError::Busy { .. } | CallError::Unavailable { .. } => "try again later",
        CallError::Storage { .. } => {
            "nothing of this call was kept; see that the disk has room and is writable"
        }
        CallError::Corrupt { .. } => {
            "`quixos verify` lists what is wrong; an export can be imported anew"
        }
        CallError::Invalid { .. }
        | CallError::Conflict { .. }
        | CallError::NotFound { .. }
        | CallError::Capability(_)
        | CallError::Limit { .. } => return None,
    };
    Some(advice.to_owned())
}
