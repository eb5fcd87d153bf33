//! Inverse edges: what leads here, kept by the runtime.
//!
//! An inverse names an edge of another atom. That edge must be able to lead here, and its key, if
//! any, must be a string that the source always has.

use super::atoms::{Parts, Slot};
use super::{Checker, unknown};
use crate::ast;
use crate::code::Code;
use crate::definitions::{AtomIndex, EdgeTarget, InverseSlot, KeyPath, PackageIndex, Tag, Type};
use crate::diagnostic::Diagnostic;
use crate::difference::{In, same_interface};

/// Returns an inverse that leads nowhere yet.
pub(super) fn unresolved(ast: &ast::InverseSlot) -> InverseSlot {
    InverseSlot {
        name: ast.name.value.clone(),
        id: ast.id.value.clone(),
        tag: Tag::of(&ast.id.value),
        atom: unknown::ATOM,
        edge: 0,
        key: None,
        place: ast.place,
    }
}

impl Checker<'_, '_, '_> {
    /// Resolves the inverses of every atom. Needs what atoms implement.
    pub(super) fn inverses(&mut self) {
        for (at, owned) in (0u32..).map(AtomIndex).zip(&self.names.atoms) {
            let parts = Parts::of(owned.ast);
            for (slot, ast) in parts.inverses.iter().enumerate() {
                let Some((atom, edge)) = self.forward_edge(owned.package, ast) else { continue };
                self.leads_here(at, atom, edge, ast);
                let key = ast.key.as_ref().and_then(|path| self.key_path(atom, path));
                let made = &mut self.made.atoms[at.get()].inverses;
                let first = made[..slot].iter().find(|it| it.atom == atom && it.edge == edge);
                if let Some(first) = first {
                    let message = format!(
                        "`{}` is the inverse of the same edge as `{}`",
                        ast.name.value, first.name
                    );
                    self.report.push(
                        Diagnostic::new(Code::DuplicateInverse, ast.edge.place, message)
                            .also(first.place, "the first stands here"),
                    );
                }
                made[slot] = InverseSlot { atom, edge, key, ..unresolved(ast) };
            }
        }
    }

    /// Returns the edge that an inverse names.
    fn forward_edge(
        &mut self,
        package: PackageIndex,
        ast: &ast::InverseSlot,
    ) -> Option<(AtomIndex, usize)> {
        let atom = self.named_atom(package, &ast.atom)?;
        let source = self.names.atoms[atom.get()].ast;
        let parts = Parts::of(source);
        match parts.slot(&ast.edge.value) {
            Some(Slot::Edge(at)) => Some((atom, at)),
            Some(other) => {
                let message = format!(
                    "`{}` of `{}` is {}, not an edge",
                    ast.edge.value,
                    source.name.value,
                    other.article()
                );
                self.report.push(
                    Diagnostic::new(Code::UnknownEdge, ast.edge.place, message)
                        .also(parts.place(other), "it is defined here"),
                );
                None
            }
            None => {
                let edges = parts.edges.iter().map(|it| it.name.value.as_str());
                let message =
                    format!("`{}` has no edge named `{}`", source.name.value, ast.edge.value);
                let help = self.report.did_you_mean(&ast.edge.value, edges);
                self.report.push_absent(
                    &ast.edge.value,
                    Diagnostic::new(Code::UnknownEdge, ast.edge.place, message)
                        .also(source.name.place, "the atom is defined here")
                        .maybe_help(help),
                );
                None
            }
        }
    }

    /// Checks that an edge can lead to an atom.
    fn leads_here(
        &mut self,
        here: AtomIndex,
        atom: AtomIndex,
        edge: usize,
        ast: &ast::InverseSlot,
    ) {
        let made = &self.made;
        let edge = &made.atoms[atom.get()].edges[edge];
        let leads = match &edge.shape.target {
            EdgeTarget::Atom(target) => *target == here || *target == unknown::ATOM,
            EdgeTarget::Interface(of) => made.atoms[here.get()]
                .implements
                .iter()
                .any(|it| same_interface(In::new(made, &it.interface), In::new(made, of))),
        };
        if leads {
            return;
        }
        let name = &made.atoms[here.get()].name;
        let (target, help) = match &edge.shape.target {
            EdgeTarget::Atom(target) => {
                let target = &made.atoms[target.get()].name;
                (target.clone(), format!("move the inverse to `{target}`"))
            }
            EdgeTarget::Interface(of) => {
                let target = made.interface_text(of);
                let help = format!("let `{name}` implement `{target}`");
                (target, help)
            }
        };
        let message =
            format!("`{}.{}` leads to `{target}`, not to `{name}`", ast.atom.value, edge.name);
        self.report.push(
            Diagnostic::new(Code::InverseElsewhere, ast.edge.place, message)
                .also(edge.place, format!("it leads to `{target}`"))
                .help(help),
        );
    }

    /// Follows the path to a key: a state of the atom, then fields of records, to a string.
    fn key_path(&mut self, atom: AtomIndex, path: &[ast::Name]) -> Option<KeyPath> {
        let (first, below) = path.split_first()?;
        let source = &self.made.atoms[atom.get()];
        let Some(state) = source.states.iter().position(|it| it.name == first.value) else {
            let message = format!("`{}` has no state named `{}`", source.name, first.value);
            let known = source.states.iter().map(|it| it.name.as_str());
            let help = self.report.did_you_mean(&first.value, known);
            self.report.push_absent(
                &first.value,
                Diagnostic::new(Code::InverseKey, first.place, message).maybe_help(help),
            );
            return None;
        };
        let slot = &source.states[state];
        let (place, mut ty, mut last) = (slot.place, &slot.ty, first);
        let mut fields = Vec::new();
        for name in below {
            let Type::Record(record) = self.shape(ty)? else {
                let message = format!(
                    "`{}` is `{}`, which has no fields",
                    last.value,
                    self.made.type_text(ty)
                );
                self.report.push(
                    Diagnostic::new(Code::InverseKey, name.place, message)
                        .also(place, "the state is defined here"),
                );
                return None;
            };
            let Some(at) = record.fields.iter().position(|field| field.name == name.value) else {
                let message = format!("`{}` has no field named `{}`", last.value, name.value);
                let known = record.fields.iter().map(|field| field.name.as_str());
                let help = self.report.did_you_mean(&name.value, known);
                self.report.push(
                    Diagnostic::new(Code::InverseKey, name.place, message)
                        .also(place, "the state is defined here")
                        .maybe_help(help),
                );
                return None;
            };
            fields.push(at);
            (ty, last) = (&record.fields[at].ty, name);
        }
        if !matches!(self.shape(ty)?, Type::String) {
            let message = format!(
                "a key is a `string`, and `{}` is `{}`",
                last.value,
                self.made.type_text(ty)
            );
            let help = match self.shape(ty) {
                Some(Type::Record(record)) => record
                    .fields
                    .iter()
                    .find(|field| matches!(self.shape(&field.ty), Some(Type::String)))
                    .map(|field| format!("add a field: `{}.{}`", last.value, field.name)),
                Some(Type::Optional(_)) => {
                    Some("a key is always there, and this may be absent".to_owned())
                }
                _ => None,
            };
            self.report.push(
                Diagnostic::new(Code::InverseKey, last.place, message)
                    .also(place, "the state is defined here")
                    .maybe_help(help),
            );
            return None;
        }
        Some(KeyPath { state, fields })
    }
}
