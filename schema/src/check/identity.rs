//! Ids: each is given, each is one thing's own, and no two of a kind look alike to a store.
//!
//! An id is what is stored and sent, so two revisions, or two packages that do not know each
//! other, agree by it; it is unique over the whole set. A store writes only its [`Tag`].

use std::collections::BTreeMap;

use super::Checker;
use crate::ast::Text;
use crate::code::Code;
use crate::definitions::Tag;
use crate::diagnostic::Diagnostic;

impl Checker<'_, '_, '_> {
    /// Checks the ids of packages, interfaces, atoms and operations.
    pub(super) fn identity(&mut self) {
        let names = self.names;
        let packages: Vec<_> = names.packages.iter().map(|it| &it.ast.id).collect();
        self.ids(&packages, "packages", Code::DuplicateId);
        let interfaces: Vec<_> = names.interfaces.iter().map(|it| &it.ast.id).collect();
        self.ids(&interfaces, "interfaces", Code::DuplicateId);
        let atoms: Vec<_> = names.atoms.iter().map(|it| &it.ast.id).collect();
        self.ids(&atoms, "atoms", Code::DuplicateId);
        let operations: Vec<_> = names.operations.iter().map(|it| &it.ast.id).collect();
        self.ids(&operations, "operations", Code::DuplicateId);
        for package in &names.packages {
            self.given(&package.ast.revision, "revision");
        }
    }

    /// Checks the ids of things of one kind. `duplicate` is the code for one given twice.
    pub(super) fn ids(&mut self, ids: &[&Text], kind: &str, duplicate: Code) {
        let mut tags: BTreeMap<Tag, &Text> = BTreeMap::new();
        for id in ids {
            if !self.given(id, "id") {
                continue;
            }
            let tag = Tag::of(&id.value);
            let Some(first) = tags.get(&tag) else {
                tags.insert(tag, id);
                continue;
            };
            let diagnostic = if first.value == id.value {
                let message = format!("two {kind} of the id `{}`", id.value);
                Diagnostic::new(duplicate, id.place, message)
                    .also(first.place, "the first stands here")
            } else {
                let message = format!(
                    "a store could not tell the {kind} `{}` and `{}` apart",
                    first.value, id.value
                );
                Diagnostic::new(Code::TagCollision, id.place, message)
                    .also(first.place, "the hash of this id begins with the same four bytes")
                    .help("change one of them in any way")
            };
            self.report.push(diagnostic);
        }
    }

    /// Checks that a text that identifies something is there.
    fn given(&mut self, text: &Text, what: &str) -> bool {
        let empty = text.value.trim().is_empty();
        // Where a text could not be read, an empty one stands for it.
        if empty && !self.report.distrusts(text.place.source) {
            self.report.push(
                Diagnostic::new(Code::EmptyId, text.place, format!("this {what} has no text"))
                    .help("give it one that nothing else has"),
            );
        }
        !empty
    }
}
