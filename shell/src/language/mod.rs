//! The language of `quixos shell`: text in, commands out.
//!
//! A command is one line, unless brackets are open; `;` ends one too, `#` begins a comment.
//! Values are JSON in which `$name` stands for a variable, a reference may stand bare, a key
//! needs no quotes, and `'…'` is a string without escapes. Nothing here knows a store or a
//! definition, so that a script is known to be well formed before anything in it runs.
//!
//! Start at [`parse`]. What each command does: `crate::verb`.

mod command;
mod fault;
mod manual;
mod parser;
mod template;
mod token;

pub(crate) use command::{
    Call, Command, Deed, Explained, Flags, Named, Sessions, Speech, Subject, Verb,
};
pub(crate) use fault::Fault;
pub(crate) use manual::{MANUAL, Page, group, page};
pub(crate) use parser::parse;
pub(crate) use template::{Place, Template, TemplateKind, Variables};
pub(crate) use token::{Base, Path, Segment, Token, TokenKind, tokens};
