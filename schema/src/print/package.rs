//! Packages, their operations, and what those require.

use super::interface::with;
use super::types::{argument_records, between, flat_use, from_behind, records, shape_records};
use super::{Entry, Printer};
use crate::ast::{Operation, Package, Requirement, RequirementKind};
use crate::literal::quoted;
use crate::source::Place;

impl Package {
    /// Where the operations stand.
    pub(super) fn block(&self) -> Place {
        from_behind(self.revision.place, self.place)
    }

    pub(super) fn print(&self, printer: &mut Printer<'_>) {
        printer.heading("package", &self.name, &self.id);
        printer.push(" revision ");
        printer.push(&quoted(&self.revision.value));
        printer.push(" ");
        printer.block(["{", "}"], &self.operations, self.place.end as usize, "");
    }
}

impl Entry for Operation {
    fn place(&self) -> Place {
        self.place
    }

    fn blocks(&self) -> Vec<Place> {
        let mut blocks = records(&self.input);
        blocks.extend(records(&self.output));
        blocks.push(self.targets.place);
        with(blocks, from_behind(self.receiver.place, self.place))
    }

    fn print(&self, printer: &mut Printer<'_>) {
        printer.heading("operation", &self.name, &self.id);
        printer.push(":");
        printer.signature(&self.input, &self.output, 0);
        // The clauses always have lines of their own: operations differ in the first line and in
        // what they require.
        printer.push("\n");
        printer.depth += 1;
        printer.start_line();
        for (word, value) in [("mode ", &self.mode), (" execution ", &self.execution)] {
            printer.push(word);
            printer.name(value);
        }
        printer.push(" targets ");
        printer.verbs(&self.targets, " receiver ".len() + self.receiver.value.chars().count());
        printer.push(" receiver ");
        printer.name(&self.receiver);
        printer.depth -= 1;
        printer.push("\n");
        printer.start_line();
        printer.push("requires ");
        printer.block(["{", "}"], &self.requirements, self.place.end as usize, "");
        printer.push(";");
    }
}

impl Entry for Requirement {
    fn place(&self) -> Place {
        self.place
    }

    fn blocks(&self) -> Vec<Place> {
        match &self.kind {
            RequirementKind::State { ty, verbs } | RequirementKind::Stream { ty, verbs } => {
                with(records(ty), verbs.place)
            }
            RequirementKind::Edge { shape, verbs } => with(shape_records(shape), verbs.place),
            RequirementKind::Creation { input, .. } => records(input),
            RequirementKind::Interface { interface, from, .. } => {
                with(argument_records(interface), between(interface.place, from.place))
            }
        }
    }

    fn print(&self, printer: &mut Printer<'_>) {
        let kind = match self.kind {
            RequirementKind::State { .. } => "state",
            RequirementKind::Edge { .. } => "edge",
            RequirementKind::Stream { .. } => "stream",
            RequirementKind::Creation { .. } => "creation",
            RequirementKind::Interface { .. } => "interface",
        };
        printer.heading(kind, &self.name, &self.id);
        printer.push(":");
        match &self.kind {
            RequirementKind::State { ty, verbs } | RequirementKind::Stream { ty, verbs } => {
                printer.granted(|printer, rest| printer.ty(ty, rest), verbs);
            }
            RequirementKind::Edge { shape, verbs } => {
                printer.granted(|printer, rest| printer.shape(shape, rest), verbs);
            }
            RequirementKind::Creation { atom, input } => {
                printer.push(" ");
                printer.name(atom);
                printer.push(" input ");
                printer.ty(input, 1);
            }
            RequirementKind::Interface { interface, using, from } => {
                printer.push(" ");
                printer.interface(interface, " using [".len());
                printer.push(" using ");
                let rest = " from ".len() + from.value.chars().count() + 1;
                printer.list(using, between(interface.place, from.place), rest, flat_use);
                printer.push(" from ");
                printer.name(from);
            }
        }
        printer.push(";");
    }
}
