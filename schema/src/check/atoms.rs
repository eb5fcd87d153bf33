//! Atoms: what their objects keep.
//!
//! State, edges, inverses and streams of one atom share their names and their ids, because a
//! member is served by the slot of its name, and a requirement asks for a slot by its id.

use super::once::Twice;
use super::types::Unit;
use super::{Checker, Scope, inverses};
use crate::ast::{self, AtomPart, Name, Text};
use crate::code::Code;
use crate::definitions::{Atom, AtomIndex, EdgeSlot, StateSlot, StreamSlot, Tag};
use crate::source::Place;

/// The parts of an atom, by kind. Positions are those of the lists in [`Atom`].
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) states: Vec<&'a ast::StateSlot>,
    pub(super) edges: Vec<&'a ast::EdgeSlot>,
    pub(super) inverses: Vec<&'a ast::InverseSlot>,
    pub(super) streams: Vec<&'a ast::StreamSlot>,
    pub(super) roots: Vec<&'a ast::Root>,
    pub(super) implements: Vec<&'a ast::Implements>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(atom: &'a ast::Atom) -> Self {
        let mut parts = Self::default();
        for part in &atom.parts {
            match part {
                AtomPart::State(it) => parts.states.push(it),
                AtomPart::Edge(it) => parts.edges.push(it),
                AtomPart::Inverse(it) => parts.inverses.push(it),
                AtomPart::Stream(it) => parts.streams.push(it),
                AtomPart::Root(it) => parts.roots.push(it),
                AtomPart::Implements(it) => parts.implements.push(it),
            }
        }
        parts
    }

    /// Returns the slot of a name.
    pub(super) fn slot(&self, name: &str) -> Option<Slot> {
        self.slots().find(|(it, _, _)| it.value == name).map(|(_, _, slot)| slot)
    }

    /// Returns the slot of an id.
    pub(super) fn slot_of_id(&self, id: &str) -> Option<Slot> {
        self.slots().find(|(_, it, _)| it.value == id).map(|(_, _, slot)| slot)
    }

    /// Returns the names of the slots, kind by kind.
    pub(super) fn slot_names(&self) -> impl Iterator<Item = &'a str> {
        self.slots().map(|(name, _, _)| name.value.as_str())
    }

    /// Returns where a slot stands.
    pub(super) fn place(&self, slot: Slot) -> Place {
        match slot {
            Slot::State(at) => self.states[at].place,
            Slot::Edge(at) => self.edges[at].place,
            Slot::Inverse(at) => self.inverses[at].place,
            Slot::Stream(at) => self.streams[at].place,
        }
    }

    /// Returns the slots, kind by kind.
    pub(super) fn slots(&self) -> impl Iterator<Item = (&'a Name, &'a Text, Slot)> {
        let states = self.states.iter().enumerate();
        let edges = self.edges.iter().enumerate();
        let inverses = self.inverses.iter().enumerate();
        let streams = self.streams.iter().enumerate();
        states
            .map(|(at, it)| (&it.name, &it.id, Slot::State(at)))
            .chain(edges.map(|(at, it)| (&it.name, &it.id, Slot::Edge(at))))
            .chain(inverses.map(|(at, it)| (&it.name, &it.id, Slot::Inverse(at))))
            .chain(streams.map(|(at, it)| (&it.name, &it.id, Slot::Stream(at))))
    }
}

/// A slot, by its position in the list of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    State(usize),
    Edge(usize),
    Inverse(usize),
    Stream(usize),
}

impl Slot {
    /// Returns `a state`, `an edge`, `an inverse`, `a stream`.
    pub(super) fn article(self) -> &'static str {
        match self {
            Self::State(_) => "a state",
            Self::Edge(_) => "an edge",
            Self::Inverse(_) => "an inverse",
            Self::Stream(_) => "a stream",
        }
    }
}

impl Checker<'_, '_, '_> {
    /// Makes the atoms with their slots. What they implement, and what their inverses lead to,
    /// comes when all of them are there.
    pub(super) fn atoms(&mut self) {
        for (at, owned) in (0u32..).map(AtomIndex).zip(&self.names.atoms) {
            let parts = Parts::of(owned.ast);
            self.slot_names(&parts);
            let tag = Tag::of(&owned.ast.id.value);
            self.made.atom_tags.entry(tag).or_insert(at);
            let made = self.atom(Scope::of(owned.package), owned.ast, &parts);
            self.made.atoms.push(made);
        }
    }

    fn atom(&mut self, scope: Scope<'_>, ast: &ast::Atom, parts: &Parts<'_>) -> Atom {
        let states = parts.states.iter().map(|it| StateSlot {
            name: it.name.value.clone(),
            id: it.id.value.clone(),
            tag: Tag::of(&it.id.value),
            ty: self.ty(scope, &it.ty, Unit::Refused),
            place: it.place,
        });
        let states = states.collect();
        let edges = parts.edges.iter().map(|it| EdgeSlot {
            name: it.name.value.clone(),
            id: it.id.value.clone(),
            tag: Tag::of(&it.id.value),
            shape: self.edge_shape(scope, &it.shape),
            place: it.place,
        });
        let edges = edges.collect();
        let streams = parts.streams.iter().map(|it| StreamSlot {
            name: it.name.value.clone(),
            id: it.id.value.clone(),
            tag: Tag::of(&it.id.value),
            ty: self.ty(scope, &it.ty, Unit::Refused),
            place: it.place,
        });
        let streams = streams.collect();
        let inverses = parts.inverses.iter().map(|it| inverses::unresolved(it));
        Atom {
            name: ast.name.value.clone(),
            id: ast.id.value.clone(),
            tag: Tag::of(&ast.id.value),
            package: scope.package,
            states,
            edges,
            inverses: inverses.collect(),
            streams,
            root: None,
            implements: Vec::new(),
            place: ast.place,
        }
    }

    fn slot_names(&mut self, parts: &Parts<'_>) {
        let mut slots: Vec<_> = parts.slots().collect();
        slots.sort_by_key(|(name, _, _)| name.place);
        let twice = Twice {
            code: Code::DuplicateSlot,
            message: "two slots named {}",
            help: Some("state, edges, inverses and streams share their names"),
        };
        self.once(slots.iter().map(|(name, _, _)| (name.value.as_str(), name.place)), &twice);
        let ids: Vec<_> = slots.iter().map(|(_, id, _)| *id).collect();
        self.ids(&ids, "slots", Code::DuplicateId);
    }
}
