//! Which packages there are, and which of them a file belongs to: the one whose block stands in
//! it, or the one that `part of` names.

use std::collections::{BTreeMap, BTreeSet};

use super::{Names, PackageNames, listed};
use crate::ast::{self, Item};
use crate::code::Code;
use crate::definitions::PackageIndex;
use crate::diagnostic::Diagnostic;
use crate::report::Report;
use crate::source::Place;

impl<'a> Names<'a> {
    pub(super) fn collect_packages(&mut self, files: &'a [ast::File], report: &mut Report<'_>) {
        let blocks = files.iter().flat_map(|file| &file.items).filter_map(|item| match item {
            Item::Package(package) => Some(package),
            Item::PartOf(_)
            | Item::ExternalAtom(_)
            | Item::Import(_)
            | Item::TypeAlias(_)
            | Item::Interface(_)
            | Item::Atom(_) => None,
        });
        for ast in blocks {
            if let Some(first) = self.find_package(&ast.name.value) {
                let first = self.packages[first.get()].ast.name.place;
                let message = format!("two packages named `{}`", ast.name.value);
                report.push(
                    Diagnostic::new(Code::DuplicateName, ast.name.place, message)
                        .also(first, "the first stands here")
                        .help(format!(
                            "a package has one block; its other files say `part of {};`",
                            ast.name.value
                        )),
                );
            }
            self.packages.push(PackageNames {
                ast,
                files: Vec::new(),
                uses: BTreeSet::new(),
                things: BTreeMap::new(),
                operations: BTreeMap::new(),
            });
        }
    }

    fn find_package(&self, name: &str) -> Option<PackageIndex> {
        self.package_indices().find(|at| self.package_name(*at) == name)
    }

    /// Returns the package of a name, or reports that there is none.
    pub(super) fn package(
        &self,
        name: &ast::Name,
        report: &mut Report<'_>,
    ) -> Option<PackageIndex> {
        let found = self.find_package(&name.value);
        if found.is_none() {
            let known: Vec<_> = self.package_indices().map(|at| self.package_name(at)).collect();
            let help =
                report.did_you_mean(&name.value, known.iter().copied()).unwrap_or_else(|| {
                    if known.is_empty() {
                        "no file of the set has a `package` block".to_owned()
                    } else {
                        format!("the packages of the set are {}", listed(&known))
                    }
                });
            let message = format!("no package named `{}`", name.value);
            let diagnostic = Diagnostic::new(Code::UnknownPackage, name.place, message).help(help);
            // Until a file is distrusted, every block of a package was seen.
            if report.trusts_all() {
                report.push(diagnostic);
            } else {
                report.push_absent(&name.value, diagnostic);
            }
        }
        found
    }

    /// Returns the package that a file belongs to. Of several, the first.
    pub(super) fn home(
        &self,
        file: &'a ast::File,
        report: &mut Report<'_>,
    ) -> Option<PackageIndex> {
        let mut home = None;
        let mut first: Option<Place> = None;
        for item in &file.items {
            let place = match item {
                Item::Package(package) => package.name.place,
                Item::PartOf(part) => part.place,
                Item::ExternalAtom(_)
                | Item::Import(_)
                | Item::TypeAlias(_)
                | Item::Interface(_)
                | Item::Atom(_) => continue,
            };
            if let Some(first) = first {
                let message = "this file already belongs to a package".to_owned();
                report.push(
                    Diagnostic::new(Code::SecondPackage, place, message)
                        .also(first, "it says so here")
                        .help("a file has one `package` block or one `part of`, not both"),
                );
                continue;
            }
            first = Some(place);
            home = if let Item::PartOf(part) = item {
                self.package(&part.package, report)
            } else {
                self.package_indices().find(|at| self.packages[at.get()].ast.name.place == place)
            };
        }
        if first.is_none() && !report.distrusts(file.source) {
            self.report_homeless(file, report);
        }
        home
    }

    fn report_homeless(&self, file: &'a ast::File, report: &mut Report<'_>) {
        let start = Place { source: file.source, start: 0, end: 0 };
        let place = file.items.first().map_or(start, head);
        let help = match self.packages.as_slice() {
            [] => "say which it is: `package NAME id \"…\" revision \"…\" {…}`".to_owned(),
            [only] => format!("begin it with `part of {};`", only.ast.name.value),
            _ => {
                let lines: Vec<_> = self
                    .package_indices()
                    .map(|at| format!("`part of {};`", self.package_name(at)))
                    .collect();
                format!("begin it with {}", lines.join(" or "))
            }
        };
        report.push(
            Diagnostic::new(Code::NoPackage, place, "this file belongs to no package").help(help),
        );
    }
}

/// Returns the place of the first words of an item, up to its name.
fn head(item: &Item) -> Place {
    match item {
        Item::PartOf(it) => it.place,
        Item::ExternalAtom(it) => it.place.up_to(it.name.place),
        Item::Import(it) => it.place.up_to(it.name.place),
        Item::TypeAlias(it) => it.place.up_to(it.name.place),
        Item::Interface(it) => it.place.up_to(it.name.place),
        Item::Atom(it) => it.place.up_to(it.name.place),
        Item::Package(it) => it.place.up_to(it.name.place),
    }
}
