//! Creations: what an atom is created from fills its slots, each by the field of its name.
//!
//! Nothing may stay empty that must have a value: a state whose type is not optional, and an
//! edge that leads to exactly one target. Streams begin empty, and inverses are the runtime's.

use super::atoms::{Parts, Slot};
use super::{Checker, Scope};
use crate::ast::{self, TypeExpr, TypeKind};
use crate::code::Code;
use crate::definitions::{
    AtomIndex, Cardinality, Creation, Fill, OperationIndex, PackageIndex, RequirementKind, Type,
};
use crate::diagnostic::Diagnostic;
use crate::resolve::{Thing, listed};
use crate::source::Place;

/// A creation as written.
struct Written<'a> {
    /// Whose names its input uses.
    package: PackageIndex,
    atom: AtomIndex,
    input: &'a TypeExpr,
}

impl Checker<'_, '_, '_> {
    /// Makes the creations of operations and of hosts.
    pub(super) fn creations(&mut self) {
        for (at, owned) in (0u32..).map(OperationIndex).zip(&self.names.operations) {
            for (position, requirement) in owned.ast.requirements.iter().enumerate() {
                let ast::RequirementKind::Creation { input, .. } = &requirement.kind else {
                    continue;
                };
                let made = &self.made.operations[at.get()].requirements[position].kind;
                let RequirementKind::Creation(Creation { atom, input: ty, .. }) = made else {
                    continue;
                };
                let written = Written { package: owned.package, atom: *atom, input };
                let ty = ty.clone();
                let fills = self.fills(&written, &ty);
                let made = &mut self.made.operations[at.get()].requirements[position].kind;
                if let RequirementKind::Creation(creation) = made {
                    creation.fills = fills;
                }
            }
        }
        for (at, owned) in (0u32..).map(AtomIndex).zip(&self.names.atoms) {
            self.root(at, owned.package, &Parts::of(owned.ast).roots);
        }
    }

    fn root(&mut self, atom: AtomIndex, package: PackageIndex, roots: &[&ast::Root]) {
        for (position, root) in roots.iter().enumerate() {
            let input = self.payload(Scope::of(package), &root.input);
            let written = Written { package, atom, input: &root.input };
            let fills = self.fills(&written, &input);
            if position == 0 {
                self.made.atoms[atom.get()].root = Some(Creation { atom, input, fills });
            } else {
                self.report.push(
                    Diagnostic::new(Code::DuplicateRoot, root.place, "a second `root` line")
                        .also(roots[0].place, "the first stands here"),
                );
            }
        }
    }

    /// Returns which slot each field of an input fills.
    fn fills(&mut self, written: &Written<'_>, input: &Type) -> Vec<Fill> {
        let Some(owned) = self.names.atoms.get(written.atom.get()) else { return Vec::new() };
        let parts = Parts::of(owned.ast);
        let fields = match self.shape(input) {
            None => return Vec::new(),
            Some(Type::Unit) => Vec::new(),
            Some(Type::Record(record)) => record.fields.clone(),
            Some(_) => {
                let message = format!(
                    "an atom is created from `unit` or a record, not `{}`",
                    self.made.type_text(input)
                );
                let place = written.input.place;
                let help = "name the slot: `record {SLOT: TYPE;}`";
                self.report.push(Diagnostic::new(Code::CreationInput, place, message).help(help));
                return Vec::new();
            }
        };
        let places = self.field_places(written.package, written.input);
        let mut fills = Vec::new();
        for (at, field) in fields.iter().enumerate() {
            let place = places.get(at).copied().unwrap_or(written.input.place);
            fills.extend(self.fill(written, &parts, &field.name, &field.ty, place));
        }
        let filled: Vec<_> = fields.iter().map(|it| it.name.as_str()).collect();
        self.left_empty(written, &parts, &filled);
        fills
    }

    fn fill(
        &mut self,
        written: &Written<'_>,
        parts: &Parts<'_>,
        name: &str,
        ty: &Type,
        place: Place,
    ) -> Option<Fill> {
        let atom = &self.made.atoms[written.atom.get()];
        let (fill, wanted) = match parts.slot(name) {
            Some(Slot::State(at)) => (Fill::State(at), atom.states[at].ty.clone()),
            Some(Slot::Edge(at)) => (Fill::Edge(at), self.filling(&atom.edges[at].shape)),
            Some(slot @ (Slot::Inverse(_) | Slot::Stream(_))) => {
                let message = format!("`{name}` of `{}` is {}", atom.name, slot.article());
                let help = if matches!(slot, Slot::Inverse(_)) {
                    "the runtime keeps it; fill the edge on the other side"
                } else {
                    "a stream begins empty"
                };
                self.report.push(
                    Diagnostic::new(Code::CreationField, place, message)
                        .label("a creation fills state and edges")
                        .also(parts.place(slot), "it is defined here")
                        .help(help),
                );
                return None;
            }
            None => {
                let message = format!("`{}` has no slot named `{name}`", atom.name);
                let place_of_atom = self.names.atoms[written.atom.get()].ast.name.place;
                self.report.push_absent(
                    name,
                    Diagnostic::new(Code::CreationField, place, message)
                        .also(place_of_atom, "the atom is defined here")
                        .maybe_help(self.report.did_you_mean(name, parts.slot_names())),
                );
                return None;
            }
        };
        let sides = ["in the slot", "in the input"];
        if let Some((wanted, found, help)) = self.mismatch(&wanted, ty, sides) {
            let slot = parts.slot(name)?;
            let message = format!("`{name}` is filled from `{wanted}`, not `{found}`");
            self.report.push(
                Diagnostic::new(Code::CreationType, place, message)
                    .also(parts.place(slot), "the slot that it fills")
                    .maybe_help(help),
            );
        }
        Some(fill)
    }

    /// Reports the slots that must have a value and get none.
    fn left_empty(&mut self, written: &Written<'_>, parts: &Parts<'_>, filled: &[&str]) {
        let atom = &self.made.atoms[written.atom.get()];
        let states = atom
            .states
            .iter()
            .enumerate()
            .filter(|(_, it)| self.shape(&it.ty).is_some_and(|ty| !matches!(ty, Type::Optional(_))))
            .map(|(at, it)| (it.name.clone(), Slot::State(at), self.brief(&it.ty)));
        let edges = atom
            .edges
            .iter()
            .enumerate()
            .filter(|(_, it)| it.shape.cardinality == Cardinality::One)
            .map(|(at, it)| {
                let ty = self.filling(&it.shape);
                (it.name.clone(), Slot::Edge(at), self.brief(&ty))
            });
        let empty: Vec<_> =
            states.chain(edges).filter(|(name, _, _)| !filled.contains(&name.as_str())).collect();
        if empty.is_empty() {
            return;
        }
        let names: Vec<_> = empty.iter().map(|(name, _, _)| name.as_str()).collect();
        let message = format!("this leaves {} of `{}` empty", listed(&names), atom.name);
        let lines: Vec<_> = empty.iter().map(|(name, _, ty)| format!("{name}: {ty};")).collect();
        let lines = lines.join(" ");
        let help = if matches!(written.input.kind, TypeKind::Record(_)) {
            format!("add `{lines}`")
        } else {
            format!("write `record {{{lines}}}`")
        };
        let mut diagnostic =
            Diagnostic::new(Code::CreationMissing, written.input.place, message).help(help);
        for (_, slot, _) in &empty {
            let text = match slot {
                Slot::Edge(_) => "leads to exactly one target, from the beginning",
                Slot::State(_) | Slot::Inverse(_) | Slot::Stream(_) => "always has a value",
            };
            diagnostic = diagnostic.also(parts.place(*slot), text);
        }
        self.report.push_absent(names[0], diagnostic);
    }

    /// Returns where the fields of an input stand: in the input itself if they are written
    /// there. Behind a name, the input as a whole is the place to look.
    fn field_places(&self, package: PackageIndex, input: &TypeExpr) -> Vec<Place> {
        match &input.kind {
            TypeKind::Record(fields) => fields.iter().map(|field| field.place).collect(),
            TypeKind::Name(name) => match self.names.thing(package, name) {
                Some(Thing::Type(at)) => {
                    let alias = &self.names.types[at.get()];
                    let inner = self.field_places(alias.package, &alias.ast.ty);
                    vec![input.place; inner.len()]
                }
                _ => Vec::new(),
            },
            TypeKind::Optional(_)
            | TypeKind::List(_)
            | TypeKind::AtomRef(_)
            | TypeKind::InterfaceRef(_)
            | TypeKind::Error => Vec::new(),
        }
    }
}
