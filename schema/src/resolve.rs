//! Which package a file belongs to, and what each name means there.
//!
//! A file belongs to the package whose block stands in it, or to the one that `part of` names.
//! All files of a package share their names: types, interfaces and atoms one set of them (a name
//! that is both an interface and a type would confuse readers and generated code alike),
//! operations another, since they are only ever written where nothing else can be. What another
//! package defines is visible after `import` or `external atom`, in every file of the package.
//!
//! Positions in [`Names`] are those of [`Definitions`](crate::Definitions): items in the order of
//! the sources, those that clash included, so that each can still be checked. A name that clashes
//! means the first of its definitions.

mod imports;
mod packages;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{self, Item};
use crate::code::Code;
use crate::definitions::{AtomIndex, InterfaceIndex, OperationIndex, PackageIndex, TypeIndex};
use crate::diagnostic::Diagnostic;
use crate::report::Report;
use crate::source::Place;

/// The words for types that need no definition.
pub(crate) const BUILT_IN: [&str; 14] = [
    "unit",
    "bool",
    "int32",
    "int64",
    "uint32",
    "uint64",
    "float64",
    "string",
    "bytes",
    "optional",
    "list",
    "record",
    "atom-ref",
    "interface-ref",
];

/// Every item of a set of files, and what their names mean.
#[derive(Default)]
pub(crate) struct Names<'a> {
    pub(crate) packages: Vec<PackageNames<'a>>,
    pub(crate) types: Vec<Owned<'a, ast::TypeAlias>>,
    pub(crate) interfaces: Vec<Owned<'a, ast::Interface>>,
    pub(crate) atoms: Vec<Owned<'a, ast::Atom>>,
    pub(crate) operations: Vec<Owned<'a, ast::Operation>>,
    /// Who defines what, by name, over all packages.
    definers: BTreeMap<&'a str, Vec<(PackageIndex, Thing)>>,
}

/// An item with the package that defines it.
pub(crate) struct Owned<'a, T> {
    pub(crate) package: PackageIndex,
    pub(crate) ast: &'a T,
}

/// A package and what its names mean.
pub(crate) struct PackageNames<'a> {
    pub(crate) ast: &'a ast::Package,
    pub(crate) files: Vec<&'a ast::File>,
    pub(crate) uses: BTreeSet<PackageIndex>,
    things: BTreeMap<&'a str, Entry<Thing>>,
    operations: BTreeMap<&'a str, Entry<Option<OperationIndex>>>,
}

/// What a name means.
pub(crate) struct Entry<T> {
    means: T,
    /// Where it got this meaning.
    place: Place,
    /// If that was a line that names something of another package, whether anything used it.
    imported: Option<Cell<bool>>,
}

impl<T: Copy> Entry<T> {
    fn meaning(&self) -> T {
        if let Some(used) = &self.imported {
            used.set(true);
        }
        self.means
    }
}

/// What is named in types, edges and `implements`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Thing {
    Type(TypeIndex),
    Interface(InterfaceIndex),
    Atom(AtomIndex),
    /// Brought by a line that did not resolve, which was reported there.
    Unknown,
}

impl Thing {
    /// Returns `a type`, `an interface`, `an atom`.
    pub(crate) fn article(self) -> &'static str {
        match self {
            Self::Type(_) => "a type",
            Self::Interface(_) => "an interface",
            Self::Atom(_) => "an atom",
            Self::Unknown => "unknown",
        }
    }
}

/// Finds out what every name of a set of files means.
pub(crate) fn resolve<'a>(files: &'a [ast::File], report: &mut Report<'_>) -> Names<'a> {
    let mut names = Names::default();
    names.collect_packages(files, report);
    let homes: Vec<_> = files.iter().map(|file| names.home(file, report)).collect();
    for (file, home) in files.iter().zip(&homes) {
        if let Some(home) = *home {
            names.packages[home.get()].files.push(file);
            names.collect_items(file, home, report);
        }
    }
    for (file, _) in files.iter().zip(&homes).filter(|(_, home)| home.is_none()) {
        // What it defines is unknown to all others, and that is not their fault.
        report.distrust(file.source);
    }
    names.collect_operations(report);
    for (file, home) in files.iter().zip(&homes) {
        if let Some(home) = *home {
            names.imports(file, home, report);
        }
    }
    names
}

impl<'a> Names<'a> {
    /// Returns what a name means in a package, and notes that it was used.
    pub(crate) fn thing(&self, package: PackageIndex, name: &str) -> Option<Thing> {
        self.packages[package.get()].things.get(name).map(Entry::meaning)
    }

    /// Returns the operation of a name in a package, and notes that it was used. The inner
    /// `None` is one whose import did not resolve.
    pub(crate) fn operation(
        &self,
        package: PackageIndex,
        name: &str,
    ) -> Option<Option<OperationIndex>> {
        self.packages[package.get()].operations.get(name).map(Entry::meaning)
    }

    /// Returns every thing that a package can name.
    pub(crate) fn things(&self, package: PackageIndex) -> impl Iterator<Item = (&'a str, Thing)> {
        self.packages[package.get()].things.iter().map(|(name, entry)| (*name, entry.means))
    }

    /// Returns the name of every operation that a package can name.
    pub(crate) fn operation_names(&self, package: PackageIndex) -> impl Iterator<Item = &'a str> {
        self.packages[package.get()].operations.keys().copied()
    }

    /// Returns every thing that a package defines, with the name it has there.
    pub(crate) fn defined(
        &self,
        package: PackageIndex,
    ) -> impl Iterator<Item = (&'a ast::Name, Thing)> {
        let types = (0u32..)
            .zip(&self.types)
            .filter(move |(_, it)| it.package == package)
            .map(|(at, it)| (&it.ast.name, Thing::Type(TypeIndex(at))));
        let interfaces = (0u32..)
            .zip(&self.interfaces)
            .filter(move |(_, it)| it.package == package)
            .map(|(at, it)| (&it.ast.name, Thing::Interface(InterfaceIndex(at))));
        let atoms = (0u32..)
            .zip(&self.atoms)
            .filter(move |(_, it)| it.package == package)
            .map(|(at, it)| (&it.ast.name, Thing::Atom(AtomIndex(at))));
        types.chain(interfaces).chain(atoms)
    }

    /// Returns what the packages define under a name.
    pub(crate) fn definers(&self, name: &str) -> &[(PackageIndex, Thing)] {
        self.definers.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns every operation that a package defines.
    pub(crate) fn defined_operations(
        &self,
        package: PackageIndex,
    ) -> impl Iterator<Item = (&'a ast::Name, OperationIndex)> {
        (0u32..)
            .zip(&self.operations)
            .filter(move |(_, it)| it.package == package)
            .map(|(at, it)| (&it.ast.name, OperationIndex(at)))
    }

    /// Returns every package.
    pub(crate) fn package_indices(&self) -> impl Iterator<Item = PackageIndex> + use<> {
        (0..self.packages.len()).map(position).map(PackageIndex)
    }

    /// Returns the name of a package.
    pub(crate) fn package_name(&self, package: PackageIndex) -> &'a str {
        &self.packages[package.get()].ast.name.value
    }

    /// Warns of what was brought from another package and never used.
    pub(crate) fn warn_unused(&self, report: &mut Report<'_>) {
        for package in &self.packages {
            let things = package
                .things
                .iter()
                .filter_map(|(name, entry)| Some((name, entry.imported.as_ref()?, entry.place)));
            let operations = package
                .operations
                .iter()
                .filter_map(|(name, entry)| Some((name, entry.imported.as_ref()?, entry.place)));
            for (name, used, place) in things.chain(operations) {
                if !used.get() {
                    let message = format!("`{name}` is not used in this package");
                    report.push(
                        Diagnostic::new(Code::UnusedImport, place, message)
                            .help("remove this line"),
                    );
                }
            }
        }
    }

    fn collect_items(
        &mut self,
        file: &'a ast::File,
        package: PackageIndex,
        report: &mut Report<'_>,
    ) {
        for item in &file.items {
            let (name, means) = match item {
                Item::TypeAlias(ast) => {
                    self.types.push(Owned { package, ast });
                    (&ast.name, Thing::Type(TypeIndex(last(&self.types))))
                }
                Item::Interface(ast) => {
                    self.interfaces.push(Owned { package, ast });
                    (&ast.name, Thing::Interface(InterfaceIndex(last(&self.interfaces))))
                }
                Item::Atom(ast) => {
                    self.atoms.push(Owned { package, ast });
                    (&ast.name, Thing::Atom(AtomIndex(last(&self.atoms))))
                }
                Item::PartOf(_) | Item::ExternalAtom(_) | Item::Import(_) | Item::Package(_) => {
                    continue;
                }
            };
            check_built_in(name, report);
            self.definers.entry(&name.value).or_default().push((package, means));
            let entry = Entry { means, place: name.place, imported: None };
            insert(&mut self.packages[package.get()].things, name, entry, report);
        }
    }

    fn collect_operations(&mut self, report: &mut Report<'_>) {
        for (at, package) in (0u32..).zip(&mut self.packages) {
            for ast in &package.ast.operations {
                self.operations.push(Owned { package: PackageIndex(at), ast });
                let means = Some(OperationIndex(last(&self.operations)));
                let entry = Entry { means, place: ast.name.place, imported: None };
                insert(&mut package.operations, &ast.name, entry, report);
            }
        }
    }
}

/// Reports a name that a built-in type has.
pub(crate) fn check_built_in(name: &ast::Name, report: &mut Report<'_>) {
    if BUILT_IN.contains(&name.value.as_str()) {
        let message = format!("`{}` is a built-in type", name.value);
        report.push(
            Diagnostic::new(Code::BuiltInName, name.place, message).help("choose another name"),
        );
    }
}

/// Enters a definition under its name, or reports that the name is taken.
fn insert<'a, T>(
    names: &mut BTreeMap<&'a str, Entry<T>>,
    name: &'a ast::Name,
    entry: Entry<T>,
    report: &mut Report<'_>,
) {
    match names.get(name.value.as_str()) {
        Some(first) => report_duplicate(name, first.place, report),
        None => {
            names.insert(&name.value, entry);
        }
    }
}

/// Reports that a name which comes from elsewhere is taken.
fn report_taken(name: &ast::Name, first: Place, report: &mut Report<'_>) {
    let message = format!("`{}` already means something else in this package", name.value);
    report.push(
        Diagnostic::new(Code::DuplicateName, name.place, message)
            .also(first, "it got its meaning here"),
    );
}

fn report_duplicate(name: &ast::Name, first: Place, report: &mut Report<'_>) {
    let message = format!("`{}` is defined twice", name.value);
    report.push(
        Diagnostic::new(Code::DuplicateName, name.place, message)
            .also(first, "the first stands here"),
    );
}

/// Returns names in backticks, as a list in a sentence.
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.as_slice() {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn position(at: usize) -> u32 {
    u32::try_from(at).expect("a source has fewer than 2^32 bytes, and an item more than none")
}

fn last<T>(items: &[T]) -> u32 {
    position(items.len() - 1)
}
