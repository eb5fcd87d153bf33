//! Operation members: each is served by an operation of its signature, or by the built-in
//! `append` of a stream.

use super::Checker;
use super::atoms::Slot;
use super::implements::{Wanted, excerpt};
use crate::ast;
use crate::code::Code;
use crate::definitions::{Served, Type};
use crate::diagnostic::Diagnostic;
use crate::source::Place;

impl Checker<'_, '_, '_> {
    pub(super) fn serve_operation(
        &mut self,
        wanted: &Wanted<'_, '_>,
        input: &Type,
        output: &Type,
    ) -> Option<Served> {
        let Some(binding) = wanted.binding else {
            self.report_unbound(wanted);
            return None;
        };
        match &binding.builtin {
            Some(builtin) => self.serve_append(wanted, binding, builtin, input, output),
            None => self.serve_bound(wanted, binding, input, output),
        }
    }

    fn serve_bound(
        &mut self,
        wanted: &Wanted<'_, '_>,
        binding: &ast::Binding,
        input: &Type,
        output: &Type,
    ) -> Option<Served> {
        let name = &binding.source;
        let slot = wanted.parts.slot(&name.value);
        if let Some(slot) = slot
            && self.names.operation(wanted.block.package, &name.value).is_none()
        {
            self.report_other_slot(wanted, &name.value, name.place, slot);
            return None;
        }
        let at = self.named_operation(wanted.block.package, name)?;
        let operation = &self.made.operations[at.get()];
        let (of_input, of_output) = (operation.input.clone(), operation.output.clone());
        let ast = self.names.operations[at.get()].ast;
        self.compare_signature(wanted, "input", input, &of_input, ast.input.place);
        self.compare_signature(wanted, "output", output, &of_output, ast.output.place);
        Some(Served::Operation(at))
    }

    fn compare_signature(
        &mut self,
        wanted: &Wanted<'_, '_>,
        side: &str,
        member: &Type,
        found: &Type,
        place: Place,
    ) {
        let sides = ["in the member", "in the operation"];
        let Some((member, found, help)) = self.mismatch(member, found, sides) else { return };
        let name = &wanted.member.name.value;
        let source = wanted.source().0;
        let written = match &wanted.member.kind {
            ast::MemberKind::Operation { input, .. } if side == "input" => input.place,
            ast::MemberKind::Operation { output, .. } => output.place,
            ast::MemberKind::State { .. }
            | ast::MemberKind::Edge { .. }
            | ast::MemberKind::Stream { .. } => wanted.member.place,
        };
        let message = format!("`{source}` has another {side} than the member `{name}`");
        self.report.push(
            Diagnostic::new(Code::OtherShape, wanted.place(), message)
                .also(place, format!("the {side} of the operation is `{found}`"))
                .also(written, format!("the {side} of the member is `{member}`"))
                .maybe_help(help),
        );
    }

    fn serve_append(
        &mut self,
        wanted: &Wanted<'_, '_>,
        binding: &ast::Binding,
        builtin: &ast::Name,
        input: &Type,
        output: &Type,
    ) -> Option<Served> {
        let name = &binding.source;
        let Some(slot) = wanted.parts.slot(&name.value) else {
            let atom = &self.names.atoms[wanted.block.atom.get()].ast.name.value;
            let streams = wanted.parts.streams.iter().map(|it| it.name.value.as_str());
            let message = format!("`{atom}` has no stream named `{}`", name.value);
            self.report.push_absent(
                &name.value,
                Diagnostic::new(Code::UnknownSlot, name.place, message)
                    .maybe_help(self.report.did_you_mean(&name.value, streams)),
            );
            return None;
        };
        let (Slot::Stream(at), "append") = (slot, builtin.value.as_str()) else {
            let message =
                format!("{} has no built-in operation `{}`", slot.article(), builtin.value);
            self.report.push(
                Diagnostic::new(Code::UnknownBuiltIn, builtin.place, message)
                    .also(wanted.parts.place(slot), format!("`{}` is defined here", name.value))
                    .help("the only one is `append`, of a stream"),
            );
            return None;
        };
        let event = self.made.atoms[wanted.block.atom.get()].streams[at].ty.clone();
        let place = wanted.parts.streams[at].ty.place;
        self.compare_append(wanted, "input", input, &event, place);
        self.compare_append(wanted, "output", output, &Type::Uint64, builtin.place);
        Some(Served::Append(at))
    }

    fn compare_append(
        &mut self,
        wanted: &Wanted<'_, '_>,
        side: &str,
        member: &Type,
        found: &Type,
        place: Place,
    ) {
        let sides = ["in the member", "in the stream"];
        let Some((member, found, help)) = self.mismatch(member, found, sides) else { return };
        let name = &wanted.member.name.value;
        let message = match side {
            "input" => {
                format!("`append` takes `{found}`, but the member `{name}` takes `{member}`")
            }
            _ => format!(
                "`append` answers the offset, a `{found}`, but the member `{name}` answers \
                 `{member}`"
            ),
        };
        let mut diagnostic = Diagnostic::new(Code::OtherShape, wanted.place(), message)
            .also(excerpt(wanted.member), "the member is defined here")
            .maybe_help(help);
        if side == "input" {
            diagnostic = diagnostic.also(place, "the events of the stream");
        }
        self.report.push(diagnostic);
    }

    fn report_unbound(&mut self, wanted: &Wanted<'_, '_>) {
        let member = &wanted.member.name.value;
        let atom = &self.names.atoms[wanted.block.atom.get()].ast.name.value;
        let message = format!("no operation serves the member `{member}` of `{atom}`");
        // By convention an operation is named after the object and the member.
        let ending = format!("_{member}");
        let candidate = self
            .names
            .operation_names(wanted.block.package)
            .find(|name| name == member || name.ends_with(&ending));
        let help = format!("bind one: `{member} = {};`", candidate.unwrap_or("OPERATION"));
        self.report.push_absent(
            member,
            Diagnostic::new(Code::Unserved, wanted.block.ast.interface.place, message)
                .also(excerpt(wanted.member), "the member is defined here")
                .help(help),
        );
    }
}
