//! Operations: their module, what goes in and out, and what each requirement grants.

use proc_macro2::Ident;
use quixos_schema::{Definitions, OperationIndex, Requirement, Verb};

use super::Names;
use super::interface::{EdgePlan, InterfacePlan, MemberPlan};
use super::lowering::Lowering;
use super::types::{Declared, Home, Item, RustType};
use crate::citation;
use crate::error::{GenerateError, Named};
use crate::name::{Scope, ident, pascal, snake};

/// What generated code uses in the module of an operation under its short name.
const MODULE_NAMES: &[&str] = &[
    "Call",
    "CallError",
    "Context",
    "DateTime",
    "Entries",
    "Handler",
    "ID",
    "Input",
    "InterfaceRef",
    "Into",
    "None",
    "ObjectRef",
    "Ok",
    "Option",
    "Output",
    "Ref",
    "Result",
    "Self",
    "String",
    "Utc",
    "Vec",
];

/// What every context offers, and what would read as a well-known method of Rust and is none.
const CONTEXT_METHODS: &[&str] = &[
    "as_ref",
    "borrow",
    "clone",
    "cmp",
    "deref",
    "eq",
    "hash",
    "index",
    "instant",
    "len",
    "new",
    "receiver",
    "reference_text",
];

/// An operation.
#[derive(Clone, Debug)]
pub(crate) struct OperationPlan {
    pub(crate) index: OperationIndex,
    pub(crate) home: Home,
    pub(crate) module: Ident,
    /// `Input`, `Output`, and the anonymous records in them and in the requirements.
    pub(crate) declared: Vec<Declared>,
    /// The atom of the receiver, when only one can be it.
    pub(crate) receiver: Option<Item>,
    pub(crate) requirements: Vec<RequirementPlan>,
}

/// A line of a `requires` block.
#[derive(Clone, Debug)]
pub(crate) struct RequirementPlan {
    /// Its position in the block.
    pub(crate) position: usize,
    /// The method of the context.
    pub(crate) accessor: Ident,
    /// The type that the accessor returns; a creation has none.
    pub(crate) handle: Option<Ident>,
    /// The line of the definition.
    pub(crate) citation: String,
    pub(crate) kind: RequirementKind,
}

/// What a requirement grants.
#[derive(Clone, Debug)]
pub(crate) enum RequirementKind {
    State {
        ty: RustType,
        read: bool,
        write: bool,
    },
    Edge {
        edge: EdgePlan,
        verbs: EdgeVerbs,
    },
    Stream {
        ty: RustType,
        append: bool,
        read: bool,
    },
    Creation {
        atom: RustType,
        /// None for `unit`.
        input: Option<RustType>,
    },
    Interface {
        interface: RustType,
        /// Those that may be used.
        members: Vec<MemberPlan>,
    },
}

/// What may be done with an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeVerbs {
    pub(crate) resolve: bool,
    pub(crate) connect: bool,
    pub(crate) disconnect: bool,
}

impl Names {
    pub(super) fn plan_operation(
        &self,
        definitions: &Definitions,
        index: OperationIndex,
        interfaces: &[InterfacePlan],
    ) -> Result<OperationPlan, GenerateError> {
        let operation = definitions.operation(index);
        let owner = Named::new(&definitions.sources, "operation", &operation.name, operation.place);
        let home = self.operation_home(definitions, index);
        let mut scope = Scope::new(MODULE_NAMES);
        let mut declared = Vec::new();
        let mut lowering =
            self.lowering(definitions, home.clone(), &mut scope, &mut declared, &owner);
        lowering.declare(&ident("Input"), "What the operation takes", &operation.input)?;
        lowering.declare(&ident("Output"), "What the operation answers", &operation.output)?;
        let mut methods = Scope::new(CONTEXT_METHODS);
        let mut requirements = Vec::new();
        for (position, requirement) in operation.requirements.iter().enumerate() {
            let owner = Named::new(
                &definitions.sources,
                "requirement",
                &requirement.name,
                requirement.place,
            );
            let accessor = methods.claim(&snake(&requirement.name), "_requirement", &owner)?;
            let mut lowering =
                self.lowering(definitions, home.clone(), &mut scope, &mut declared, &owner);
            let name = pascal(&requirement.name);
            let handle = match &requirement.kind {
                // A creation has no handle; its input takes the name instead.
                quixos_schema::RequirementKind::Creation(_) => None,
                quixos_schema::RequirementKind::State { .. }
                | quixos_schema::RequirementKind::Edge { .. }
                | quixos_schema::RequirementKind::Stream { .. }
                | quixos_schema::RequirementKind::Interface { .. } => {
                    Some(lowering.scope.claim(&name, "Handle", &owner)?)
                }
            };
            let path = handle.as_ref().map_or(name, ToString::to_string);
            let kind = lowering.requirement(requirement, &path, interfaces)?;
            let citation = citation::requirement(definitions, requirement);
            requirements.push(RequirementPlan { position, accessor, handle, citation, kind });
        }
        let receiver = match operation.receivers.as_slice() {
            [only] if definitions.atom(*only).package == operation.package => {
                Some(self.atom_item(definitions, *only))
            }
            _ => None,
        };
        let module = self.operations[index.get()].clone();
        Ok(OperationPlan { index, home, module, declared, receiver, requirements })
    }
}

impl Lowering<'_> {
    fn requirement(
        &mut self,
        requirement: &Requirement,
        path: &str,
        interfaces: &[InterfacePlan],
    ) -> Result<RequirementKind, GenerateError> {
        Ok(match &requirement.kind {
            quixos_schema::RequirementKind::State { ty, verbs } => RequirementKind::State {
                ty: self.ty(ty, &format!("{path}Value"))?,
                read: verbs.contains(&Verb::Read),
                write: verbs.contains(&Verb::Write),
            },
            quixos_schema::RequirementKind::Edge { shape, verbs } => RequirementKind::Edge {
                edge: self.edge(shape, path)?,
                verbs: EdgeVerbs {
                    resolve: verbs.contains(&Verb::Resolve),
                    connect: verbs.contains(&Verb::Connect),
                    disconnect: verbs.contains(&Verb::Disconnect),
                },
            },
            quixos_schema::RequirementKind::Stream { ty, verbs } => RequirementKind::Stream {
                ty: self.ty(ty, &format!("{path}Event"))?,
                append: verbs.contains(&Verb::Append),
                read: verbs.contains(&Verb::Read),
            },
            quixos_schema::RequirementKind::Creation(creation) => RequirementKind::Creation {
                atom: self.atom(creation.atom),
                input: self.creation(creation, path)?,
            },
            quixos_schema::RequirementKind::Interface { interface, using } => {
                let plan = &interfaces[interface.interface.get()];
                let arguments = self.arguments(interface, path)?;
                RequirementKind::Interface {
                    members: using
                        .iter()
                        .map(|it| plan.members[it.member].substitute(&arguments))
                        .collect(),
                    interface: RustType::Item { item: plan.item.clone(), arguments, copy: false },
                }
            }
        })
    }
}
