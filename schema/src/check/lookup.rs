//! What a name means where it stands, or the report that it means nothing there.

use super::Checker;
use crate::ast;
use crate::code::Code;
use crate::definitions::{AtomIndex, InterfaceIndex, OperationIndex, PackageIndex, TypeIndex};
use crate::diagnostic::Diagnostic;
use crate::resolve::{BUILT_IN, Thing};
use crate::source::Place;

/// What a name should be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Type,
    Interface,
    Atom,
}

impl Wanted {
    fn word(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Interface => "interface",
            Self::Atom => "atom",
        }
    }

    fn article(self) -> &'static str {
        match self {
            Self::Type => "a type",
            Self::Interface => "an interface",
            Self::Atom => "an atom",
        }
    }

    fn code(self) -> Code {
        match self {
            Self::Type => Code::UnknownType,
            Self::Interface => Code::UnknownInterface,
            Self::Atom => Code::UnknownAtom,
        }
    }

    fn is(self, thing: Thing) -> bool {
        matches!(
            (self, thing),
            (Self::Type, Thing::Type(_))
                | (Self::Interface, Thing::Interface(_))
                | (Self::Atom, Thing::Atom(_))
        )
    }
}

impl Checker<'_, '_, '_> {
    /// Returns the type of a name.
    pub(super) fn named_type(
        &mut self,
        package: PackageIndex,
        name: &str,
        place: Place,
    ) -> Option<TypeIndex> {
        match self.names.thing(package, name) {
            Some(Thing::Type(at)) => Some(at),
            other => {
                self.report_thing(package, name, place, Wanted::Type, other);
                None
            }
        }
    }

    /// Returns the interface of a name.
    pub(super) fn named_interface(
        &mut self,
        package: PackageIndex,
        name: &ast::Name,
    ) -> Option<InterfaceIndex> {
        match self.names.thing(package, &name.value) {
            Some(Thing::Interface(at)) => Some(at),
            other => {
                self.report_thing(package, &name.value, name.place, Wanted::Interface, other);
                None
            }
        }
    }

    /// Returns the atom of a name.
    pub(super) fn named_atom(
        &mut self,
        package: PackageIndex,
        name: &ast::Name,
    ) -> Option<AtomIndex> {
        match self.names.thing(package, &name.value) {
            Some(Thing::Atom(at)) => Some(at),
            other => {
                self.report_thing(package, &name.value, name.place, Wanted::Atom, other);
                None
            }
        }
    }

    /// Returns the operation of a name.
    pub(super) fn named_operation(
        &mut self,
        package: PackageIndex,
        name: &ast::Name,
    ) -> Option<OperationIndex> {
        if let Some(found) = self.names.operation(package, &name.value) {
            return found;
        }
        let elsewhere = self
            .names
            .package_indices()
            .find(|at| self.names.defined_operations(*at).any(|(it, _)| it.value == name.value));
        let message = format!("no operation named `{}`", name.value);
        let help = match elsewhere {
            Some(at) => Some(format!(
                "package `{}` defines it: add `import operation {} from {};`",
                self.names.package_name(at),
                name.value,
                self.names.package_name(at),
            )),
            None => self.report.did_you_mean(&name.value, self.names.operation_names(package)),
        };
        self.report.push_absent(
            &name.value,
            Diagnostic::new(Code::UnknownOperation, name.place, message).maybe_help(help),
        );
        None
    }

    fn report_thing(
        &mut self,
        package: PackageIndex,
        name: &str,
        place: Place,
        wanted: Wanted,
        found: Option<Thing>,
    ) {
        match found {
            Some(Thing::Unknown) => {}
            Some(other) => self.report_other_kind(name, place, wanted, other),
            None => self.report_unknown(package, name, place, wanted),
        }
    }

    fn report_other_kind(&mut self, name: &str, place: Place, wanted: Wanted, found: Thing) {
        let message = format!("`{name}` is {}, not {}", found.article(), wanted.article());
        let help = match (wanted, found) {
            (Wanted::Type, Thing::Atom(_)) => {
                Some(format!("a reference to one is `atom-ref<{name}>`"))
            }
            (Wanted::Type, Thing::Interface(_)) => {
                Some(format!("a reference to what implements it is `interface-ref<{name}>`"))
            }
            (Wanted::Interface, Thing::Atom(_)) => {
                Some(format!("write `atom {name}` of an edge, `atom-ref<{name}>` of a value"))
            }
            (Wanted::Atom, Thing::Interface(_)) => Some(format!(
                "write `interface {name}` of an edge, `interface-ref<{name}>` of a value"
            )),
            _ => None,
        };
        let mut diagnostic = Diagnostic::new(Code::OtherKind, place, message).maybe_help(help);
        if let Some(at) = self.place_of(found) {
            diagnostic = diagnostic.also(at, "it is defined here");
        }
        self.report.push(diagnostic);
    }

    fn report_unknown(&mut self, package: PackageIndex, name: &str, place: Place, wanted: Wanted) {
        let message = format!("no {} named `{name}`", wanted.word());
        let help = self.elsewhere(name, wanted).or_else(|| {
            let visible = self
                .names
                .things(package)
                .filter(|(_, thing)| wanted.is(*thing))
                .map(|(name, _)| name);
            let built_in = BUILT_IN.into_iter().filter(|_| wanted == Wanted::Type);
            self.report.did_you_mean(name, visible.chain(built_in))
        });
        let help = help.or_else(|| self.near_elsewhere(name, wanted));
        self.report
            .push_absent(name, Diagnostic::new(wanted.code(), place, message).maybe_help(help));
    }

    /// Returns how to name what another package defines.
    fn elsewhere(&self, name: &str, wanted: Wanted) -> Option<String> {
        let (package, thing) =
            self.names.definers(name).iter().find(|(_, thing)| wanted.is(*thing))?;
        let package_name = self.names.package_name(*package);
        let line = if let Thing::Atom(at) = thing {
            let id = &self.names.atoms[at.get()].ast.id.value;
            format!("external atom {name} id \"{id}\";")
        } else {
            format!("import {} {name} from {package_name};", wanted.word())
        };
        Some(format!("package `{package_name}` defines it: add `{line}`"))
    }

    fn near_elsewhere(&self, name: &str, wanted: Wanted) -> Option<String> {
        self.names.package_indices().find_map(|package| {
            let known = self
                .names
                .defined(package)
                .filter(|(_, thing)| wanted.is(*thing))
                .map(|(name, _)| name.value.as_str());
            let near = self.report.meant(name, known)?;
            Some(format!(
                "did you mean `{near}` of package `{}`?",
                self.names.package_name(package)
            ))
        })
    }

    fn place_of(&self, thing: Thing) -> Option<Place> {
        match thing {
            Thing::Type(at) => Some(self.names.types[at.get()].ast.name.place),
            Thing::Interface(at) => Some(self.names.interfaces[at.get()].ast.name.place),
            Thing::Atom(at) => Some(self.names.atoms[at.get()].ast.name.place),
            Thing::Unknown => None,
        }
    }
}
