//! The text of one file to its tree.

use crate::ast::File;
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::grammar;
use crate::lexer::lex;
use crate::parser::Cursor;
use crate::source::{Place, SourceId};

/// The largest text that is read: some fifty times the largest package that we know.
const LARGEST: usize = 1 << 20;

/// What was written, and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The file, without the lines that could not be read.
    pub file: File,
    /// Every fault, in the order of the text. If there is one, the file is not whole.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a definition file. Any text will do: the value is what could be read of it.
#[must_use]
pub fn parse(source: SourceId, text: &str) -> Parsed {
    if text.len() > LARGEST {
        let start = Place { source, start: 0, end: 0 };
        let message = format!("this file has {} bytes; {LARGEST} are read at most", text.len());
        let fault = Diagnostic::new(Code::SourceTooLarge, start, message)
            .help("split the package into several files with `part of PACKAGE;`");
        let file = File { source, items: Vec::new(), comments: Vec::new() };
        return Parsed { file, diagnostics: vec![fault] };
    }
    let lexed = lex(source, text);
    let mut cursor = Cursor::new(source, text, &lexed.tokens);
    let items = grammar::file(&mut cursor);
    let mut diagnostics = lexed.diagnostics;
    diagnostics.extend(cursor.finish());
    diagnostics.sort_by_key(|it| (it.place, it.code));
    Parsed { file: File { source, items, comments: lexed.comments }, diagnostics }
}
