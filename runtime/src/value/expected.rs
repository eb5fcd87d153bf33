//! Which objects a reference may lead to.

use std::sync::Arc;

use quixos_schema::{AtomIndex, Definitions, EdgeTarget, InterfaceType, Tag, Type};

use crate::reference::ObjectRef;

/// The atoms that a reference may lead to: one for `atom-ref<A>`, those that implement the
/// interface for `interface-ref<I>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    noun: Arc<str>,
    atoms: Arc<[Tag]>,
}

impl Expected {
    /// Objects of one atom.
    #[must_use]
    pub fn atom(definitions: &Definitions, atom: AtomIndex) -> Self {
        let atom = definitions.atom(atom);
        Self { noun: atom.name.as_str().into(), atoms: [atom.tag].into() }
    }

    /// Objects of any atom that implements an interface.
    #[must_use]
    pub fn interface(definitions: &Definitions, of: &InterfaceType) -> Self {
        let mut atoms: Vec<Tag> = definitions
            .atoms()
            .filter(|(at, _)| definitions.implementation(*at, of).is_some())
            .map(|(_, atom)| atom.tag)
            .collect();
        atoms.sort_unstable();
        let noun = format!("an atom that implements {}", interface_text(definitions, of));
        Self { noun: noun.into(), atoms: atoms.into() }
    }

    /// What an edge may lead to.
    #[must_use]
    pub fn edge(definitions: &Definitions, target: &EdgeTarget) -> Self {
        match target {
            EdgeTarget::Atom(atom) => Self::atom(definitions, *atom),
            EdgeTarget::Interface(of) => Self::interface(definitions, of),
        }
    }

    /// Tells whether the reference is to one of the atoms.
    #[must_use]
    pub fn accepts(&self, reference: ObjectRef) -> bool {
        match &*self.atoms {
            [only] => *only == reference.atom,
            atoms => atoms.binary_search(&reference.atom).is_ok(),
        }
    }

    /// Returns the tags of the atoms, ascending.
    #[must_use]
    pub fn atoms(&self) -> &[Tag] {
        &self.atoms
    }

    /// Returns what it may lead to, for a message: `AgentObject`, `an atom that implements Agent`.
    #[must_use]
    pub fn noun(&self) -> &str {
        &self.noun
    }
}

fn interface_text(definitions: &Definitions, of: &InterfaceType) -> String {
    let name = &definitions.interface(of.interface).name;
    if of.arguments.is_empty() {
        return name.clone();
    }
    let arguments: Vec<_> = of.arguments.iter().map(|ty| type_text(definitions, ty)).collect();
    format!("{name}<{}>", arguments.join(", "))
}

fn type_text(definitions: &Definitions, ty: &Type) -> String {
    match ty {
        Type::Unit => "unit".into(),
        Type::Bool => "bool".into(),
        Type::Int32 => "int32".into(),
        Type::Int64 => "int64".into(),
        Type::Uint32 => "uint32".into(),
        Type::Uint64 => "uint64".into(),
        Type::Float64 => "float64".into(),
        Type::String => "string".into(),
        Type::Bytes => "bytes".into(),
        Type::Optional(inner) => format!("optional<{}>", type_text(definitions, inner)),
        Type::List(item) => format!("list<{}>", type_text(definitions, item)),
        Type::Record(_) => "record {…}".into(),
        Type::Named(at) => definitions.types[at.get()].name.clone(),
        Type::AtomRef(at) => format!("atom-ref<{}>", definitions.atom(*at).name),
        Type::InterfaceRef(of) => format!("interface-ref<{}>", interface_text(definitions, of)),
        Type::Parameter(at) => format!("parameter {at}"),
    }
}
