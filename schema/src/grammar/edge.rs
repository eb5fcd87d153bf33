//! What an edge leads to, and to how many.

use super::type_expr::interface_expr;
use crate::ast::{EdgeShape, EdgeTarget};
use crate::parser::{Cursor, Parse};

/// `CARDINALITY atom|interface TARGET [keyed "string"]`
pub(super) fn shape(cursor: &mut Cursor<'_>) -> Parse<EdgeShape> {
    let start = cursor.here();
    let counts = "`one`, `optional-one` or `many-unique`";
    if matches!(cursor.word(), Some("atom" | "interface")) {
        let help = format!("an edge says how many it leads to: {counts}");
        return Err(cursor.unexpected("a cardinality", Some(help)));
    }
    let cardinality = cursor.any_word(counts)?;
    let target = target(cursor)?;
    let keyed = match cursor.eat_word("keyed") {
        Some(_) => Some(cursor.string("the type of the keys")?),
        None => None,
    };
    Ok(EdgeShape { cardinality, target, keyed, place: cursor.since(start) })
}

fn target(cursor: &mut Cursor<'_>) -> Parse<EdgeTarget> {
    match cursor.word() {
        Some("atom") => {
            cursor.bump();
            cursor.name("the name of an atom").map(EdgeTarget::Atom)
        }
        Some("interface") => {
            cursor.bump();
            interface_expr(cursor).map(EdgeTarget::Interface)
        }
        other => {
            let start = cursor.here();
            let help = other.map(|name| format!("say what `{name}` is: `atom {name}`"));
            let fault = cursor.unexpected("`atom` or `interface`", help);
            if other.is_none() {
                return Err(fault);
            }
            cursor.bump();
            Ok(EdgeTarget::Error(cursor.since(start)))
        }
    }
}
