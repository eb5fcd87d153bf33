//! State, edge and stream members: each is served by a slot of its kind and shape.

use super::Checker;
use super::atoms::Slot;
use super::implements::{Wanted, excerpt};
use crate::ast;
use crate::code::Code;
use crate::definitions::{Cardinality, EdgeShape, EdgeTarget, MemberKind, Served};
use crate::diagnostic::Diagnostic;
use crate::source::Place;

/// What a help calls the two sides of a member that a slot serves.
const SIDES: [&str; 2] = ["in the member", "in the slot"];

impl Checker<'_, '_, '_> {
    pub(super) fn serve_slot(
        &mut self,
        wanted: &Wanted<'_, '_>,
        kind: &MemberKind,
    ) -> Option<Served> {
        if let Some(builtin) = wanted.binding.and_then(|it| it.builtin.as_ref()) {
            self.report_other_source(
                wanted,
                builtin.place,
                &format!("`{}` is an operation", builtin.value),
            );
            return None;
        }
        let (name, place) = wanted.source();
        let Some(slot) = wanted.parts.slot(name) else {
            self.report_no_slot(wanted, kind);
            return None;
        };
        let served = match (kind, slot) {
            (MemberKind::State(_), Slot::State(at)) => Served::State(at),
            (MemberKind::Edge(_), Slot::Edge(at)) => Served::Edge(at),
            (MemberKind::Edge(_), Slot::Inverse(at)) => Served::Inverse(at),
            (MemberKind::Stream(_), Slot::Stream(at)) => Served::Stream(at),
            _ => {
                self.report_other_slot(wanted, name, place, slot);
                return None;
            }
        };
        self.compare_slot(wanted, kind, slot);
        Some(served)
    }

    fn compare_slot(&mut self, wanted: &Wanted<'_, '_>, kind: &MemberKind, slot: Slot) {
        let atom = &self.made.atoms[wanted.block.atom.get()];
        let mismatch = match (kind, slot) {
            (MemberKind::State(ty), Slot::State(at)) => {
                self.mismatch(ty, &atom.states[at].ty, SIDES)
            }
            (MemberKind::Stream(ty), Slot::Stream(at)) => {
                self.mismatch(ty, &atom.streams[at].ty, SIDES)
            }
            (MemberKind::Edge(shape), Slot::Edge(at)) => {
                self.shape_mismatch(shape, &atom.edges[at].shape)
            }
            (MemberKind::Edge(shape), Slot::Inverse(at)) => {
                let inverse = &atom.inverses[at];
                self.shape_mismatch(
                    shape,
                    &EdgeShape {
                        cardinality: Cardinality::ManyUnique,
                        target: EdgeTarget::Atom(inverse.atom),
                        keyed: wanted.parts.inverses[at].key.is_some(),
                    },
                )
            }
            _ => None,
        };
        let Some((member, found, help)) = mismatch else { return };
        let name = &wanted.member.name.value;
        let place = wanted.parts.place(slot);
        let message =
            format!("the member `{name}` is `{member}`, but the slot that serves it is `{found}`");
        let mut diagnostic = Diagnostic::new(Code::OtherShape, place, message)
            .label("this serves it")
            .also(excerpt(wanted.member), "the member is defined here")
            .maybe_help(help);
        if let Some(binding) = wanted.binding {
            diagnostic = diagnostic.also(binding.place, "it is bound here");
        }
        self.report.push(diagnostic);
    }

    fn report_no_slot(&mut self, wanted: &Wanted<'_, '_>, kind: &MemberKind) {
        let atom = &self.names.atoms[wanted.block.atom.get()].ast.name;
        let member = &wanted.member.name.value;
        let diagnostic = match wanted.binding {
            Some(binding) => {
                let name = &binding.source.value;
                let is_operation = self.names.operation(wanted.block.package, name).is_some();
                if is_operation {
                    self.report_other_source(
                        wanted,
                        binding.source.place,
                        &format!("`{name}` is an operation"),
                    );
                    return;
                }
                let message = format!("`{}` has no slot named `{name}`", atom.value);
                Diagnostic::new(Code::UnknownSlot, binding.source.place, message)
                    .also(excerpt(wanted.member), "the member is defined here")
                    .maybe_help(self.report.did_you_mean(name, wanted.parts.slot_names()))
            }
            None => {
                let message = format!("nothing in `{}` serves the member `{member}`", atom.value);
                let slots = wanted.parts.slots().filter(|(_, _, slot)| can_serve(kind, *slot));
                let near = self.report.meant(member, slots.map(|(name, _, _)| name.value.as_str()));
                let help = match near {
                    Some(slot) => format!("bind it to the slot `{slot}`: `{member} = {slot};`"),
                    None => self.slot_line(member, kind),
                };
                Diagnostic::new(Code::Unserved, wanted.block.ast.interface.place, message)
                    .also(excerpt(wanted.member), "the member is defined here")
                    .help(help)
            }
        };
        let name = wanted.source().0.to_owned();
        self.report.push_absent(&name, diagnostic);
    }

    /// Returns the advice to add the slot that a member lacks.
    fn slot_line(&self, name: &str, kind: &MemberKind) -> String {
        let written = self.made.member_text(kind, &[]);
        let (word, rest) = written.split_once(' ').unwrap_or((&written, ""));
        format!("add `{word} {name} id \"{name}\": {rest};`")
    }

    pub(super) fn report_other_source(
        &mut self,
        wanted: &Wanted<'_, '_>,
        place: Place,
        found: &str,
    ) {
        let diagnostic = other_source(wanted, place, found);
        self.report.push(diagnostic);
    }

    pub(super) fn report_other_slot(
        &mut self,
        wanted: &Wanted<'_, '_>,
        name: &str,
        place: Place,
        slot: Slot,
    ) {
        let found = format!("`{name}` is {}", slot.article());
        let diagnostic = other_source(wanted, place, &found)
            .also(wanted.parts.place(slot), "the slot is defined here");
        let append = matches!(
            (&wanted.member.kind, slot),
            (ast::MemberKind::Operation { .. }, Slot::Stream(_))
        )
        .then(|| format!("bind it to what a stream can do: `{name}.append`"));
        self.report.push(diagnostic.maybe_help(append));
    }
}

/// Tells whether a slot is of the kind that serves a member.
fn can_serve(kind: &MemberKind, slot: Slot) -> bool {
    matches!(
        (kind, slot),
        (MemberKind::State(_), Slot::State(_))
            | (MemberKind::Edge(_), Slot::Edge(_) | Slot::Inverse(_))
            | (MemberKind::Stream(_), Slot::Stream(_))
    )
}

fn other_source(wanted: &Wanted<'_, '_>, place: Place, found: &str) -> Diagnostic {
    let member = &wanted.member.name.value;
    let kind = match wanted.member.kind {
        ast::MemberKind::State { .. } => "a state",
        ast::MemberKind::Edge { .. } => "an edge",
        ast::MemberKind::Stream { .. } => "a stream",
        ast::MemberKind::Operation { .. } => "an operation",
    };
    let message = format!("{found}, but the member `{member}` is {kind}");
    Diagnostic::new(Code::OtherSource, place, message)
        .also(excerpt(wanted.member), "the member is defined here")
}
