//! Atoms and their parts.

use super::types::{argument_records, from_behind, records, shape_records};
use super::{Entry, Printer};
use crate::ast::{Atom, AtomPart, Binding, Implements};
use crate::source::Place;

impl Atom {
    /// Where the parts stand.
    pub(super) fn block(&self) -> Place {
        from_behind(self.id.place, self.place)
    }

    pub(super) fn print(&self, printer: &mut Printer<'_>) {
        printer.heading("atom", &self.name, &self.id);
        printer.push(" ");
        printer.block(["{", "}"], &self.parts, self.place.end as usize, "");
    }
}

impl Entry for AtomPart {
    fn place(&self) -> Place {
        match self {
            Self::State(it) => it.place,
            Self::Edge(it) => it.place,
            Self::Inverse(it) => it.place,
            Self::Stream(it) => it.place,
            Self::Root(it) => it.place,
            Self::Implements(it) => it.place,
        }
    }

    fn blocks(&self) -> Vec<Place> {
        match self {
            Self::State(it) => records(&it.ty),
            Self::Edge(it) => shape_records(&it.shape),
            Self::Inverse(_) => Vec::new(),
            Self::Stream(it) => records(&it.ty),
            Self::Root(it) => records(&it.input),
            Self::Implements(it) => {
                let mut blocks = argument_records(&it.interface);
                blocks.push(from_behind(it.interface.place, it.place));
                blocks
            }
        }
    }

    fn print(&self, printer: &mut Printer<'_>) {
        match self {
            Self::State(it) => {
                printer.heading("state", &it.name, &it.id);
                printer.push(": ");
                printer.ty(&it.ty, 1);
                printer.push(";");
            }
            Self::Edge(it) => {
                printer.heading("edge", &it.name, &it.id);
                printer.push(": ");
                printer.shape(&it.shape, 1);
                printer.push(";");
            }
            Self::Inverse(it) => {
                printer.heading("inverse", &it.name, &it.id);
                printer.push(": ");
                printer.name(&it.atom);
                printer.push(".");
                printer.name(&it.edge);
                for (at, step) in it.key.iter().flatten().enumerate() {
                    printer.push(if at == 0 { " keyed " } else { "." });
                    printer.name(step);
                }
                printer.push(";");
            }
            Self::Stream(it) => {
                printer.heading("stream", &it.name, &it.id);
                printer.push(": ");
                printer.ty(&it.ty, 1);
                printer.push(";");
            }
            Self::Root(it) => {
                printer.push("root input ");
                printer.ty(&it.input, 1);
                printer.push(";");
            }
            Self::Implements(it) => implements(it, printer),
        }
    }
}

/// One without bindings ends in `;`, unless there is a comment to keep between brackets.
fn implements(it: &Implements, printer: &mut Printer<'_>) {
    printer.push("implements ");
    printer.interface(&it.interface, 2);
    if it.bindings.is_empty() && !printer.comment_before(it.place.end as usize) {
        printer.push(";");
    } else {
        printer.push(" ");
        printer.block(["{", "}"], &it.bindings, it.place.end as usize, "");
    }
}

impl Entry for Binding {
    fn place(&self) -> Place {
        self.place
    }

    fn blocks(&self) -> Vec<Place> {
        Vec::new()
    }

    fn print(&self, printer: &mut Printer<'_>) {
        printer.name(&self.member);
        printer.push(" = ");
        printer.name(&self.source);
        if let Some(builtin) = &self.builtin {
            printer.push(".");
            printer.name(builtin);
        }
        printer.push(";");
    }
}
