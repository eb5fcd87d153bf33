//! Interfaces and their members, which callers know by name.

use super::roles::Role;
use super::{CALLERS, Diff, HANDLERS, Named};
use crate::definitions::{Definitions, EdgeShape, Interface, Member, MemberKind};
use crate::difference::{In, same_shape};

impl Diff<'_> {
    pub(super) fn interfaces(&mut self) {
        let (before, after) = (self.old, self.new);
        for old in &before.interfaces {
            if self.is_gone(old.package) {
                continue;
            }
            match after.interfaces.iter().find(|it| it.id == old.id) {
                None => {
                    let message = format!("interface `{}` removed", old.name);
                    self.removed(message, named(old).head(before), &[CALLERS, HANDLERS]);
                }
                Some(new) => self.interface(old, new),
            }
        }
        for new in &after.interfaces {
            if !self.is_new(new.package) && before.interfaces.iter().all(|it| it.id != new.id) {
                let message = format!("interface `{}` added", new.name);
                self.added(message, named(new).head(after), &[]);
            }
        }
    }

    fn interface(&mut self, old: &Interface, new: &Interface) {
        self.identity("interface", named(old), named(new), &[CALLERS, HANDLERS]);
        if old.parameters.len() != new.parameters.len() {
            let message = format!(
                "interface `{}`: had {} type parameters, has {}",
                new.name,
                old.parameters.len(),
                new.parameters.len()
            );
            let places = (named(old).head(self.old), named(new).head(self.new));
            self.changed(message, places.0, places.1, &[CALLERS, HANDLERS]);
            return;
        }
        for before in &old.members {
            match new.members.iter().find(|it| it.name == before.name) {
                Some(after) => self.member(new, before, after),
                None => {
                    let message = format!("member `{}` of `{}` removed", before.name, new.name);
                    let place = self.member_head(self.old, before);
                    let effects: &[_] =
                        if before.internal { &[HANDLERS] } else { &[CALLERS, HANDLERS] };
                    self.removed(message, place, effects);
                }
            }
        }
        for after in &new.members {
            if old.members.iter().all(|it| it.name != after.name) {
                let message = format!("member `{}` of `{}` added", after.name, new.name);
                self.added(message, self.member_head(self.new, after), &[]);
            }
        }
    }

    fn member(&mut self, interface: &Interface, old: &Member, new: &Member) {
        let places = (self.member_head(self.old, old), self.member_head(self.new, new));
        let subject = format!("member `{}` of `{}`", new.name, interface.name);
        match (old.internal, new.internal) {
            (false, true) => {
                let message = format!("{subject} is internal now");
                self.changed(message, places.0, places.1, &[CALLERS]);
            }
            (true, false) => {
                let message = format!("{subject} is no longer internal");
                self.changed(message, places.0, places.1, &[]);
            }
            (true, true) | (false, false) => {}
        }
        // Internal members are not for callers, but for handlers that are granted them.
        let (into, out_of): (&[Role], &[Role]) = if old.internal && new.internal {
            (&[Role::Given], &[Role::Taken])
        } else {
            (&[Role::Input, Role::Given], &[Role::Output, Role::Taken])
        };
        match (&old.kind, &new.kind) {
            (MemberKind::State(from), MemberKind::State(to))
            | (MemberKind::Stream(from), MemberKind::Stream(to)) => {
                self.type_parts(&subject, (from, to), places, out_of);
            }
            (
                MemberKind::Operation { input: from, output: gave },
                MemberKind::Operation { input: to, output: gives },
            ) => {
                self.type_parts(&format!("input of {subject}"), (from, to), places, into);
                self.type_parts(&format!("output of {subject}"), (gave, gives), places, out_of);
            }
            (MemberKind::Edge(from), MemberKind::Edge(to)) => {
                if let Some(message) = self.shapes(&subject, from, to) {
                    self.changed(message, places.0, places.1, &[CALLERS, HANDLERS]);
                }
            }
            (from, to) => {
                let message = format!("{subject}: was {}, is {}", kind(from), kind(to));
                self.changed(message, places.0, places.1, &[CALLERS, HANDLERS]);
            }
        }
    }

    /// Says how two edges differ in shape, if they do.
    pub(super) fn shapes(&self, subject: &str, old: &EdgeShape, new: &EdgeShape) -> Option<String> {
        (!same_shape(In::new(self.old, old), In::new(self.new, new))).then(|| {
            let (from, to) = (self.old.shape_text(old), self.new.shape_text(new));
            if from == to {
                // Only the id behind the name can be another one.
                format!("{subject}: leads to another one of the name in `{to}`")
            } else {
                format!("{subject}: was `{from}`, is `{to}`")
            }
        })
    }

    fn member_head(&self, of: &Definitions, member: &Member) -> crate::source::Place {
        super::head(&of.sources, member.place, &member.name)
    }
}

fn named(interface: &Interface) -> Named<'_> {
    Named { name: &interface.name, package: interface.package, place: interface.place }
}

fn kind(of: &MemberKind) -> &'static str {
    match of {
        MemberKind::State(_) => "a state",
        MemberKind::Edge(_) => "an edge",
        MemberKind::Stream(_) => "a stream",
        MemberKind::Operation { .. } => "an operation",
    }
}
