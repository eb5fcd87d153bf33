//! Named types: who has to follow depends on what they are used for.

use super::parts::parts;
use super::roles::{Role, Roles};
use super::{Concern, Diff, HANDLERS, head};
use crate::definitions::{Definitions, NamedType, Type, TypeIndex};
use crate::difference::In;
use crate::source::Place;

impl Diff<'_> {
    pub(super) fn types(&mut self) {
        let roles = Roles::of(self.old);
        for (at, old) in (0u32..).map(TypeIndex).zip(&self.old.types) {
            if self.is_gone(old.package) {
                continue;
            }
            let from = head(&self.old.sources, old.place, &old.name);
            match find(self.new, key(self.old, old)) {
                None => {
                    self.removed(format!("type `{}` removed", old.name), from, &[HANDLERS]);
                }
                Some(new) => {
                    let to = head(&self.new.sources, new.place, &new.name);
                    let subject = format!("type `{}`", old.name);
                    let roles: Vec<_> = roles.get(at).collect();
                    self.type_parts(&subject, (&old.ty, &new.ty), (from, to), &roles);
                }
            }
        }
    }

    /// Reports the parts in which two types differ, for types of the given roles.
    pub(super) fn type_parts(
        &mut self,
        subject: &str,
        types: (&Type, &Type),
        places: (Place, Place),
        roles: &[Role],
    ) {
        for part in parts(In::new(self.old, types.0), In::new(self.new, types.1)) {
            let effects: Vec<_> =
                roles.iter().map(|role| (concern(*role), part.impact(*role))).collect();
            self.changed(part.message(subject), places.0, places.1, &effects);
        }
    }
}

fn concern(role: Role) -> Concern {
    match role {
        Role::Stored => Concern::Data,
        Role::Input | Role::Output => Concern::Callers,
        Role::Taken | Role::Given => Concern::Handlers,
    }
}

/// What a named type is known by.
fn key<'d>(of: &'d Definitions, named: &'d NamedType) -> (&'d str, &'d str) {
    (&of.package(named.package).id, &named.name)
}

fn find<'d>(of: &'d Definitions, wanted: (&str, &str)) -> Option<&'d NamedType> {
    of.types.iter().find(|it| key(of, it) == wanted)
}
