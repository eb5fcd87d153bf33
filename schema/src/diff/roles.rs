//! What types are used for, which decides who has to follow when they change.

use std::collections::{BTreeMap, BTreeSet};

use crate::definitions::{
    Definitions, MemberKind, Operation, RequirementKind, Type, TypeIndex, Verb,
};

/// What a type is used for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Role {
    /// Stores hold it.
    Stored,
    /// Callers make it.
    Input,
    /// Callers get it.
    Output,
    /// Handlers get it.
    Taken,
    /// Handlers make it.
    Given,
}

/// The roles of every named type of a revision, those of the types around it included.
pub(super) struct Roles<'d> {
    definitions: &'d Definitions,
    found: BTreeMap<TypeIndex, BTreeSet<Role>>,
}

impl<'d> Roles<'d> {
    /// Returns the roles of the types of a revision.
    pub(super) fn of(definitions: &'d Definitions) -> Self {
        let mut roles = Self { definitions, found: BTreeMap::new() };
        for atom in &definitions.atoms {
            let states = atom.states.iter().map(|it| &it.ty);
            for ty in states.chain(atom.streams.iter().map(|it| &it.ty)) {
                roles.add(ty, Role::Stored);
            }
            if let Some(root) = &atom.root {
                roles.add(&root.input, Role::Input);
            }
        }
        for interface in &definitions.interfaces {
            for member in interface.members.iter().filter(|it| !it.internal) {
                roles.add_member(&member.kind, Role::Input, Role::Output);
            }
        }
        for operation in &definitions.operations {
            roles.add_operation(operation);
        }
        roles
    }

    /// Returns the roles of a named type.
    pub(super) fn get(&self, at: TypeIndex) -> impl Iterator<Item = Role> {
        self.found.get(&at).into_iter().flatten().copied()
    }

    fn add_operation(&mut self, operation: &Operation) {
        self.add(&operation.input, Role::Taken);
        self.add(&operation.output, Role::Given);
        for requirement in &operation.requirements {
            match &requirement.kind {
                RequirementKind::State { ty, verbs } | RequirementKind::Stream { ty, verbs } => {
                    for verb in verbs {
                        let taken = *verb == Verb::Read;
                        self.add(ty, if taken { Role::Taken } else { Role::Given });
                    }
                }
                RequirementKind::Edge { .. } => {}
                RequirementKind::Creation(creation) => self.add(&creation.input, Role::Given),
                RequirementKind::Interface { interface, using } => {
                    for used in using {
                        let kind = self.definitions.member_kind(interface, used.member);
                        self.add_member(&kind, Role::Given, Role::Taken);
                    }
                }
            }
        }
    }

    fn add_member(&mut self, kind: &MemberKind, into: Role, out_of: Role) {
        match kind {
            MemberKind::State(ty) | MemberKind::Stream(ty) => self.add(ty, out_of),
            MemberKind::Edge(_) => {}
            MemberKind::Operation { input, output } => {
                self.add(input, into);
                self.add(output, out_of);
            }
        }
    }

    fn add(&mut self, ty: &Type, role: Role) {
        match ty {
            Type::Named(at) => {
                if self.found.entry(*at).or_default().insert(role) {
                    let inner = &self.definitions.types[at.get()].ty;
                    self.add(inner, role);
                }
            }
            Type::Optional(inner) | Type::List(inner) => self.add(inner, role),
            Type::Record(record) => {
                for field in &record.fields {
                    self.add(&field.ty, role);
                }
            }
            // What an interface's arguments are used for is told by its members.
            Type::InterfaceRef(_)
            | Type::Unit
            | Type::Bool
            | Type::Int32
            | Type::Int64
            | Type::Uint32
            | Type::Uint64
            | Type::Float64
            | Type::String
            | Type::Bytes
            | Type::AtomRef(_)
            | Type::Parameter(_) => {}
        }
    }
}
