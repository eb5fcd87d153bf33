//! The grammar: one file per construct, each a handful of functions from a cursor to a node.
//!
//! A function takes its construct from the first word to the last mark, and leaves the `;` of
//! the line to the list that the construct stands in. Start at [`file`].

mod atom;
mod edge;
mod import;
mod interface;
mod operation;
mod package;
mod requirement;
mod type_expr;

use crate::ast::{Item, Spanned, Text, Verbs};
use crate::lexer::TokenKind;
use crate::parser::{Cursor, Level, Parse};

/// The items of a file.
static FILE: Level = Level {
    entry: "an item",
    words: &["part", "external", "import", "type", "interface", "atom", "package"],
    mark: None,
    deeper: &[
        "operation",
        "internal",
        "state",
        "edge",
        "stream",
        "inverse",
        "root",
        "implements",
        "creation",
    ],
    inline: false,
    blocks: true,
};

/// Reads a file to its end.
pub(crate) fn file(cursor: &mut Cursor<'_>) -> Vec<Item> {
    cursor.file(&FILE, item)
}

fn item(cursor: &mut Cursor<'_>) -> Parse<Item> {
    match cursor.word() {
        Some("part") => import::part_of(cursor).map(Item::PartOf),
        Some("external") => import::external_atom(cursor).map(Item::ExternalAtom),
        Some("import") => import::import(cursor).map(Item::Import),
        Some("type") => type_expr::alias(cursor).map(Item::TypeAlias),
        Some("interface") => interface::interface(cursor).map(Item::Interface),
        Some("atom") => atom::atom(cursor).map(Item::Atom),
        Some("package") => package::package(cursor).map(Item::Package),
        _ => Err(cursor.unexpected_entry(&FILE)),
    }
}

/// `WORD "…"`. If it is not as it should be, the text is empty and a diagnostic says so: an item
/// without its id is still an item, and what refers to it is not to blame.
fn labelled(cursor: &mut Cursor<'_>, word: &'static str) -> Text {
    let start = cursor.here();
    let empty = Spanned { value: String::new(), place: start };
    if cursor.eat_word(word).is_none() {
        let example = format!("every one has its own: `{word} \"…\"`");
        let _ = cursor.unexpected(&format!("`{word}`"), Some(example));
        return cursor.string("").unwrap_or(empty);
    }
    match cursor.string("text") {
        Ok(text) => text,
        Err(_) => {
            // An id without its quotes.
            if cursor.word().is_some() && !cursor.peek().first_on_line {
                cursor.bump();
            }
            Spanned { value: String::new(), place: cursor.since(start) }
        }
    }
}

/// `id "…"`
fn id(cursor: &mut Cursor<'_>) -> Text {
    labelled(cursor, "id")
}

/// `[word, word]`
fn verbs(cursor: &mut Cursor<'_>, what: &str, example: &str) -> Parse<Verbs> {
    let start = cursor.here();
    if !cursor.at(TokenKind::OpenBracket) {
        return Err(cursor.unexpected("`[`", Some(format!("say which: `{example}`"))));
    }
    let words = cursor
        .bracketed([TokenKind::OpenBracket, TokenKind::CloseBracket], |c| c.any_word(what))?;
    Ok(Verbs { words, place: cursor.since(start) })
}
