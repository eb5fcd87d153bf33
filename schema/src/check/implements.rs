//! What an atom implements: every member of the interface is served, by something of its shape.
//!
//! A state, edge or stream member is served by the slot of its name, or by the slot that a
//! binding names. An operation member needs a binding: to an operation, or to the built-in
//! `append` of a stream.

use super::atoms::{Parts, Slot};
use super::{Bound, Checker, Scope};
use crate::ast;
use crate::code::Code;
use crate::definitions::{
    AtomIndex, Cardinality, EdgeShape, EdgeTarget, Implementation, MemberKind, PackageIndex,
    Served, Type,
};
use crate::diagnostic::Diagnostic;
use crate::difference::{Difference, In, difference, same_interface, same_shape};
use crate::source::Place;
use crate::suggest::did_you_mean;

/// An `implements` block, with the place that it has in [`Atom::implements`].
///
/// [`Atom::implements`]: crate::definitions::Atom::implements
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    package: PackageIndex,
    atom: AtomIndex,
    at: usize,
    ast: &'a ast::Implements,
}

/// A member that is to be served.
struct Wanted<'w, 'a> {
    block: Block<'a>,
    parts: &'w Parts<'a>,
    /// The member as the interface defines it.
    member: &'a ast::Member,
    binding: Option<&'a ast::Binding>,
}

impl Wanted<'_, '_> {
    /// Returns the line that says what serves the member: the binding, or the whole block.
    fn place(&self) -> Place {
        self.binding.map_or(self.block.ast.interface.place, |it| it.place)
    }

    /// Returns the name of the slot that should serve the member.
    fn source(&self) -> (&str, Place) {
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
        for (at, binding) in ast.bindings.iter().enumerate() {
            let name = &binding.member;
            if let Some(first) = ast.bindings[..at].iter().find(|it| it.member.value == name.value)
            {
                let message = format!("`{}` is bound twice", name.value);
                self.report.push(
                    Diagnostic::new(Code::BoundTwice, name.place, message)
                        .also(first.place, "the first stands here"),
                );
            }
            if interface.members.iter().all(|it| it.name.value != name.value) {
                self.report_unknown_member(interface, name);
            }
        }
    }

    /// Reports a member that an interface does not have.
    pub(super) fn report_unknown_member(&mut self, interface: &ast::Interface, name: &ast::Name) {
        let known = interface.members.iter().map(|it| it.name.value.as_str());
        let message = format!("`{}` has no member named `{}`", interface.name.value, name.value);
        let help = did_you_mean(&name.value, known);
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

    fn serve_slot(&mut self, wanted: &Wanted<'_, '_>, kind: &MemberKind) -> Option<Served> {
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
                let text = format!("`{name}` is {}", slot.article());
                self.report_other_source(wanted, place, &text);
                return None;
            }
        };
        self.compare_slot(wanted, kind, slot);
        Some(served)
    }

    fn compare_slot(&mut self, wanted: &Wanted<'_, '_>, kind: &MemberKind, slot: Slot) {
        let atom = &self.made.atoms[wanted.block.atom.get()];
        let mismatch = match (kind, slot) {
            (MemberKind::State(ty), Slot::State(at)) => self.mismatch(ty, &atom.states[at].ty),
            (MemberKind::Stream(ty), Slot::Stream(at)) => self.mismatch(ty, &atom.streams[at].ty),
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
        let message = format!("the member `{name}` is `{member}`, and what serves it `{found}`");
        let mut diagnostic = Diagnostic::new(Code::OtherShape, place, message)
            .label("this serves it")
            .also(wanted.member.place, "the member is defined here")
            .maybe_help(help);
        if let Some(binding) = wanted.binding {
            diagnostic = diagnostic.also(binding.place, "it is bound here");
        }
        self.report.push(diagnostic);
    }

    /// Returns two types as text, and where they part, if they do.
    pub(super) fn mismatch(
        &self,
        member: &Type,
        found: &Type,
    ) -> Option<(String, String, Option<String>)> {
        let parted = self.difference(member, found)?;
        let help = (!parted.path.is_empty() || is_record(self.shape(member)))
            .then(|| parted.describe("there", "here"));
        Some((self.brief(member), self.brief(found), help))
    }

    /// The same of two shapes.
    pub(super) fn shape_mismatch(
        &self,
        member: &EdgeShape,
        found: &EdgeShape,
    ) -> Option<(String, String, Option<String>)> {
        let same = same_shape(In::new(&self.made, member), In::new(&self.made, found));
        (!same).then(|| (self.made.shape_text(member), self.made.shape_text(found), None))
    }

    /// Returns where two types part.
    pub(super) fn difference(&self, left: &Type, right: &Type) -> Option<Difference> {
        difference(In::new(&self.made, left), In::new(&self.made, right))
    }

    /// Returns a type as it is written, or only its kind where that would be long.
    pub(super) fn brief(&self, ty: &Type) -> String {
        let text = self.made.type_text(ty);
        if text.len() <= 60 || !matches!(ty, Type::Record(_)) {
            return text;
        }
        "record {…}".to_owned()
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
                    .also(wanted.member.place, "the member is defined here")
                    .maybe_help(did_you_mean(name, wanted.parts.slot_names()))
            }
            None => {
                let message = format!("nothing in `{}` serves the member `{member}`", atom.value);
                let help = did_you_mean(member, wanted.parts.slot_names()).map_or_else(
                    || self.slot_line(member, kind),
                    |text| format!("{text} then bind it: `{member} = …;`"),
                );
                Diagnostic::new(Code::Unserved, wanted.block.ast.interface.place, message)
                    .also(wanted.member.place, "the member is defined here")
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

    fn report_other_source(&mut self, wanted: &Wanted<'_, '_>, place: Place, found: &str) {
        let member = &wanted.member.name.value;
        let kind = match wanted.member.kind {
            ast::MemberKind::State { .. } => "a state",
            ast::MemberKind::Edge { .. } => "an edge",
            ast::MemberKind::Stream { .. } => "a stream",
            ast::MemberKind::Operation { .. } => "an operation",
        };
        let message = format!("{found}, and the member `{member}` is {kind}");
        self.report.push(
            Diagnostic::new(Code::OtherSource, place, message)
                .also(wanted.member.place, "the member is defined here"),
        );
    }

    fn serve_operation(
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
            let found = format!("`{}` is {}", name.value, slot.article());
            self.report_other_source(wanted, name.place, &found);
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
        let Some((member, found, help)) = self.mismatch(member, found) else { return };
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
                .also(place, format!("`{found}` here"))
                .also(written, format!("`{member}` there"))
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
                    .maybe_help(did_you_mean(&name.value, streams)),
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
        let Some((member, found, help)) = self.mismatch(member, found) else { return };
        let name = &wanted.member.name.value;
        let message = match side {
            "input" => format!("`append` takes `{found}`, and the member `{name}` `{member}`"),
            _ => format!(
                "`append` answers the offset, a `{found}`, and the member `{name}` `{member}`"
            ),
        };
        let mut diagnostic = Diagnostic::new(Code::OtherShape, wanted.place(), message)
            .also(wanted.member.place, "the member is defined here")
            .maybe_help(help);
        if side == "input" {
            diagnostic = diagnostic.also(place, "an event of the stream is this");
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
                .also(wanted.member.place, "the member is defined here")
                .help(help),
        );
    }
}

fn is_record(ty: Option<&Type>) -> bool {
    matches!(ty, Some(Type::Record(_)))
}
