//! Interfaces: what can be done with an object, whatever atom it is of.

use super::{Checker, Scope};
use crate::ast;
use crate::code::Code;
use crate::definitions::{Interface, Member, MemberKind, Verb};
use crate::diagnostic::Diagnostic;

use super::once::Twice;
use super::types::Unit;

impl Checker<'_, '_, '_> {
    /// Makes the interfaces.
    pub(super) fn interfaces(&mut self) {
        for owned in &self.names.interfaces {
            let ast = owned.ast;
            self.parameters(&ast.parameters);
            let scope = Scope { package: owned.package, parameters: &ast.parameters };
            self.member_names(ast);
            let members = ast.members.iter().map(|member| self.member(scope, member)).collect();
            self.made.interfaces.push(Interface {
                name: ast.name.value.clone(),
                id: ast.id.value.clone(),
                package: owned.package,
                parameters: ast.parameters.iter().map(|name| name.value.clone()).collect(),
                members,
                place: ast.place,
            });
        }
    }

    fn member(&mut self, scope: Scope<'_>, member: &ast::Member) -> Member {
        if let Some(place) = member.internal
            && !matches!(member.kind, ast::MemberKind::Operation { .. })
        {
            self.report.push(
                Diagnostic::new(
                    Code::InternalNotOperation,
                    place,
                    format!("`{}` is not an operation", member.name.value),
                )
                .label("only an operation can be internal")
                .help("remove `internal`: what is read needs no door of its own"),
            );
        }
        Member {
            name: member.name.value.clone(),
            internal: member.internal.is_some(),
            kind: self.member_kind(scope, &member.kind),
            place: member.place,
        }
    }

    fn member_kind(&mut self, scope: Scope<'_>, kind: &ast::MemberKind) -> MemberKind {
        match kind {
            ast::MemberKind::State { ty, verbs } => {
                self.verbs(verbs, &[Verb::Get], "a state member");
                MemberKind::State(self.ty(scope, ty, Unit::Refused))
            }
            ast::MemberKind::Edge { shape, verbs } => {
                self.verbs(verbs, &[Verb::Resolve], "an edge member");
                MemberKind::Edge(self.edge_shape(scope, shape))
            }
            ast::MemberKind::Stream { ty, verbs } => {
                self.verbs(verbs, &[Verb::Read], "a stream member");
                MemberKind::Stream(self.ty(scope, ty, Unit::Refused))
            }
            ast::MemberKind::Operation { input, output } => MemberKind::Operation {
                input: self.ty(scope, input, Unit::Allowed),
                output: self.ty(scope, output, Unit::Allowed),
            },
        }
    }

    fn member_names(&mut self, interface: &ast::Interface) {
        let names = interface.members.iter().map(|it| (it.name.value.as_str(), it.name.place));
        let twice =
            Twice { code: Code::DuplicateMember, message: "two members named {}", help: None };
        self.once(names, &twice);
    }
}
