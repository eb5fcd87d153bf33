//! `interface NAME<T> id "…" { members }`

use super::{edge, id, type_expr, verbs};
use crate::ast::{Interface, Member, MemberKind};
use crate::lexer::TokenKind;
use crate::parser::{Cursor, Level, Parse};

static MEMBERS: Level = Level {
    entry: "a member of an interface",
    words: &["state", "edge", "stream", "operation", "internal"],
    mark: None,
    deeper: &[],
    inline: false,
    blocks: false,
};

/// A whole interface.
pub(super) fn interface(cursor: &mut Cursor<'_>) -> Parse<Interface> {
    let start = cursor.expect_word("interface")?;
    let name = cursor.name("the name of an interface")?;
    let parameters = type_expr::parameters(cursor)?;
    let id = id(cursor);
    let members = cursor.block(&MEMBERS, member)?;
    Ok(Interface { name, parameters, id, members, place: cursor.since(start) })
}

/// `[internal] KIND NAME: …;`
fn member(cursor: &mut Cursor<'_>) -> Parse<Member> {
    let start = cursor.here();
    let internal = cursor.eat_word("internal");
    let word = cursor.word();
    if !matches!(word, Some("state" | "edge" | "stream" | "operation")) {
        return Err(cursor.unexpected_entry(&MEMBERS));
    }
    cursor.bump();
    let name = cursor.name("the name of a member")?;
    cursor.mark(TokenKind::Colon);
    let kind = match word {
        Some("state") => {
            let ty = type_expr::type_expr(cursor);
            MemberKind::State { ty, verbs: verbs(cursor, "a verb", "[get]")? }
        }
        Some("edge") => {
            let shape = edge::shape(cursor)?;
            MemberKind::Edge { shape, verbs: verbs(cursor, "a verb", "[resolve]")? }
        }
        Some("stream") => {
            let ty = type_expr::type_expr(cursor);
            MemberKind::Stream { ty, verbs: verbs(cursor, "a verb", "[read]")? }
        }
        _ => {
            let input = type_expr::type_expr(cursor);
            cursor.mark(TokenKind::Arrow);
            MemberKind::Operation { input, output: type_expr::type_expr(cursor) }
        }
    };
    cursor.semicolon();
    Ok(Member { internal, name, kind, place: cursor.since(start) })
}
