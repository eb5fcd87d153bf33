//! What an atom implements: every member of the interface is served, by something of its shape.
//!
//! A state, edge or stream member is served by the slot of its name, or by the slot that a
//! binding names. An operation member needs a binding: to an operation, or to the built-in
//! `append` of a stream.

use super::atoms::Parts;
use super::once::Twice;
use super::{Bound, Checker, Scope};
use crate::ast;
use crate::code::Code;
use crate::definitions::{AtomIndex, Implementation, MemberKind, PackageIndex, Served};
use crate::diagnostic::Diagnostic;
use crate::difference::{In, same_interface};
use crate::source::Place;

/// An `implements` block, with the place that it has in [`Atom::implements`].
///
/// [`Atom::implements`]: crate::definitions::Atom::implements
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) package: PackageIndex,
    pub(super) atom: AtomIndex,
    at: usize,
    pub(super) ast: &'a ast::Implements,
}

/// A member that is to be served.
pub(super) struct Wanted<'w, 'a> {
    pub(super) block: Block<'a>,
    pub(super) parts: &'w Parts<'a>,
    /// The member as the interface defines it.
    pub(super) member: &'a ast::Member,
    pub(super) binding: Option<&'a ast::Binding>,
}

impl Wanted<'_, '_> {
    /// Returns what says which source serves the member: the binding, or the interface's name.
    pub(super) fn place(&self) -> Place {
        self.binding.map_or(self.block.ast.interface.place, |it| it.place)
    }

    /// Returns the name of the slot that should serve the member.
    pub(super) fn source(&self) -> (&str, Place) {
        match self.binding {
            Some(binding) => (&binding.source.value, binding.source.place),
            None => (&self.member.name.value, self.block.ast.interface.place),
        }
    }
}

impl Checker<'_, '_, '_> {
    /// Resolves which interfaces the atoms implement.
    pub(super) fn implementations(&mut self) {
        for (atom, owned) in (0u32..).map(AtomIndex).zip(&self.names.atoms) {
            for ast in Parts::of(owned.ast).implements {
                let scope = Scope::of(owned.package);
                let Some(interface) = self.interface_type(scope, &ast.interface) else { continue };
                let made = &self.made.atoms[atom.get()].implements;
                let at = made.len();
                let first = made.iter().position(|it| {
                    same_interface(
                        In::new(&self.made, &it.interface),
                        In::new(&self.made, &interface),
                    )
                });
                let first = self
                    .implementations
                    .iter()
                    .find(|it| it.atom == atom && Some(it.at) == first)
                    .map(|it| it.ast.interface.place);
                if let Some(first) = first {
                    let message = format!(
                        "`{}` implements `{}` twice",
                        owned.ast.name.value,
                        self.made.interface_text(&interface)
                    );
                    self.report.push(
                        Diagnostic::new(Code::ImplementedTwice, ast.interface.place, message)
                            .also(first, "the first stands here"),
                    );
                }
                self.implementations.push(Block { package: owned.package, atom, at, ast });
                self.made.atoms[atom.get()].implements.push(Implementation {
                    interface,
                    members: Vec::new(),
                    place: ast.place,
                });
            }
        }
    }

    /// Finds out what serves each member. Needs operations, and what inverses lead to.
    pub(super) fn members(&mut self) {
        for block in std::mem::take(&mut self.implementations) {
            self.block(block);
        }
    }

    fn block(&mut self, block: Block<'_>) {
        let of = self.made.atoms[block.atom.get()].implements[block.at].interface.clone();
        let interface = self.names.interfaces[of.interface.get()].ast;
        self.bindings(interface, block.ast);
        let parts = Parts::of(self.names.atoms[block.atom.get()].ast);
        for (at, member) in interface.members.iter().enumerate() {
            let binding = block.ast.bindings.iter().find(|it| it.member.value == member.name.value);
            let kind = self.made.member_kind(&of, at);
            let wanted = Wanted { block, parts: &parts, member, binding };
            let Some(served) = self.serve(&wanted, &kind) else { continue };
            self.made.atoms[block.atom.get()].implements[block.at].members.push(served);
            if let Served::Operation(operation) = served {
                let receivers = &mut self.made.operations[operation.get()].receivers;
                if !receivers.contains(&block.atom) {
                    receivers.push(block.atom);
                }
            }
            self.bound.push(Bound {
                atom: block.atom,
                interface: of.clone(),
                member: at,
                served,
                place: wanted.place(),
            });
        }
    }

    /// Checks that bindings bind members, each once.
    fn bindings(&mut self, interface: &ast::Interface, ast: &ast::Implements) {
        let twice = Twice { code: Code::BoundTwice, message: "{} is bound twice", help: None };
        let names = ast.bindings.iter().map(|it| (it.member.value.as_str(), it.member.place));
        self.once(names, &twice);
        for binding in &ast.bindings {
            let name = &binding.member;
            if interface.members.iter().all(|it| it.name.value != name.value) {
                self.report_unknown_member(interface, name);
            }
        }
    }

    /// Reports a member that an interface does not have.
    pub(super) fn report_unknown_member(&mut self, interface: &ast::Interface, name: &ast::Name) {
        let known = interface.members.iter().map(|it| it.name.value.as_str());
        let message = format!("`{}` has no member named `{}`", interface.name.value, name.value);
        let help = self.report.did_you_mean(&name.value, known);
        self.report.push_absent(
            &name.value,
            Diagnostic::new(Code::UnknownMember, name.place, message)
                .also(interface.name.place, "the interface is defined here")
                .maybe_help(help),
        );
    }

    fn serve(&mut self, wanted: &Wanted<'_, '_>, kind: &MemberKind) -> Option<Served> {
        match kind {
            MemberKind::Operation { input, output } => self.serve_operation(wanted, input, output),
            MemberKind::State(_) | MemberKind::Edge(_) | MemberKind::Stream(_) => {
                self.serve_slot(wanted, kind)
            }
        }
    }
}

/// Returns the part of a member that a report shows: all of it, but of an operation, which may be
/// long, up to its name.
pub(super) fn excerpt(member: &ast::Member) -> Place {
    match member.kind {
        ast::MemberKind::Operation { .. } => member.place.up_to(member.name.place),
        ast::MemberKind::State { .. }
        | ast::MemberKind::Edge { .. }
        | ast::MemberKind::Stream { .. } => member.place,
    }
}
