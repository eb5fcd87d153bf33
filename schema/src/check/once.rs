//! Names that may be given once.

use std::collections::BTreeMap;

use super::Checker;
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::source::Place;

/// What is told of a name that is given again.
pub(super) struct Twice<'t> {
    pub(super) code: Code,
    /// The message, with `{}` for the name.
    pub(super) message: &'t str,
    pub(super) help: Option<&'t str>,
}

impl Checker<'_, '_, '_> {
    /// Reports the names that a list gives again, and tells of each name whether it is new.
    pub(super) fn once<'n>(
        &mut self,
        names: impl IntoIterator<Item = (&'n str, Place)>,
        twice: &Twice<'_>,
    ) -> Vec<bool> {
        let mut firsts: BTreeMap<&str, Place> = BTreeMap::new();
        let mut new = Vec::new();
        for (name, place) in names {
            let first = *firsts.entry(name).or_insert(place);
            new.push(first == place);
            if first != place {
                let message = twice.message.replace("{}", &format!("`{name}`"));
                self.report.push(
                    Diagnostic::new(twice.code, place, message)
                        .also(first, "the first stands here")
                        .maybe_help(twice.help),
                );
            }
        }
        new
    }
}
