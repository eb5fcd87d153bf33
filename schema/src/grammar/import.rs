//! What a file takes from others: `part of`, `external atom`, `import`.

use super::id;
use crate::ast::{ExternalAtom, Import, ImportKind, PartOf, Spanned};
use crate::parser::{Cursor, Parse};

/// `part of PACKAGE;`
pub(super) fn part_of(cursor: &mut Cursor<'_>) -> Parse<PartOf> {
    let start = cursor.expect_word("part")?;
    cursor.expect_word("of")?;
    let package = cursor.name("the name of a package")?;
    cursor.semicolon();
    Ok(PartOf { package, place: cursor.since(start) })
}

/// `external atom NAME id "…";`
pub(super) fn external_atom(cursor: &mut Cursor<'_>) -> Parse<ExternalAtom> {
    let start = cursor.expect_word("external")?;
    cursor.expect_word("atom")?;
    let name = cursor.name("the name of an atom")?;
    let id = id(cursor);
    cursor.semicolon();
    Ok(ExternalAtom { name, id, place: cursor.since(start) })
}

/// `import interface|type|operation NAME [from PACKAGE];`
pub(super) fn import(cursor: &mut Cursor<'_>) -> Parse<Import> {
    let start = cursor.expect_word("import")?;
    let kind = import_kind(cursor)?;
    let name = cursor.name("the name of what is imported")?;
    let from = match cursor.eat_word("from") {
        Some(_) => Some(cursor.name("the name of a package")?),
        None => None,
    };
    cursor.semicolon();
    Ok(Import { kind, name, from, place: cursor.since(start) })
}

fn import_kind(cursor: &mut Cursor<'_>) -> Parse<Spanned<ImportKind>> {
    let kind = match cursor.word() {
        Some("interface") => ImportKind::Interface,
        Some("type") => ImportKind::Type,
        Some("operation") => ImportKind::Operation,
        other => {
            let help = match other {
                Some("atom") => "an atom of another package is `external atom NAME id \"…\";`",
                _ => "say what it is: `import interface NAME;`",
            };
            let expected = "`interface`, `type` or `operation`";
            return Err(cursor.unexpected(expected, Some(help.to_owned())));
        }
    };
    Ok(Spanned { value: kind, place: cursor.bump().place })
}
