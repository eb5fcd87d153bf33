//! Types, and the names given to them.
//!
//! A type that does not parse is a [`TypeKind::Error`] and a diagnostic; the line that it
//! stands in is read on.

use crate::ast::{Field, InterfaceExpr, TypeAlias, TypeExpr, TypeKind};
use crate::lexer::TokenKind;
use crate::parser::{Cursor, Level, Parse};

/// The fields of a record.
static RECORD: Level = Level {
    entry: "a field",
    words: &[],
    mark: Some(TokenKind::Colon),
    deeper: &[],
    inline: true,
    blocks: false,
};

const ANGLES: [TokenKind; 2] = [TokenKind::OpenAngle, TokenKind::CloseAngle];

/// `type NAME = TYPE;`
pub(super) fn alias(cursor: &mut Cursor<'_>) -> Parse<TypeAlias> {
    let start = cursor.expect_word("type")?;
    let name = cursor.name("the name of a type")?;
    cursor.mark(TokenKind::Equals);
    let ty = type_expr(cursor);
    cursor.semicolon();
    Ok(TypeAlias { name, ty, place: cursor.since(start) })
}

/// Any type.
pub(super) fn type_expr(cursor: &mut Cursor<'_>) -> TypeExpr {
    let start = cursor.here();
    let kind = cursor.nested(kind).unwrap_or(TypeKind::Error);
    TypeExpr { kind, place: cursor.since(start) }
}

fn kind(cursor: &mut Cursor<'_>) -> Parse<TypeKind> {
    match cursor.word() {
        Some("optional") => Ok(TypeKind::Optional(Box::new(argument(cursor)?))),
        Some("list") => Ok(TypeKind::List(Box::new(argument(cursor)?))),
        Some("record") => {
            cursor.bump();
            Ok(TypeKind::Record(cursor.block(&RECORD, field)?))
        }
        Some("atom-ref") => {
            cursor.bump();
            cursor.single(ANGLES, |c| c.name("the name of an atom")).map(TypeKind::AtomRef)
        }
        Some("interface-ref") => {
            cursor.bump();
            cursor.single(ANGLES, interface_expr).map(TypeKind::InterfaceRef)
        }
        Some(_) => named(cursor),
        None => {
            let help = cursor
                .at(TokenKind::OpenBrace)
                .then(|| "a record is `record {name: type; …}`".to_owned());
            Err(cursor.unexpected("a type", help))
        }
    }
}

fn named(cursor: &mut Cursor<'_>) -> Parse<TypeKind> {
    let name = cursor.name("a type")?.value;
    if cursor.at(TokenKind::OpenAngle) {
        let help = format!("if `{name}` is an interface: `interface-ref<{name}<…>>`");
        let _ = cursor.unexpected("the end of the type", Some(help));
        cursor.bracketed(ANGLES, |c| Ok(type_expr(c)))?;
        return Ok(TypeKind::Error);
    }
    Ok(TypeKind::Name(name))
}

/// `WORD<TYPE>`
fn argument(cursor: &mut Cursor<'_>) -> Parse<TypeExpr> {
    cursor.bump();
    cursor.single(ANGLES, |c| Ok(type_expr(c)))
}

/// `NAME: TYPE;`
fn field(cursor: &mut Cursor<'_>) -> Parse<Field> {
    let start = cursor.here();
    let name = cursor.name("a field")?;
    cursor.mark(TokenKind::Colon);
    let ty = type_expr(cursor);
    cursor.semicolon();
    Ok(Field { name, ty, place: cursor.since(start) })
}

/// `I` or `I<T, …>`
pub(super) fn interface_expr(cursor: &mut Cursor<'_>) -> Parse<InterfaceExpr> {
    let start = cursor.here();
    let name = cursor.name("the name of an interface")?;
    let arguments = if cursor.at(TokenKind::OpenAngle) {
        cursor.bracketed(ANGLES, |c| Ok(type_expr(c)))?
    } else {
        Vec::new()
    };
    Ok(InterfaceExpr { name, arguments, place: cursor.since(start) })
}

/// `<T, U>`, if it is there.
pub(super) fn parameters(cursor: &mut Cursor<'_>) -> Parse<Vec<crate::ast::Name>> {
    if !cursor.at(TokenKind::OpenAngle) {
        return Ok(Vec::new());
    }
    cursor.bracketed(ANGLES, |c| c.name("the name of a type parameter"))
}
