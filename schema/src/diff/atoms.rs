//! Atoms: what stores hold, slot by slot.
//!
//! Stored data is laid out by ids, positions and cardinalities, so names may change freely. A
//! slot that is new is empty in every object there is: that is fine where empty is a value.

use super::roles::Role;
use super::{CALLERS, DATA, Diff, HANDLERS, Named, head};
use crate::definitions::{
    Atom, AtomIndex, Cardinality, Definitions, EdgeShape, EdgeTarget, InverseSlot, Type,
};
use crate::difference::{In, same_target};
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
