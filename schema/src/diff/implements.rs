//! What atoms implement, and what serves its members.

use std::collections::BTreeSet;

use super::{CALLERS, DATA, Diff, HANDLERS, head};
use crate::definitions::{
    Atom, AtomIndex, Definitions, EdgeTarget, Implementation, InterfaceType, Served, Type,
    TypeIndex,
};
use crate::difference::{In, same_interface};
use crate::source::Place;

impl Diff<'_> {
    pub(super) fn implementations(&mut self, old: &Atom, at: AtomIndex) {
        let new = self.new.atom(at);
        for before in &old.implements {
            let after = new.implements.iter().find(|it| {
                same_interface(
                    In::new(self.old, &before.interface),
                    In::new(self.new, &it.interface),
                )
            });
            match after {
                Some(after) => self.implementation(old, before, new, after),
                None => self.implementation_removed(new, before),
            }
        }
        for after in &new.implements {
            let known = old.implements.iter().any(|it| {
                same_interface(
                    In::new(self.old, &it.interface),
                    In::new(self.new, &after.interface),
                )
            });
            if !known {
                let text = self.new.interface_text(&after.interface);
                let message = format!("`{}` also implements `{text}`", new.name);
                self.added(message, implements_head(self.new, after), &[]);
            }
        }
    }

    fn implementation_removed(&mut self, new: &Atom, before: &Implementation) {
        let text = self.old.interface_text(&before.interface);
        let message = format!("`{}` no longer implements `{text}`", new.name);
        let place = implements_head(self.old, before);
        // Handlers of other operations may be handed one; stores may hold references to one.
        let held = is_held(self.old, &before.interface);
        let effects: &[_] = if held { &[DATA, CALLERS, HANDLERS] } else { &[CALLERS, HANDLERS] };
        self.removed(message, place, effects);
    }

    /// Reports members that something else serves. A member that came or went is told of the
    /// interface.
    fn implementation(
        &mut self,
        old: &Atom,
        before: &Implementation,
        new: &Atom,
        after: &Implementation,
    ) {
        let members = &self.old.interface(before.interface.interface).members;
        let now = &self.new.interface(after.interface.interface).members;
        for (at, member) in members.iter().enumerate() {
            let Some(position) = now.iter().position(|it| it.name == member.name) else { continue };
            let was = served(self.old, old, before.members[at]);
            let is = served(self.new, new, after.members[position]);
            if was.id != is.id {
                let message = format!(
                    "member `{}` of `{}`: was served by {}, is served by {}",
                    member.name, new.name, was.text, is.text
                );
                let places = (implements_head(self.old, before), implements_head(self.new, after));
                self.changed(message, places.0, places.1, &[]);
            }
        }
    }
}

/// A thing by id, and as text.
struct Known {
    id: String,
    text: String,
}

/// Returns what serves a member.
fn served(of: &Definitions, atom: &Atom, by: Served) -> Known {
    let (word, id, name) = match by {
        Served::State(at) => ("state", &atom.states[at].id, &atom.states[at].name),
        Served::Edge(at) => ("edge", &atom.edges[at].id, &atom.edges[at].name),
        Served::Inverse(at) => ("inverse", &atom.inverses[at].id, &atom.inverses[at].name),
        Served::Stream(at) => ("stream", &atom.streams[at].id, &atom.streams[at].name),
        Served::Append(at) => ("appending to", &atom.streams[at].id, &atom.streams[at].name),
        Served::Operation(at) => ("operation", &of.operation(at).id, &of.operation(at).name),
    };
    let text =
        if name == id { format!("{word} `{name}`") } else { format!("{word} `{name}` (`{id}`)") };
    Known { id: format!("{word} {id}"), text }
}

fn implements_head(of: &Definitions, implementation: &Implementation) -> Place {
    let name = &of.interface(implementation.interface.interface).name;
    head(&of.sources, implementation.place, name)
}

/// Tells whether stores may hold references to what implements an interface.
fn is_held(of: &Definitions, interface: &InterfaceType) -> bool {
    of.atoms.iter().any(|atom| {
        let edges = atom.edges.iter().any(|it| match &it.shape.target {
            EdgeTarget::Interface(to) => of.same_interface(to, interface),
            EdgeTarget::Atom(_) => false,
        });
        let states = atom.states.iter().map(|it| &it.ty);
        let mut types = states.chain(atom.streams.iter().map(|it| &it.ty));
        edges || types.any(|ty| holds(of, ty, interface, &mut BTreeSet::new()))
    })
}

fn holds(
    of: &Definitions,
    ty: &Type,
    interface: &InterfaceType,
    seen: &mut BTreeSet<TypeIndex>,
) -> bool {
    match ty {
        // A type may be named many times in one.
        Type::Named(at) => seen.insert(*at) && holds(of, &of.types[at.get()].ty, interface, seen),
        Type::InterfaceRef(to) => of.same_interface(to, interface),
        Type::Optional(inner) | Type::List(inner) => holds(of, inner, interface, seen),
        Type::Record(record) => record.fields.iter().any(|it| holds(of, &it.ty, interface, seen)),
        Type::Unit
        | Type::Bool
        | Type::Int32
        | Type::Int64
        | Type::Uint32
        | Type::Uint64
        | Type::Float64
        | Type::String
        | Type::Bytes
        | Type::AtomRef(_)
        | Type::Parameter(_) => false,
    }
}
