//! Interfaces and their members.

use super::types::{from_behind, records, shape_records};
use super::{Entry, Printer};
use crate::ast::{Interface, Member, MemberKind};
use crate::literal::quoted;
use crate::source::Place;

impl Interface {
    /// Where the members stand.
    pub(super) fn block(&self) -> Place {
        from_behind(self.id.place, self.place)
    }

    pub(super) fn print(&self, printer: &mut Printer<'_>) {
        printer.push("interface ");
        printer.name(&self.name);
        for (at, parameter) in self.parameters.iter().enumerate() {
            printer.push(if at == 0 { "<" } else { ", " });
            printer.name(parameter);
        }
        printer.push(if self.parameters.is_empty() { " id " } else { "> id " });
        printer.push(&quoted(&self.id.value));
        printer.push(" ");
        printer.block(["{", "}"], &self.members, self.place.end as usize, "");
    }
}

impl Entry for Member {
    fn place(&self) -> Place {
        self.place
    }

    fn blocks(&self) -> Vec<Place> {
        match &self.kind {
            MemberKind::State { ty, verbs } | MemberKind::Stream { ty, verbs } => {
                with(records(ty), verbs.place)
            }
            MemberKind::Edge { shape, verbs } => with(shape_records(shape), verbs.place),
            MemberKind::Operation { input, output } => {
                let mut blocks = records(input);
                blocks.extend(records(output));
                blocks
            }
        }
    }

    fn print(&self, printer: &mut Printer<'_>) {
        if self.internal.is_some() {
            printer.push("internal ");
        }
        printer.push(match self.kind {
            MemberKind::State { .. } => "state ",
            MemberKind::Edge { .. } => "edge ",
            MemberKind::Stream { .. } => "stream ",
            MemberKind::Operation { .. } => "operation ",
        });
        printer.name(&self.name);
        printer.push(":");
        match &self.kind {
            MemberKind::State { ty, verbs } | MemberKind::Stream { ty, verbs } => {
                printer.granted(|printer, rest| printer.ty(ty, rest), verbs);
            }
            MemberKind::Edge { shape, verbs } => {
                printer.granted(|printer, rest| printer.shape(shape, rest), verbs);
            }
            MemberKind::Operation { input, output } => printer.signature(input, output, 1),
        }
        printer.push(";");
    }
}

/// The blocks, and one more behind them.
pub(super) fn with(mut blocks: Vec<Place>, last: Place) -> Vec<Place> {
    blocks.push(last);
    blocks
}

impl Printer<'_> {
    /// Prints ` ` and something and the verbs that it is granted with.
    pub(super) fn granted(
        &mut self,
        what: impl FnOnce(&mut Self, usize),
        verbs: &crate::ast::Verbs,
    ) {
        self.push(" ");
        let words = verbs.words.iter().map(|word| word.value.chars().count() + 2).sum::<usize>();
        // ` [`, the words with `, ` or `]` and `;` behind each.
        what(self, 2 + words);
        self.push(" ");
        self.verbs(verbs, 1);
    }
}
