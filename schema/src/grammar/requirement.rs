//! A line of a `requires` block: one thing that the operation may touch.

use super::{edge, id, type_expr, verbs};
use crate::ast::{Requirement, RequirementKind, Use};
use crate::lexer::TokenKind;
use crate::parser::{Cursor, Level, Parse};

/// The lines of a `requires` block.
pub(super) static REQUIREMENTS: Level = Level {
    entry: "a requirement",
    words: &["state", "edge", "stream", "creation", "interface"],
    mark: None,
    deeper: &[],
    inline: true,
    blocks: false,
};

/// `KIND NAME id "…": …;`
pub(super) fn requirement(cursor: &mut Cursor<'_>) -> Parse<Requirement> {
    let start = cursor.here();
    let word = cursor.word();
    if !word.is_some_and(|word| REQUIREMENTS.words.contains(&word)) {
        return Err(cursor.unexpected_entry(&REQUIREMENTS));
    }
    cursor.bump();
    let name = cursor.name("the name of a requirement")?;
    let id = id(cursor);
    cursor.mark(TokenKind::Colon);
    let kind = match word {
        Some("state") => {
            let ty = type_expr::type_expr(cursor);
            RequirementKind::State { ty, verbs: verbs(cursor, "a verb", "[read, write]")? }
        }
        Some("edge") => {
            let shape = edge::shape(cursor)?;
            RequirementKind::Edge { shape, verbs: verbs(cursor, "a verb", "[resolve]")? }
        }
        Some("stream") => {
            let ty = type_expr::type_expr(cursor);
            RequirementKind::Stream { ty, verbs: verbs(cursor, "a verb", "[append, read]")? }
        }
        Some("creation") => {
            let atom = cursor.name("the name of an atom")?;
            cursor.expect_word("input")?;
            RequirementKind::Creation { atom, input: type_expr::type_expr(cursor) }
        }
        _ => interface(cursor)?,
    };
    cursor.semicolon();
    Ok(Requirement { name, id, kind, place: cursor.since(start) })
}

/// `I<…> using [member.verb, …] from input`
fn interface(cursor: &mut Cursor<'_>) -> Parse<RequirementKind> {
    let interface = type_expr::interface_expr(cursor)?;
    cursor.expect_word("using")?;
    let using = cursor.bracketed([TokenKind::OpenBracket, TokenKind::CloseBracket], used)?;
    cursor.expect_word("from")?;
    let from = cursor.any_word("`input`")?;
    Ok(RequirementKind::Interface { interface, using, from })
}

/// `member.verb`
fn used(cursor: &mut Cursor<'_>) -> Parse<Use> {
    let start = cursor.here();
    let member = cursor.name("`member.verb`")?;
    cursor.expect(TokenKind::Dot)?;
    let verb = cursor.any_word("a verb")?;
    Ok(Use { member, verb, place: cursor.since(start) })
}
