//! Linking: every requirement of every operation against every atom that it will meet.
//!
//! An operation runs on the atoms that bind it. Each of them must have the slots that the
//! operation asks for, of the same type and shape. A query may call only what is served by
//! queries, in every atom.

use super::atoms::{Parts, Slot};
use super::{Bound, Checker};
use crate::ast;
use crate::code::Code;
use crate::definitions::{
    AtomIndex, Cardinality, Definitions, EdgeShape, EdgeTarget, Execution, InterfaceType,
    OperationIndex, RequirementKind, Served,
};
use crate::diagnostic::Diagnostic;
use crate::difference::{In, same_interface};
use crate::report::Report;
use crate::resolve::Names;

/// What a help calls the two sides of a requirement that a slot should meet.
const SIDES: [&str; 2] = ["in the requirement", "in the slot"];

impl Checker<'_, '_, '_> {
    /// Links the set.
    pub(super) fn link(&mut self) {
        let bound = std::mem::take(&mut self.bound);
        let mut met: Vec<(OperationIndex, AtomIndex)> = Vec::new();
        for line in &bound {
            if let Some(operation) = line.operation()
                && !met.contains(&(operation, line.atom))
            {
                met.push((operation, line.atom));
                self.link_operation(operation, line);
            }
        }
        for at in (0u32..).map(OperationIndex).take(self.made.operations.len()) {
            if self.made.operations[at.get()].execution == Execution::Query {
                self.link_query(at, &bound);
            }
        }
    }

    /// Checks what an operation requires of its receiver against an atom that binds it.
    fn link_operation(&mut self, operation: OperationIndex, line: &Bound) {
        let ast = self.names.operations[operation.get()].ast;
        let atom = self.names.atoms[line.atom.get()].ast;
        let parts = Parts::of(atom);
        for (at, written) in ast.requirements.iter().enumerate() {
            if matches!(
                written.kind,
                ast::RequirementKind::Creation { .. } | ast::RequirementKind::Interface { .. }
            ) {
                continue;
            }
            let meeting = Meeting { operation, at, written, line, atom, parts: &parts };
            match parts.slot_of_id(&written.id.value) {
                Some(slot) => self.link_slot(&meeting, slot),
                None => self.report_missing_slot(&meeting),
            }
        }
    }

    fn link_slot(&mut self, meeting: &Meeting<'_, '_>, slot: Slot) {
        let made = &self.made.operations[meeting.operation.get()].requirements[meeting.at].kind;
        let atom = &self.made.atoms[meeting.line.atom.get()];
        let mismatch = match (made, slot) {
            (RequirementKind::State { ty, .. }, Slot::State(at)) => {
                self.mismatch(ty, &atom.states[at].ty, SIDES)
            }
            (RequirementKind::Stream { ty, .. }, Slot::Stream(at)) => {
                self.mismatch(ty, &atom.streams[at].ty, SIDES)
            }
            (RequirementKind::Edge { shape, .. }, Slot::Edge(at)) => {
                self.shape_mismatch(shape, &atom.edges[at].shape)
            }
            (RequirementKind::Edge { shape, .. }, Slot::Inverse(at)) => {
                let found = EdgeShape {
                    cardinality: Cardinality::ManyUnique,
                    target: EdgeTarget::Atom(atom.inverses[at].atom),
                    keyed: meeting.parts.inverses[at].key.is_some(),
                };
                let mismatch = self.shape_mismatch(shape, &found);
                if mismatch.is_none() {
                    self.unchanged_inverse(meeting, slot);
                }
                mismatch
            }
            _ => {
                self.report_slot_kind(meeting, slot);
                return;
            }
        };
        let Some((wanted, found, help)) = mismatch else { return };
        let message = format!(
            "`{}` requires `{}` to be `{wanted}`, but in `{}` it is `{found}`",
            meeting.operation_name(self.names),
            meeting.written.id.value,
            meeting.atom.name.value
        );
        self.report.push(
            Diagnostic::new(Code::OtherSlotShape, meeting.written.place, message)
                .also(meeting.parts.place(slot), "the slot")
                .also(meeting.line.place, "the operation is bound here")
                .maybe_help(help),
        );
    }

    /// Reports verbs that would change an inverse.
    fn unchanged_inverse(&mut self, meeting: &Meeting<'_, '_>, slot: Slot) {
        let ast::RequirementKind::Edge { verbs, .. } = &meeting.written.kind else { return };
        let changing = verbs.words.iter().filter(|it| it.value != "resolve");
        for word in changing {
            let message = format!(
                "`{}` of `{}` is an inverse, which has no `{}`",
                meeting.written.name.value, meeting.atom.name.value, word.value
            );
            self.report.push(
                Diagnostic::new(Code::InverseChanged, word.place, message)
                    .also(meeting.parts.place(slot), "the runtime keeps it")
                    .also(meeting.line.place, "the operation is bound here")
                    .help("change the edge that it is the inverse of"),
            );
        }
    }

    fn report_slot_kind(&mut self, meeting: &Meeting<'_, '_>, slot: Slot) {
        let wanted = match meeting.written.kind {
            ast::RequirementKind::State { .. } => "a state",
            ast::RequirementKind::Edge { .. } => "an edge",
            ast::RequirementKind::Stream { .. }
            | ast::RequirementKind::Creation { .. }
            | ast::RequirementKind::Interface { .. } => "a stream",
        };
        let message = format!(
            "`{}` requires {wanted} of the id `{}`, but in `{}` that is {}",
            meeting.operation_name(self.names),
            meeting.written.id.value,
            meeting.atom.name.value,
            slot.article()
        );
        self.report.push(
            Diagnostic::new(Code::OtherSlot, meeting.written.place, message)
                .also(meeting.parts.place(slot), "the slot")
                .also(meeting.line.place, "the operation is bound here"),
        );
    }

    fn report_missing_slot(&mut self, meeting: &Meeting<'_, '_>) {
        let id = &meeting.written.id.value;
        let message = format!(
            "`{}` requires a slot of the id `{id}`, but `{}` has none",
            meeting.operation_name(self.names),
            meeting.atom.name.value
        );
        let named = meeting
            .parts
            .slots()
            .find(|(name, _, _)| name.value == meeting.written.name.value)
            .map(|(name, id, _)| format!("the slot `{}` has the id `{}`", name.value, id.value));
        let ids = meeting.parts.slots().map(|(_, id, _)| id.value.as_str());
        let help = named.or_else(|| self.report.did_you_mean(id, ids)).unwrap_or_else(|| {
            format!("add `{}` to `{}`", self.required_line(meeting), meeting.atom.name.value)
        });
        self.report.push_absent(
            id,
            Diagnostic::new(Code::MissingSlot, meeting.written.place, message)
                .also(meeting.atom.name.place, "the atom is defined here")
                .also(meeting.line.place, "the operation is bound here")
                .help(help),
        );
    }

    /// Returns the line that defines the slot of a requirement.
    fn required_line(&self, meeting: &Meeting<'_, '_>) -> String {
        let made = &self.made.operations[meeting.operation.get()].requirements[meeting.at];
        let (word, ty) = match &made.kind {
            RequirementKind::State { ty, .. } => ("state", self.made.type_text(ty)),
            RequirementKind::Stream { ty, .. } => ("stream", self.made.type_text(ty)),
            RequirementKind::Edge { shape, .. } => ("edge", self.made.shape_text(shape)),
            RequirementKind::Creation(_) | RequirementKind::Interface { .. } => {
                return String::new();
            }
        };
        format!("{word} {} id \"{}\": {ty};", made.name, made.id)
    }

    /// Checks that whatever a query calls is a query.
    fn link_query(&mut self, query: OperationIndex, bound: &[Bound]) {
        let ast = self.names.operations[query.get()].ast;
        for (at, written) in ast.requirements.iter().enumerate() {
            let ast::RequirementKind::Interface { using, .. } = &written.kind else { continue };
            let made = &self.made.operations[query.get()].requirements[at].kind;
            let RequirementKind::Interface { interface, using: granted } = made else { continue };
            let mut found = Vec::new();
            for used in granted {
                let name = &self.member_name(interface, used.member);
                let Some(place) = using.iter().find(|it| it.member.value == *name) else {
                    continue;
                };
                let writer = bound.iter().find(|line| {
                    line.member == used.member
                        && self.writes(line)
                        && same_interface(
                            In::new(&self.made, &line.interface),
                            In::new(&self.made, interface),
                        )
                });
                if let Some(line) = writer {
                    found.push((place, line));
                }
            }
            for (used, line) in found {
                self.report_query_call(ast, used, line);
            }
        }
    }

    fn report_query_call(&mut self, query: &ast::Operation, used: &ast::Use, line: &Bound) {
        let atom = &self.names.atoms[line.atom.get()].ast.name.value;
        let serves = match line.operation() {
            Some(at) => {
                format!("`{}`, a transaction", self.names.operations[at.get()].ast.name.value)
            }
            None => "the built-in `append`, which writes".to_owned(),
        };
        let message = format!(
            "`{}` is a query, and `{}` of `{atom}` is served by {serves}",
            query.name.value, used.member.value
        );
        let mut diagnostic = Diagnostic::new(Code::QueryCalls, used.place, message)
            .also(query.execution.place, "a query only reads")
            .also(line.place, "the member is bound here")
            .help("make it `execution transaction`, or let a query serve the member");
        if let Some(at) = line.operation() {
            let place = self.names.operations[at.get()].ast.execution.place;
            diagnostic = diagnostic.also(place, "this may write");
        }
        self.report.push(diagnostic);
    }

    fn member_name(&self, of: &InterfaceType, member: usize) -> String {
        self.made.interfaces[of.interface.get()].members[member].name.clone()
    }

    fn writes(&self, line: &Bound) -> bool {
        match line.served {
            Served::Operation(at) => {
                self.made.operations[at.get()].execution == Execution::Transaction
            }
            Served::Append(_) => true,
            Served::State(_) | Served::Edge(_) | Served::Inverse(_) | Served::Stream(_) => false,
        }
    }
}

/// A requirement and an atom that it will meet.
struct Meeting<'m, 'a> {
    operation: OperationIndex,
    /// The position of the requirement.
    at: usize,
    written: &'a ast::Requirement,
    /// What binds the operation to the atom.
    line: &'m Bound,
    atom: &'a ast::Atom,
    parts: &'m Parts<'a>,
}

impl Meeting<'_, '_> {
    fn operation_name<'n>(&self, names: &Names<'n>) -> &'n str {
        &names.operations[self.operation.get()].ast.name.value
    }
}

/// Warns of what a set without errors has no use for: names brought and not used, operations that
/// nothing binds, requirements that no reference can meet. A library may be meant so: a host that
/// is not in the set may bind and implement what it offers.
pub(super) fn warn(names: &Names<'_>, made: &Definitions, report: &mut Report<'_>) {
    names.warn_unused(report);
    for (operation, owned) in made.operations.iter().zip(&names.operations) {
        if operation.receivers.is_empty() {
            let message = format!("no atom binds `{}`", operation.name);
            report.push(
                Diagnostic::new(Code::UnboundOperation, owned.ast.name.place, message)
                    .help("bind it where an atom implements its interface: `MEMBER = OPERATION;`"),
            );
        }
        for (requirement, written) in operation.requirements.iter().zip(&owned.ast.requirements) {
            warn_unmet(names, made, &requirement.kind, written, report);
        }
    }
}

fn warn_unmet(
    names: &Names<'_>,
    made: &Definitions,
    kind: &RequirementKind,
    written: &ast::Requirement,
    report: &mut Report<'_>,
) {
    let RequirementKind::Interface { interface, .. } = kind else { return };
    let ast::RequirementKind::Interface { interface: name, .. } = &written.kind else { return };
    if made.atoms().all(|(at, _)| made.implementation(at, interface).is_none()) {
        let text = made.interface_text(interface);
        let defined = names.interfaces[interface.interface.get()].ast;
        let message =
            format!("no atom implements `{text}`, so `{}` grants nothing", written.name.value);
        report.push(
            Diagnostic::new(Code::UnmetInterface, name.place, message)
                .also(defined.name.place, "the interface is defined here"),
        );
    }
}
