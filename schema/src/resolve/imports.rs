//! What a package names of others: `import` and `external atom`.
//!
//! A line that does not resolve still gives its name a meaning, an unknown one, so that its uses
//! are not reported as well.

use std::cell::Cell;

use super::{Entry, Names, Thing, listed};
use crate::ast::{self, Import, ImportKind, Item};
use crate::code::Code;
use crate::definitions::{AtomIndex, OperationIndex, PackageIndex};
use crate::diagnostic::Diagnostic;
use crate::report::Report;
use crate::source::Place;

/// Something that an import may bring.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Thing(Thing),
    Operation(OperationIndex),
}

impl<'a> Names<'a> {
    /// Enters what a file names of other packages.
    pub(super) fn imports(
        &mut self,
        file: &'a ast::File,
        home: PackageIndex,
        report: &mut Report<'_>,
    ) {
        for item in &file.items {
            match item {
                Item::Import(import) => self.import(import, home, report),
                // Of a line that could not be read, the name may be another word.
                Item::ExternalAtom(external) if report.is_unread(external.place) => {}
                Item::ExternalAtom(external) => self.external(external, home, report),
                Item::PartOf(_)
                | Item::TypeAlias(_)
                | Item::Interface(_)
                | Item::Atom(_)
                | Item::Package(_) => {}
            }
        }
    }

    fn external(
        &mut self,
        external: &'a ast::ExternalAtom,
        home: PackageIndex,
        report: &mut Report<'_>,
    ) {
        let found = (0u32..).map(AtomIndex).zip(&self.atoms).find_map(|(at, it)| {
            (it.ast.id.value == external.id.value).then_some((at, it.package, &it.ast.name))
        });
        let (thing, package) = match found {
            Some((_, package, name)) if package == home && name.value != external.name.value => {
                let message = format!(
                    "the atom of this id is named `{}` in this package, not `{}`",
                    name.value, external.name.value
                );
                report.push(
                    Diagnostic::new(Code::OtherExternalName, external.name.place, message)
                        .also(name.place, "it is defined here")
                        .help(format!("call it `{}` here too", name.value)),
                );
                (Thing::Unknown, home)
            }
            Some((at, package, _)) => (Thing::Atom(at), package),
            None => {
                self.report_unknown_id(external, report);
                (Thing::Unknown, home)
            }
        };
        self.enter_thing(&external.name, external.place, thing, package, home, report);
    }

    fn report_unknown_id(&self, external: &ast::ExternalAtom, report: &mut Report<'_>) {
        let ids = self.atoms.iter().map(|it| it.ast.id.value.as_str());
        let same_name = self.atoms.iter().find(|it| it.ast.name.value == external.name.value);
        let message = format!("no atom has the id `{}`", external.id.value);
        let mut diagnostic = Diagnostic::new(Code::UnknownAtomId, external.id.place, message)
            .maybe_help(report.did_you_mean(&external.id.value, ids));
        if let Some(atom) = same_name {
            diagnostic = diagnostic.also(
                atom.ast.id.place,
                format!("the atom named `{}` has this id", external.name.value),
            );
        }
        report.push_absent(&external.id.value, diagnostic);
    }

    fn import(&mut self, import: &'a Import, home: PackageIndex, report: &mut Report<'_>) {
        let found = self.find_import(import, home, report);
        let package = found.map_or(home, |(package, _)| package);
        match (import.kind.value, found.map(|(_, found)| found)) {
            (ImportKind::Operation, found) => {
                let means = match found {
                    Some(Found::Operation(at)) => Some(at),
                    Some(Found::Thing(_)) | None => None,
                };
                self.enter_operation(import, means, package, home, report);
            }
            (ImportKind::Interface | ImportKind::Type, found) => {
                let thing = match found {
                    Some(Found::Thing(thing)) => thing,
                    Some(Found::Operation(_)) | None => Thing::Unknown,
                };
                self.enter_thing(&import.name, import.place, thing, package, home, report);
            }
        }
    }

    /// Returns what an import brings and where from: of the package that it names, or else of its
    /// own, or else of the only other one that has it.
    fn find_import(
        &self,
        import: &Import,
        home: PackageIndex,
        report: &mut Report<'_>,
    ) -> Option<(PackageIndex, Found)> {
        let name = import.name.value.as_str();
        let kind = import.kind.value;
        if let Some(from) = &import.from {
            let package = self.package(from, report)?;
            let found = self.find_in(package, kind, name);
            if found.is_none() {
                self.report_unknown_import(import, &[package], report);
            }
            return Some((package, found?));
        }
        if let Some(found) = self.find_in(home, kind, name) {
            return Some((home, found));
        }
        let all: Vec<_> = self
            .package_indices()
            .filter(|at| *at != home)
            .filter_map(|at| Some((at, self.find_in(at, kind, name)?)))
            .collect();
        match all.as_slice() {
            [] => {
                let everywhere: Vec<_> = self.package_indices().collect();
                self.report_unknown_import(import, &everywhere, report);
                None
            }
            [only] => Some(*only),
            [(first, _), ..] => {
                let packages: Vec<_> = all.iter().map(|(at, _)| self.package_name(*at)).collect();
                let message = format!("`{name}` is defined by the packages {}", listed(&packages));
                let mut diagnostic =
                    Diagnostic::new(Code::AmbiguousImport, import.name.place, message).help(
                        format!(
                            "say which one: `import {} {name} from {};`",
                            word(kind),
                            self.package_name(*first)
                        ),
                    );
                for (_, found) in &all {
                    diagnostic = diagnostic.also(self.place_of(*found), "one is defined here");
                }
                report.push(diagnostic);
                None
            }
        }
    }

    fn report_unknown_import(
        &self,
        import: &Import,
        packages: &[PackageIndex],
        report: &mut Report<'_>,
    ) {
        let name = import.name.value.as_str();
        let kind = import.kind.value;
        let among = packages.iter().copied();
        // Under another keyword, it would have been found.
        let other = among.clone().find_map(|at| {
            [ImportKind::Interface, ImportKind::Type, ImportKind::Operation]
                .into_iter()
                .find_map(|other| self.find_in(at, other, name).map(|found| (other, found)))
        });
        if let Some((other, found)) = other {
            let message = format!("`{name}` is {}, not {}", article(other), article(kind));
            let from = import.from.as_ref().map(|it| format!(" from {}", it.value));
            let from = from.unwrap_or_default();
            report.push(
                Diagnostic::new(Code::OtherKind, import.kind.place, message)
                    .also(self.place_of(found), "it is defined here")
                    .help(format!("write `import {} {name}{from};`", word(other))),
            );
            return;
        }
        let from = match (&import.from, packages) {
            (Some(_), [package]) => format!("package `{}`", self.package_name(*package)),
            _ => "no package of the set".to_owned(),
        };
        let message = match &import.from {
            Some(_) => format!("{from} defines no {} named `{name}`", word(kind)),
            None => format!("{from} defines {} named `{name}`", article(kind)),
        };
        let elsewhere = self.package_indices().find(|at| self.find_in(*at, kind, name).is_some());
        let known: Vec<_> = among.flat_map(|at| self.names_in(at, kind)).collect();
        let help = match elsewhere {
            Some(package) => Some(format!("package `{}` defines it", self.package_name(package))),
            None => report.did_you_mean(name, known),
        };
        report.push_absent(
            name,
            Diagnostic::new(Code::UnknownImport, import.name.place, message).maybe_help(help),
        );
    }

    fn find_in(&self, package: PackageIndex, kind: ImportKind, name: &str) -> Option<Found> {
        match kind {
            ImportKind::Operation => self
                .defined_operations(package)
                .find(|(it, _)| it.value == name)
                .map(|(_, at)| Found::Operation(at)),
            ImportKind::Interface | ImportKind::Type => self
                .definers(name)
                .iter()
                .find(|(of, thing)| *of == package && is_kind(*thing, kind))
                .map(|(_, thing)| Found::Thing(*thing)),
        }
    }

    fn names_in(&self, package: PackageIndex, kind: ImportKind) -> Vec<&'a str> {
        match kind {
            ImportKind::Operation => {
                self.defined_operations(package).map(|(name, _)| name.value.as_str()).collect()
            }
            ImportKind::Interface | ImportKind::Type => self
                .defined(package)
                .filter(|(_, thing)| is_kind(*thing, kind))
                .map(|(name, _)| name.value.as_str())
                .collect(),
        }
    }

    fn place_of(&self, found: Found) -> Place {
        match found {
            Found::Operation(at) => self.operations[at.get()].ast.name.place,
            Found::Thing(Thing::Type(at)) => self.types[at.get()].ast.name.place,
            Found::Thing(Thing::Interface(at)) => self.interfaces[at.get()].ast.name.place,
            Found::Thing(Thing::Atom(at)) => self.atoms[at.get()].ast.name.place,
            Found::Thing(Thing::Unknown) => unreachable!("only what is defined is found"),
        }
    }

    /// Gives a name the meaning of something that `package` defines. Naming the same thing again
    /// changes nothing: each file of a package may say what it expects.
    fn enter_thing(
        &mut self,
        name: &'a ast::Name,
        place: Place,
        means: Thing,
        package: PackageIndex,
        home: PackageIndex,
        report: &mut Report<'_>,
    ) {
        let names = &mut self.packages[home.get()];
        if package != home {
            names.uses.insert(package);
        }
        match names.things.get(name.value.as_str()) {
            Some(first) if first.means == means || means == Thing::Unknown => {}
            Some(first) => super::report_taken(name, first.place, report),
            None => {
                let imported = (package != home).then(|| Cell::new(false));
                names.things.insert(&name.value, Entry { means, place, imported });
            }
        }
    }

    fn enter_operation(
        &mut self,
        import: &'a Import,
        means: Option<OperationIndex>,
        package: PackageIndex,
        home: PackageIndex,
        report: &mut Report<'_>,
    ) {
        let names = &mut self.packages[home.get()];
        if package != home {
            names.uses.insert(package);
        }
        match names.operations.get(import.name.value.as_str()) {
            Some(first) if first.means == means || means.is_none() => {}
            Some(first) => super::report_taken(&import.name, first.place, report),
            None => {
                let imported = (package != home).then(|| Cell::new(false));
                let entry = Entry { means, place: import.place, imported };
                names.operations.insert(&import.name.value, entry);
            }
        }
    }
}

fn is_kind(thing: Thing, kind: ImportKind) -> bool {
    matches!(
        (thing, kind),
        (Thing::Type(_), ImportKind::Type) | (Thing::Interface(_), ImportKind::Interface)
    )
}

fn word(kind: ImportKind) -> &'static str {
    match kind {
        ImportKind::Interface => "interface",
        ImportKind::Type => "type",
        ImportKind::Operation => "operation",
    }
}

fn article(kind: ImportKind) -> &'static str {
    match kind {
        ImportKind::Interface => "an interface",
        ImportKind::Type => "a type",
        ImportKind::Operation => "an operation",
    }
}
