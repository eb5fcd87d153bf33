//! Requirements: each grants something that there is, with verbs that it has, once.
//!
//! A query may only read. What a query calls is checked when it is known what serves it
//! (`link.rs`).

use std::collections::BTreeMap;

use super::implements::excerpt;
use super::once::Twice;
use super::types::Unit;
use super::{Checker, Scope, unknown};
use crate::ast::{self, RequirementKind as Written};
use crate::code::Code;
use crate::definitions::{
    Cardinality, Creation, Execution, InterfaceIndex, InterfaceType, Requirement, RequirementKind,
    Use, Verb,
};
use crate::diagnostic::Diagnostic;
use crate::source::Place;

const STATE: [Verb; 2] = [Verb::Read, Verb::Write];
const EDGE: [Verb; 3] = [Verb::Resolve, Verb::Connect, Verb::Disconnect];
const STREAM: [Verb; 2] = [Verb::Read, Verb::Append];

/// An interface that did not resolve.
const NO_INTERFACE: InterfaceType =
    InterfaceType { interface: InterfaceIndex(u32::MAX), arguments: Vec::new() };

impl Checker<'_, '_, '_> {
    /// Makes the requirements of an operation.
    pub(super) fn requirements(
        &mut self,
        scope: Scope<'_>,
        operation: &ast::Operation,
        execution: Option<Execution>,
    ) -> Vec<Requirement> {
        self.requirement_names(&operation.requirements);
        operation
            .requirements
            .iter()
            .map(|written| {
                if execution == Some(Execution::Query) {
                    self.only_reads(operation, written);
                }
                Requirement {
                    name: written.name.value.clone(),
                    id: written.id.value.clone(),
                    kind: self.requirement(scope, &written.kind),
                    place: written.place,
                }
            })
            .collect()
    }

    fn requirement(&mut self, scope: Scope<'_>, written: &Written) -> RequirementKind {
        match written {
            Written::State { ty, verbs } => RequirementKind::State {
                ty: self.ty(scope, ty, Unit::Refused),
                verbs: self.verbs(verbs, &STATE, "a state"),
            },
            Written::Edge { shape, verbs } => {
                let granted = self.verbs(verbs, &EDGE, "an edge");
                let made = self.edge_shape(scope, shape);
                if made != unknown::SHAPE && made.cardinality == Cardinality::One {
                    self.fixed_edge(shape, verbs);
                }
                RequirementKind::Edge { shape: made, verbs: granted }
            }
            Written::Stream { ty, verbs } => RequirementKind::Stream {
                ty: self.ty(scope, ty, Unit::Refused),
                verbs: self.verbs(verbs, &STREAM, "a stream"),
            },
            Written::Creation { atom, input } => RequirementKind::Creation(Creation {
                atom: self.named_atom(scope.package, atom).unwrap_or(unknown::ATOM),
                input: self.payload(scope, input),
                fills: Vec::new(),
            }),
            Written::Interface { interface, using, from } => {
                self.origin(from);
                let of = self.interface_type(scope, interface);
                let using = of.as_ref().map(|of| self.using(of, using));
                RequirementKind::Interface {
                    interface: of.unwrap_or(NO_INTERFACE),
                    using: using.unwrap_or_default(),
                }
            }
        }
    }

    fn origin(&mut self, from: &ast::Name) {
        if from.value != "input" {
            let message = format!("references do not come from `{}`", from.value);
            self.report.push(
                Diagnostic::new(Code::UnknownOrigin, from.place, message).help(
                    "write `from input`: the references that a call was handed are all it has",
                ),
            );
        }
    }

    fn using(&mut self, of: &InterfaceType, using: &[ast::Use]) -> Vec<Use> {
        let interface = self.names.interfaces[of.interface.get()].ast;
        let twice = Twice { code: Code::UsedTwice, message: "{} is used twice", help: None };
        let new = self.once(using.iter().map(|it| (it.member.value.as_str(), it.place)), &twice);
        let mut made = Vec::new();
        for (used, _) in using.iter().zip(new).filter(|(_, new)| *new) {
            let position =
                interface.members.iter().position(|it| it.name.value == used.member.value);
            let Some(member) = position else {
                self.report_unknown_member(interface, &used.member);
                continue;
            };
            let verb = member_verb(&interface.members[member].kind);
            if verb.word() == used.verb.value {
                made.push(Use { member, verb });
            } else {
                self.report_member_verb(&interface.members[member], verb, used);
            }
        }
        made
    }

    fn report_member_verb(&mut self, member: &ast::Member, verb: Verb, used: &ast::Use) {
        let kind = match member.kind {
            ast::MemberKind::State { .. } => "a state",
            ast::MemberKind::Edge { .. } => "an edge",
            ast::MemberKind::Stream { .. } => "a stream",
            ast::MemberKind::Operation { .. } => "an operation",
        };
        let message = format!(
            "`{}` is {kind} member, which has no verb `{}`",
            member.name.value, used.verb.value
        );
        self.report.push(
            Diagnostic::new(Code::UnknownVerb, used.verb.place, message)
                .also(excerpt(member), "the member is defined here")
                .help(format!("write `{}.{verb}`", member.name.value)),
        );
    }

    fn fixed_edge(&mut self, shape: &ast::EdgeShape, verbs: &ast::Verbs) {
        for word in verbs.words.iter().filter(|it| it.value != Verb::Resolve.word()) {
            if EDGE.iter().any(|verb| verb.word() == word.value) {
                let message = format!("an edge that is `one` has no `{}`", word.value);
                self.report.push(
                    Diagnostic::new(Code::FixedEdge, word.place, message)
                        .also(shape.cardinality.place, "it is set at creation and never changes")
                        .help("grant `resolve` alone, or make the edge `optional-one`"),
                );
            }
        }
    }

    /// Reports what a requirement of a query grants beyond reading.
    fn only_reads(&mut self, operation: &ast::Operation, written: &ast::Requirement) {
        let writing = |verbs: &ast::Verbs| -> Vec<(String, Place)> {
            let words = verbs.words.iter().filter(|word| writes(&word.value));
            words.map(|word| (format!("`{}`", word.value), word.place)).collect()
        };
        let places = match &written.kind {
            Written::State { verbs, .. }
            | Written::Edge { verbs, .. }
            | Written::Stream { verbs, .. } => writing(verbs),
            Written::Creation { atom, .. } => vec![("create objects".to_owned(), atom.place)],
            Written::Interface { .. } => Vec::new(),
        };
        for (what, place) in places {
            let message = format!("`{}` is a query, which may not {what}", operation.name.value);
            self.report.push(
                Diagnostic::new(Code::QueryWrites, place, message)
                    .also(operation.execution.place, "a query only reads")
                    .help("make it `execution transaction`, or grant only what reads"),
            );
        }
    }

    /// Checks that names are given once, and that each slot, creation or interface is granted
    /// under one id.
    fn requirement_names(&mut self, requirements: &[ast::Requirement]) {
        let mut names: BTreeMap<&str, &ast::Requirement> = BTreeMap::new();
        let mut grants: BTreeMap<(Family, &str), &ast::Requirement> = BTreeMap::new();
        for requirement in requirements {
            let (name, id) = (&requirement.name, &requirement.id);
            let family = Family::of(&requirement.kind);
            let named = *names.entry(&name.value).or_insert(requirement);
            let granted = *grants.entry((family, &id.value)).or_insert(requirement);
            // The same line again is one fault, that of the grant.
            if named.place != requirement.place && named.place != granted.place {
                let message = format!("two requirements named `{}`", name.value);
                self.report.push(
                    Diagnostic::new(Code::DuplicateRequirement, name.place, message)
                        .also(named.name.place, "the first stands here"),
                );
            }
            // An id that could not be read is empty.
            if granted.place != requirement.place && !id.value.is_empty() {
                let message = match family {
                    Family::Slot => format!("two requirements on the slot `{}`", id.value),
                    Family::Creation => format!("two creations of the id `{}`", id.value),
                    Family::Interface => format!("two interfaces of the id `{}`", id.value),
                };
                let mut diagnostic = Diagnostic::new(Code::DuplicateGrant, id.place, message)
                    .also(granted.id.place, "the first stands here");
                if family == Family::Slot {
                    diagnostic = diagnostic.help("grant all its verbs in one line");
                }
                self.report.push(diagnostic);
            }
        }
    }
}

/// What an id of a requirement is an id of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    Slot,
    Creation,
    Interface,
}

impl Family {
    fn of(kind: &Written) -> Self {
        match kind {
            Written::State { .. } | Written::Edge { .. } | Written::Stream { .. } => Self::Slot,
            Written::Creation { .. } => Self::Creation,
            Written::Interface { .. } => Self::Interface,
        }
    }
}

fn writes(word: &str) -> bool {
    [Verb::Write, Verb::Connect, Verb::Disconnect, Verb::Append]
        .iter()
        .any(|verb| verb.word() == word)
}

/// Returns the one verb that a member takes.
pub(super) fn member_verb(kind: &ast::MemberKind) -> Verb {
    match kind {
        ast::MemberKind::State { .. } => Verb::Get,
        ast::MemberKind::Edge { .. } => Verb::Resolve,
        ast::MemberKind::Stream { .. } => Verb::Read,
        ast::MemberKind::Operation { .. } => Verb::Call,
    }
}
