//! Atoms: what stores hold, slot by slot.
//!
//! Stored data is laid out by ids, positions and cardinalities, so names may change freely. A
//! slot that is new is empty in every object there is: that is fine where empty is a value.

use std::collections::BTreeSet;

use super::roles::Role;
use super::{CALLERS, DATA, Diff, HANDLERS, Named, head};
use crate::definitions::{
    Atom, AtomIndex, Cardinality, Definitions, EdgeShape, EdgeTarget, Implementation,
    InterfaceType, InverseSlot, Served, Type, TypeIndex,
};
use crate::difference::{In, same_interface, same_target};
use crate::source::Place;

impl Diff<'_> {
    pub(super) fn atoms(&mut self) {
        let (before, after) = (self.old, self.new);
        for old in &before.atoms {
            if self.is_gone(old.package) {
                continue;
            }
            match after.atom_of_id(&old.id) {
                None => {
                    let message = format!("atom `{}` removed", old.name);
                    self.removed(message, named(old).head(before), &[DATA, CALLERS, HANDLERS]);
                }
                Some(at) => self.atom(old, at),
            }
        }
        for new in &after.atoms {
            if !self.is_new(new.package) && before.atom_of_id(&new.id).is_none() {
                let message = format!("atom `{}` added", new.name);
                self.added(message, named(new).head(after), &[]);
            }
        }
    }

    fn atom(&mut self, old: &Atom, at: AtomIndex) {
        let new = self.new.atom(at);
        self.identity("atom", named(old), named(new), &[CALLERS, HANDLERS]);
        let (before, after) = (slots(old), slots(new));
        for slot in &before {
            match after.iter().find(|it| it.id == slot.id) {
                Some(now) => self.slot(new, *slot, *now),
                None => self.slot_removed(new, *slot),
            }
        }
        for slot in &after {
            if before.iter().all(|it| it.id != slot.id) {
                self.slot_added(new, *slot);
            }
        }
        self.root(old, new);
        self.implementations(old, at);
    }

    fn slot(&mut self, atom: &Atom, old: Slot<'_>, new: Slot<'_>) {
        let places = (old.head(self.old), new.head(self.new));
        let subject = new.subject(atom);
        if old.name != new.name {
            let message = format!("{} renamed to `{}`", old.subject(atom), new.name);
            self.changed(message, places.0, places.1, &[]);
        }
        match (old.kind, new.kind) {
            (Kind::State(from), Kind::State(to)) | (Kind::Stream(from), Kind::Stream(to)) => {
                self.type_parts(&subject, (from, to), places, &[Role::Stored]);
            }
            (Kind::Edge(from), Kind::Edge(to)) => {
                if let Some(message) = self.shapes(&subject, from, to) {
                    let fits = self.still_fits(from, to);
                    let effects: &[_] = if fits { &[] } else { &[DATA] };
                    self.changed(message, places.0, places.1, effects);
                }
            }
            (Kind::Inverse(from), Kind::Inverse(to)) => {
                self.inverse(&subject, from, to, places);
            }
            (from, to) => {
                let message = format!("{subject}: was {}, is {}", from.article(), to.article());
                self.changed(message, places.0, places.1, &[DATA]);
            }
        }
    }

    /// Tells whether every edge that may be stored under one shape may be under another: an edge
    /// with one target may have none, and one to an atom may lead to an interface of that atom.
    fn still_fits(&self, old: &EdgeShape, new: &EdgeShape) -> bool {
        let cardinality = old.cardinality == new.cardinality
            || (old.cardinality, new.cardinality) == (Cardinality::One, Cardinality::OptionalOne);
        let target = same_target(In::new(self.old, &old.target), In::new(self.new, &new.target))
            || match (&old.target, &new.target) {
                (EdgeTarget::Atom(from), EdgeTarget::Interface(to)) => self
                    .new
                    .atom_of_id(&self.old.atom(*from).id)
                    .is_some_and(|at| self.new.implementation(at, to).is_some()),
                _ => false,
            };
        cardinality && target && old.keyed == new.keyed
    }

    fn inverse(
        &mut self,
        subject: &str,
        old: &InverseSlot,
        new: &InverseSlot,
        places: (Place, Place),
    ) {
        let (from, to) = (source(self.old, old), source(self.new, new));
        if from.ids != to.ids {
            let message = format!("{subject}: was of `{}`, is of `{}`", from.text, to.text);
            self.changed(message, places.0, places.1, &[CALLERS]);
        }
        let (was, is) = (key_text(self.old, old), key_text(self.new, new));
        if was != is {
            let text = |key: Option<String>| match key {
                Some(key) => format!("keyed by `{key}`"),
                None => "without key".to_owned(),
            };
            let message = format!("{subject}: was {}, is {}", text(was), text(is));
            self.changed(message, places.0, places.1, &[DATA]);
        }
    }

    fn slot_removed(&mut self, atom: &Atom, slot: Slot<'_>) {
        let message = format!("{} removed", slot.subject(atom));
        // The runtime keeps what an inverse without a key needs for every edge.
        let derived = matches!(slot.kind, Kind::Inverse(it) if it.key.is_none());
        let effects: &[_] = if derived { &[] } else { &[DATA] };
        self.removed(message, slot.head(self.old), effects);
    }

    fn slot_added(&mut self, atom: &Atom, slot: Slot<'_>) {
        let message = format!("{} added", slot.subject(atom));
        let empty_is_a_value = match slot.kind {
            Kind::State(ty) => matches!(self.new.shape(ty), Type::Optional(_)),
            Kind::Edge(shape) => shape.cardinality != Cardinality::One,
            Kind::Inverse(inverse) => inverse.key.is_none(),
            Kind::Stream(_) => true,
        };
        let effects: &[_] = if empty_is_a_value { &[] } else { &[DATA] };
        self.added(message, slot.head(self.new), effects);
    }

    fn root(&mut self, old: &Atom, new: &Atom) {
        let places = (named(old).head(self.old), named(new).head(self.new));
        let subject = format!("root of `{}`", new.name);
        match (&old.root, &new.root) {
            (Some(from), Some(to)) => {
                let types = (&from.input, &to.input);
                self.type_parts(&format!("input of the {subject}"), types, places, &[Role::Input]);
            }
            (Some(_), None) => {
                let message = format!("{subject} removed: hosts may no longer create one");
                self.changed(message, places.0, places.1, &[CALLERS]);
            }
            (None, Some(_)) => {
                self.changed(format!("{subject} added"), places.0, places.1, &[]);
            }
            (None, None) => {}
        }
    }

    fn implementations(&mut self, old: &Atom, at: AtomIndex) {
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

/// A slot of any kind.
#[derive(Clone, Copy)]
struct Slot<'a> {
    name: &'a str,
    id: &'a str,
    place: Place,
    kind: Kind<'a>,
}

#[derive(Clone, Copy)]
enum Kind<'a> {
    State(&'a Type),
    Edge(&'a EdgeShape),
    Inverse(&'a InverseSlot),
    Stream(&'a Type),
}

impl Kind<'_> {
    fn word(self) -> &'static str {
        match self {
            Self::State(_) => "state",
            Self::Edge(_) => "edge",
            Self::Inverse(_) => "inverse",
            Self::Stream(_) => "stream",
        }
    }

    fn article(self) -> &'static str {
        match self {
            Self::State(_) => "a state",
            Self::Edge(_) => "an edge",
            Self::Inverse(_) => "an inverse",
            Self::Stream(_) => "a stream",
        }
    }
}

impl Slot<'_> {
    fn subject(&self, atom: &Atom) -> String {
        format!("{} `{}` of `{}`", self.kind.word(), self.name, atom.name)
    }

    fn head(&self, of: &Definitions) -> Place {
        head(&of.sources, self.place, self.name)
    }
}

fn slots(atom: &Atom) -> Vec<Slot<'_>> {
    let states = atom.states.iter().map(|it| Slot {
        name: &it.name,
        id: &it.id,
        place: it.place,
        kind: Kind::State(&it.ty),
    });
    let edges = atom.edges.iter().map(|it| Slot {
        name: &it.name,
        id: &it.id,
        place: it.place,
        kind: Kind::Edge(&it.shape),
    });
    let inverses = atom.inverses.iter().map(|it| Slot {
        name: &it.name,
        id: &it.id,
        place: it.place,
        kind: Kind::Inverse(it),
    });
    let streams = atom.streams.iter().map(|it| Slot {
        name: &it.name,
        id: &it.id,
        place: it.place,
        kind: Kind::Stream(&it.ty),
    });
    states.chain(edges).chain(inverses).chain(streams).collect()
}

fn named(atom: &Atom) -> Named<'_> {
    Named { name: &atom.name, package: atom.package, place: atom.place }
}

/// A thing by id, and as text.
struct Known {
    id: String,
    text: String,
}

/// The edge that an inverse is of.
struct Source<'d> {
    ids: (&'d str, &'d str),
    text: String,
}

fn source<'d>(of: &'d Definitions, inverse: &InverseSlot) -> Source<'d> {
    let atom = of.atom(inverse.atom);
    let edge = &atom.edges[inverse.edge];
    Source { ids: (&atom.id, &edge.id), text: format!("{}.{}", atom.name, edge.name) }
}

/// Returns the path to the key of an inverse: the state by its id, fields by name.
fn key_text(of: &Definitions, inverse: &InverseSlot) -> Option<String> {
    let key = inverse.key.as_ref()?;
    let state = &of.atom(inverse.atom).states[key.state];
    let mut text = state.id.clone();
    let mut ty = &state.ty;
    for at in &key.fields {
        let Type::Record(record) = of.shape(ty) else { break };
        let field = &record.fields[*at];
        text.push('.');
        text.push_str(&field.name);
        ty = &field.ty;
    }
    Some(text)
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
