//! From what was written to what was meant, with every fault on the way.
//!
//! One file for each family of rules. They run in the order in which they build on each other:
//! types, interfaces, what atoms have, operations, what serves which member, creations, and last
//! what only the whole set shows. Each family adds to [`Checker::made`] even what is faulty, so
//! that positions there are those of [`Names`] and of the lists in the syntax tree.
//!
//! Invariant: [`Checker::made`] may hold what did not resolve (`unknown.rs`) only while there is
//! an error to show for it, and leaves this module only if there is none.

mod atoms;
mod compare;
mod creation;
mod cycles;
mod identity;
mod implements;
mod interfaces;
mod inverses;
mod link;
mod lookup;
mod once;
mod operations;
mod optional;
mod requirements;
mod serve_operation;
mod serve_slot;
mod shape;
mod types;
mod unknown;
mod verbs;

use crate::ast;
use crate::canonical::canonical_package;
use crate::definitions::{
    AtomIndex, Definitions, InterfaceType, OperationIndex, Package, PackageIndex, Served, Type,
};
use crate::report::Report;
use crate::resolve::{Names, PackageNames};
use crate::source::Place;

/// Returns what the items of a set mean, if there is no error among them.
pub(crate) fn check(names: &Names<'_>, report: &mut Report<'_>) -> Option<Definitions> {
    let mut checker = Checker {
        names,
        report,
        made: Definitions::default(),
        later: Vec::new(),
        implementations: Vec::new(),
        bound: Vec::new(),
    };
    checker.packages();
    checker.identity();
    checker.types();
    checker.interfaces();
    checker.atoms();
    checker.operations();
    checker.implementations();
    checker.inverses();
    checker.members();
    checker.creations();
    checker.settle_types();
    checker.link();
    let made = checker.made;
    if report.has_errors() {
        return None;
    }
    link::warn(names, &made, report);
    Some(made)
}

/// Returns the digest of a package: of what it says, whatever its layout, comments and files.
fn digest(package: &PackageNames<'_>) -> String {
    let text = canonical_package(package.files.iter().copied());
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// The state of a check.
struct Checker<'c, 'a, 's> {
    names: &'c Names<'a>,
    report: &'c mut Report<'s>,
    made: Definitions,
    /// What can be checked only when every type is known.
    later: Vec<optional::Later>,
    /// The `implements` blocks whose interface resolved.
    implementations: Vec<implements::Block<'a>>,
    /// What serves the members of atoms, for linking.
    bound: Vec<Bound>,
}

/// A member of an atom that something serves.
struct Bound {
    atom: AtomIndex,
    interface: InterfaceType,
    member: usize,
    served: Served,
    /// The line that binds it.
    place: Place,
}

/// Where a type is written: which names it can use.
#[derive(Clone, Copy)]
struct Scope<'a> {
    package: PackageIndex,
    /// The type parameters of the interface around it.
    parameters: &'a [ast::Name],
}

impl Scope<'_> {
    fn of(package: PackageIndex) -> Self {
        Self { package, parameters: &[] }
    }
}

impl Bound {
    /// Returns the operation, if one serves the member.
    fn operation(&self) -> Option<OperationIndex> {
        match self.served {
            Served::Operation(at) => Some(at),
            Served::State(_)
            | Served::Edge(_)
            | Served::Inverse(_)
            | Served::Stream(_)
            | Served::Append(_) => None,
        }
    }
}

impl Checker<'_, '_, '_> {
    fn packages(&mut self) {
        self.made.packages = self
            .names
            .packages
            .iter()
            .map(|package| Package {
                name: package.ast.name.value.clone(),
                id: package.ast.id.value.clone(),
                revision: package.ast.revision.value.clone(),
                digest: digest(package),
                sources: package.files.iter().map(|file| file.source).collect(),
                uses: package.uses.iter().copied().collect(),
                place: package.ast.place,
            })
            .collect();
    }

    /// Returns what a named type stands for, or nothing if it did not resolve.
    fn shape<'t>(&'t self, mut ty: &'t Type) -> Option<&'t Type> {
        while let Type::Named(at) = ty {
            ty = &self.made.types.get(at.get())?.ty;
        }
        Some(ty)
    }
}
