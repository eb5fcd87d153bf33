//! Names as they are typed -> things of the definitions.
//!
//! An atom goes by its name, its id, or the last word of its id: `AgentRequestObject`,
//! `atom:org.quixos.agent:request`, `request`. A package by its name, id or revision, everything
//! else by its name or id.

use quixos_schema::{
    AtomIndex, Definitions, Interface, InterfaceIndex, Member, MemberKind, Operation,
    OperationIndex, PackageIndex, Served, Tag,
};

use crate::language::{Fault, Segment};

/// Returns the last word of an id.
pub(crate) fn short(id: &str) -> &str {
    id.rsplit([':', '.']).next().unwrap_or(id)
}

/// Finds the atoms that a word may mean: one, unless short words meet.
pub(crate) fn atoms(definitions: &Definitions, word: &str) -> Vec<AtomIndex> {
    let exact = definitions.atoms().find(|(_, it)| it.id == word || it.name == word);
    match exact {
        Some((at, _)) => vec![at],
        None => {
            definitions.atoms().filter(|(_, it)| short(&it.id) == word).map(|(at, _)| at).collect()
        }
    }
}

/// Finds the atom that a word means.
///
/// # Errors
/// A word that means none, with the nearest one that does, or that means several.
pub(crate) fn atom(definitions: &Definitions, word: &Segment) -> Result<AtomIndex, Fault> {
    match atoms(definitions, &word.name).as_slice() {
        [one] => Ok(*one),
        [] => {
            let fault = Fault::new(word.span.clone(), format!("no atom `{}`", word.name));
            let fault = fault.help("`describe atoms` lists them");
            Err(fault.suggest(&word.name, atom_words(definitions)))
        }
        [one, other, ..] => {
            let (one, other) = (&definitions.atom(*one).id, &definitions.atom(*other).id);
            let message = format!("`{}` may be `{one}` or `{other}`", word.name);
            Err(Fault::new(word.span.clone(), message).help("write the id"))
        }
    }
}

/// Returns every word that an atom goes by, but its id.
pub(crate) fn atom_words(definitions: &Definitions) -> impl Iterator<Item = &str> {
    definitions.atoms.iter().flat_map(|it| [short(&it.id), it.name.as_str()])
}

/// Finds a package.
pub(crate) fn package(definitions: &Definitions, word: &str) -> Option<PackageIndex> {
    definitions
        .packages()
        .find(|(_, it)| it.name == word || it.id == word || it.revision == word)
        .map(|(at, _)| at)
}

/// Finds an operation.
pub(crate) fn operation(definitions: &Definitions, word: &str) -> Option<OperationIndex> {
    let found = definitions.operations().find(|(_, it)| it.id == word || it.name == word);
    found.map(|(at, _)| at)
}

/// Finds an interface.
pub(crate) fn interface(definitions: &Definitions, word: &str) -> Option<InterfaceIndex> {
    let found = definitions.interfaces().find(|(_, it)| it.id == word || it.name == word);
    found.map(|(at, _)| at)
}

/// The member that an operation serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Serves<'d> {
    /// The interface's name.
    pub(crate) interface: &'d str,
    /// The interface's id.
    pub(crate) interface_id: &'d str,
    /// The member's name.
    pub(crate) member: &'d str,
    /// Whether only operations may call it.
    pub(crate) internal: bool,
}

/// Returns the member that an operation serves on an atom, if it serves one.
pub(crate) fn served(
    definitions: &Definitions,
    operation: OperationIndex,
    atom: AtomIndex,
) -> Option<Serves<'_>> {
    definitions.atom(atom).implements.iter().find_map(|implementation| {
        let interface = definitions.interface(implementation.interface.interface);
        let at = implementation
            .members
            .iter()
            .position(|served| *served == Served::Operation(operation))?;
        let member = interface.members.get(at)?;
        Some(Serves {
            interface: &interface.name,
            interface_id: &interface.id,
            member: &member.name,
            internal: member.internal,
        })
    })
}

/// Returns the member that an operation serves on the first atom that binds it.
pub(crate) fn door<'d>(definitions: &'d Definitions, of: &Operation) -> Option<Serves<'d>> {
    let at = operation(definitions, &of.id)?;
    of.receivers.iter().find_map(|atom| served(definitions, at, *atom))
}

/// Returns the name of the atom of a tag, or the tag.
pub(crate) fn atom_name(definitions: &Definitions, tag: Tag) -> String {
    match definitions.atom_of_tag(tag) {
        Some(at) => definitions.atom(at).name.clone(),
        None => format!("{:02x?}", tag.0),
    }
}

/// A member of an atom, with its type as this atom has it.
#[derive(Clone, Debug)]
pub(crate) struct MemberOf<'d> {
    /// The interface.
    pub(crate) interface: &'d Interface,
    /// The member.
    pub(crate) member: &'d Member,
    /// What it is, with the interface's parameters filled in.
    pub(crate) kind: MemberKind,
}

/// Finds the members of an atom that have a name; in one interface, if it is named.
pub(crate) fn members<'d>(
    definitions: &'d Definitions,
    atom: AtomIndex,
    interface: Option<&str>,
    name: &str,
) -> Vec<MemberOf<'d>> {
    let mut found = Vec::new();
    for implementation in &definitions.atom(atom).implements {
        let of = definitions.interface(implementation.interface.interface);
        if interface.is_some_and(|it| it != of.name && it != of.id) {
            continue;
        }
        let arguments = &implementation.interface.arguments;
        found.extend(of.members.iter().filter(|it| it.name == name).map(|member| MemberOf {
            interface: of,
            member,
            kind: match &member.kind {
                MemberKind::State(ty) => MemberKind::State(definitions.substitute(ty, arguments)),
                MemberKind::Stream(ty) => MemberKind::Stream(definitions.substitute(ty, arguments)),
                MemberKind::Edge(shape) => MemberKind::Edge(shape.clone()),
                MemberKind::Operation { input, output } => MemberKind::Operation {
                    input: definitions.substitute(input, arguments),
                    output: definitions.substitute(output, arguments),
                },
            },
        }));
    }
    found
}
