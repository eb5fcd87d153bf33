//! `package NAME id "…" revision "…" { operations }`

use super::{id, labelled, operation};
use crate::ast::Package;
use crate::parser::{Cursor, Level, Parse};

/// The operations of a package.
pub(super) static OPERATIONS: Level = Level {
    entry: "an operation",
    words: &["operation"],
    mark: None,
    deeper: &["state", "edge", "stream", "creation", "interface"],
    inline: false,
    blocks: false,
};

/// A whole package.
pub(super) fn package(cursor: &mut Cursor<'_>) -> Parse<Package> {
    let start = cursor.expect_word("package")?;
    let name = cursor.name("the name of a package")?;
    let id = id(cursor);
    let revision = labelled(cursor, "revision");
    let operations = cursor.block(&OPERATIONS, operation::operation)?;
    Ok(Package { name, id, revision, operations, place: cursor.since(start) })
}
