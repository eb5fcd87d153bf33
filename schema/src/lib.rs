//! The Quixos definition language: text in, checked [`Definitions`] and [`Diagnostic`]s out.
//!
//! No I/O, no Rust, no store: texts come in by name, values go out. Bad text is never an `Err`
//! and never a panic: every entry point gives a value and all its diagnostics.

pub mod ast;
mod canonical;
mod check;
mod checked;
mod code;
mod definitions;
mod diagnostic;
mod diff;
mod difference;
mod format;
mod grammar;
mod lexer;
mod literal;
mod nearest;
mod parse;
mod parser;
mod position;
mod print;
mod render;
mod report;
mod resolve;
mod source;
mod spelling;
mod suggest;

pub use canonical::{canonical, canonical_package};
pub use checked::{Checked, check};
pub use code::Code;
pub use definitions::*;
pub use diagnostic::{Diagnostic, Severity};
pub use diff::{Change, Concern, Impact, diff, render_changes_json, render_changes_text};
pub use format::format;
pub use lexer::{Lexed, Token, TokenKind, lex};
pub use parse::{Parsed, parse};
pub use render::{render_json, render_text};
pub use source::{Place, Source, SourceId, Sources};
pub use suggest::meant;
