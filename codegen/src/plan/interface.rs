//! Interfaces: what their members are called, and what goes in and out.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use quixos_schema::{
    Cardinality, Definitions, EdgeTarget, InterfaceIndex, OperationIndex, Served, Type,
};

use super::Names;
use super::lowering::{Lowering, has_anonymous};
use super::types::{Body, Declared, Home, Item, RustType};
use crate::citation;
use crate::error::{GenerateError, Named};
use crate::name::{Scope, ident, pascal, snake};

/// Method names that would read as a well-known method of Rust and are none.
const METHOD_NAMES: &[&str] =
    &["as_ref", "borrow", "clone", "cmp", "deref", "eq", "hash", "index", "len", "new"];

/// An interface.
#[derive(Clone, Debug)]
pub(crate) struct InterfacePlan {
    pub(crate) index: InterfaceIndex,
    pub(crate) item: Item,
    /// What a host uses it through, if it can do anything with it.
    pub(crate) client: Option<Ident>,
    pub(crate) parameters: Vec<Ident>,
    pub(crate) members: Vec<MemberPlan>,
}

/// A member of an interface.
#[derive(Clone, Debug)]
pub(crate) struct MemberPlan {
    /// Its position in the interface.
    pub(crate) position: usize,
    pub(crate) method: Ident,
    pub(crate) internal: bool,
    /// The line of the definition.
    pub(crate) citation: String,
    pub(crate) kind: MemberKind,
}

/// What a member is.
#[derive(Clone, Debug)]
pub(crate) enum MemberKind {
    State(RustType),
    Edge {
        edge: EdgePlan,
        /// Of a plain set, the method that tells whether a target is in it; of a keyed one, the
        /// method that returns the targets at a key.
        find: Option<Ident>,
        /// Of many, the method that returns some of them.
        page: Option<Ident>,
    },
    Stream(RustType),
    Operation {
        /// None for `unit`.
        input: Option<RustType>,
        output: RustType,
    },
}

/// An edge, from where it can be seen.
#[derive(Clone, Debug)]
pub(crate) struct EdgePlan {
    pub(crate) shape: EdgeShape,
    /// A reference to an atom or an interface.
    pub(crate) target: RustType,
}

/// How many targets an edge has, and how they are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EdgeShape {
    One,
    OptionalOne,
    Many,
    Keyed,
}

impl EdgeShape {
    pub(crate) fn of(shape: &quixos_schema::EdgeShape) -> Self {
        match shape.cardinality {
            Cardinality::One => Self::One,
            Cardinality::OptionalOne => Self::OptionalOne,
            Cardinality::ManyUnique if shape.keyed => Self::Keyed,
            Cardinality::ManyUnique => Self::Many,
        }
    }
}

impl MemberPlan {
    /// Returns the member of the interface with these arguments.
    pub(crate) fn substitute(&self, with: &[RustType]) -> Self {
        let kind = match &self.kind {
            MemberKind::State(ty) => MemberKind::State(ty.substitute(with)),
            MemberKind::Stream(ty) => MemberKind::Stream(ty.substitute(with)),
            MemberKind::Edge { edge, find, page } => MemberKind::Edge {
                edge: EdgePlan { shape: edge.shape, target: edge.target.substitute(with) },
                find: find.clone(),
                page: page.clone(),
            },
            MemberKind::Operation { input, output } => MemberKind::Operation {
                input: input.as_ref().map(|ty| ty.substitute(with)),
                output: output.substitute(with),
            },
        };
        Self { kind, method: self.method.clone(), citation: self.citation.clone(), ..*self }
    }
}

impl Names {
    pub(super) fn plan_interface(
        &self,
        definitions: &Definitions,
        index: InterfaceIndex,
        scope: &mut Scope,
        declared: &mut Vec<Declared>,
    ) -> Result<InterfacePlan, GenerateError> {
        let interface = definitions.interface(index);
        let sources = &definitions.sources;
        let owner = Named::new(sources, "interface", &interface.name, interface.place);
        let item = self.interface_item(definitions, index);
        let client = match interface.members.iter().any(|member| !member.internal) {
            true => Some(scope.claim(&format!("{}Client", item.name), "Client", &owner)?),
            false => None,
        };
        // A parameter must not hide an item of the module that its interface stands in.
        let mut parameter_scope = scope.clone();
        let parameters = interface.parameters.iter().map(|name| {
            let named = Named::new(sources, "type parameter", name, interface.place);
            parameter_scope.claim(&pascal(name), "Parameter", &named)
        });
        let parameters: Vec<Ident> = parameters.collect::<Result<_, _>>()?;
        let mut methods = Scope::new(METHOD_NAMES);
        let mut members = Vec::new();
        for (position, member) in interface.members.iter().enumerate() {
            let owner = Named::new(
                sources,
                "member",
                &format!("{}.{}", interface.name, member.name),
                member.place,
            );
            let served = self.served_by(definitions, index, position);
            let home = Home::root(interface.package);
            let lowering = self.lowering(definitions, home, &mut *scope, &mut *declared, &owner);
            let mut lowering =
                Lowering { written: &interface.parameters, parameters: &parameters, ..lowering };
            members.push(MemberPlan {
                position,
                method: methods.claim(&snake(&member.name), "_member", &owner)?,
                internal: member.internal,
                citation: citation::member(definitions, interface, member),
                kind: lowering.member(member, &item.name, served, &mut methods)?,
            });
        }
        Ok(InterfacePlan { index, item, client, parameters, members })
    }

    /// Returns the module of the one operation that serves a member on the atoms of the package
    /// that defines the interface. Then the member takes and gives what that operation does.
    /// Atoms of other packages don't count: names must not depend on who else is there.
    fn served_by(
        &self,
        definitions: &Definitions,
        index: InterfaceIndex,
        position: usize,
    ) -> Option<Home> {
        let package = definitions.interface(index).package;
        if !definitions.interface(index).parameters.is_empty() {
            return None;
        }
        let operations: BTreeSet<Option<OperationIndex>> = definitions
            .atoms
            .iter()
            .filter(|atom| atom.package == package)
            .flat_map(|atom| &atom.implements)
            .filter(|it| it.interface.interface == index)
            .map(|it| match it.members[position] {
                Served::Operation(operation) => Some(operation),
                Served::State(_)
                | Served::Edge(_)
                | Served::Inverse(_)
                | Served::Stream(_)
                | Served::Append(_) => None,
            })
            .collect();
        match (operations.len(), operations.first()) {
            (1, Some(Some(operation))) if definitions.operation(*operation).package == package => {
                Some(self.operation_home(definitions, *operation))
            }
            (_, _) => None,
        }
    }
}

impl Lowering<'_> {
    fn member(
        &mut self,
        member: &quixos_schema::Member,
        interface: &Ident,
        served_by: Option<Home>,
        methods: &mut Scope,
    ) -> Result<MemberKind, GenerateError> {
        let path = format!("{interface}{}", pascal(&member.name));
        Ok(match &member.kind {
            quixos_schema::MemberKind::State(ty) => {
                MemberKind::State(self.named(ty, &format!("{path}Value"), "The value of", None)?)
            }
            quixos_schema::MemberKind::Stream(ty) => {
                MemberKind::Stream(self.named(ty, &format!("{path}Event"), "An event of", None)?)
            }
            quixos_schema::MemberKind::Edge(shape) => {
                let edge = self.edge(shape, &path)?;
                let mut derived = |suffix: &str| {
                    let wanted = format!("{}_{suffix}", snake(&member.name));
                    methods.claim(&wanted, "_member", self.owner)
                };
                let (find, page) = match edge.shape {
                    EdgeShape::One | EdgeShape::OptionalOne => (None, None),
                    EdgeShape::Many => (Some(derived("contains")?), Some(derived("page")?)),
                    EdgeShape::Keyed => (Some(derived("at")?), Some(derived("page")?)),
                };
                MemberKind::Edge { edge, find, page }
            }
            quixos_schema::MemberKind::Operation { input, output } => {
                let of = |name| served_by.as_ref().map(|home| home.item(&ident(name)));
                let has_input = *self.definitions.shape(input) != Type::Unit;
                MemberKind::Operation {
                    input: has_input
                        .then(|| {
                            self.named(
                                input,
                                &format!("{path}Input"),
                                "What goes into",
                                of("Input"),
                            )
                        })
                        .transpose()?,
                    output: self.named(
                        output,
                        &format!("{path}Output"),
                        "What comes out of",
                        of("Output"),
                    )?,
                }
            }
        })
    }

    /// Returns an edge as it is seen from a member or a requirement.
    pub(super) fn edge(
        &mut self,
        shape: &quixos_schema::EdgeShape,
        path: &str,
    ) -> Result<EdgePlan, GenerateError> {
        let target = match &shape.target {
            EdgeTarget::Atom(at) => self.atom(*at),
            EdgeTarget::Interface(of) => {
                RustType::InterfaceRef(Box::new(self.interface(of, path)?))
            }
        };
        Ok(EdgePlan { shape: EdgeShape::of(shape), target })
    }

    /// Returns a member's type. One with an anonymous record is declared under its own name, as
    /// an alias if an operation declares that very type already.
    fn named(
        &mut self,
        ty: &Type,
        name: &str,
        what: &str,
        same_as: Option<Item>,
    ) -> Result<RustType, GenerateError> {
        if !has_anonymous(ty) {
            return self.ty(ty, name);
        }
        let name = self.scope.claim(name, "Type", self.owner)?;
        let doc = format!("{what} {}", self.owner.what);
        match same_as {
            None => self.declare(&name, &doc, ty)?,
            Some(item) => self.declared.push(Declared {
                name: name.clone(),
                doc,
                parameters: Vec::new(),
                body: Body::Alias(RustType::Item { item, arguments: Vec::new(), copy: false }),
            }),
        }
        let arguments = self.arguments_of(ty);
        Ok(RustType::Item { item: self.home.item(&name), arguments, copy: false })
    }
}
