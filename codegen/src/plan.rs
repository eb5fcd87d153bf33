//! What everything in the definitions is called and typed in Rust. All decisions, no tokens.
//!
//! The names of a package depend on that package and on those that it uses, never on those that
//! use it. So two crates that generate code from overlapping sets of packages agree, and one can
//! refer to the other's items by path. (Whether the receiver of an operation is typed does depend
//! on them: only who sees every atom knows that there is but one.)
//!
//! Start at [`Plan::new`], which names every package; `emit/` writes one of them.

mod atom;
mod interface;
mod lowering;
mod operation;
mod types;

use proc_macro2::Ident;
use quixos_schema::{
    AtomIndex, Definitions, InterfaceIndex, OperationIndex, PackageIndex, Place, TypeIndex,
};

pub(crate) use interface::{EdgePlan, EdgeShape, InterfacePlan, MemberKind, MemberPlan};
pub(crate) use operation::{EdgeVerbs, OperationPlan, RequirementKind, RequirementPlan};
pub(crate) use types::{Body, Declared, Home, Item, RustType};

use crate::error::{GenerateError, Named};
use crate::name::{Scope, pascal, snake};
use lowering::Lowering;

/// What generated code uses at the root of a package's module under its short name.
const ROOT_NAMES: &[&str] = &[
    "CallError",
    "DIGEST",
    "Entries",
    "ID",
    "InterfaceRef",
    "Into",
    "None",
    "ObjectRef",
    "Ok",
    "Option",
    "PACKAGE_ID",
    "REVISION",
    "Ref",
    "Result",
    "Self",
    "String",
    "Vec",
];

/// Modules that would hide a crate which generated code names.
const CRATE_NAMES: &[&str] = &["alloc", "chrono", "core", "quixos_runtime", "serde", "std"];

/// The Rust names of a set of definitions.
pub(crate) struct Plan<'a> {
    pub(crate) definitions: &'a Definitions,
    names: Names,
    interfaces: Vec<InterfacePlan>,
    packages: Vec<PackagePlan>,
}

/// The names of whatever has one of its own, by position in the definitions.
pub(crate) struct Names {
    types: Vec<Ident>,
    interfaces: Vec<Ident>,
    atoms: Vec<Ident>,
    operations: Vec<Ident>,
}

/// What the module of a package declares beside its interfaces.
#[derive(Default)]
pub(crate) struct PackagePlan {
    /// Named types, and the anonymous ones of interfaces and atoms.
    pub(crate) declared: Vec<Declared>,
    /// What its root atoms are created from; the type is `None` for `unit`.
    pub(crate) roots: Vec<(AtomIndex, Option<RustType>)>,
    /// For each atom, the interfaces that it implements.
    pub(crate) implements: Vec<(AtomIndex, RustType)>,
    /// Its operations.
    pub(crate) operations: Vec<OperationPlan>,
}

impl<'a> Plan<'a> {
    /// Names everything.
    ///
    /// # Errors
    /// [`GenerateError::SameName`] when two things become one identifier.
    pub(crate) fn new(definitions: &'a Definitions) -> Result<Self, GenerateError> {
        let mut scopes: Vec<Scope> =
            definitions.packages.iter().map(|_| Scope::new(ROOT_NAMES)).collect();
        // A module in one of its own name reads as a mistake.
        let mut modules: Vec<Scope> = definitions
            .packages
            .iter()
            .map(|package| Scope::new(CRATE_NAMES).without(&snake(&package.name)))
            .collect();
        let names = Names::new(definitions, &mut scopes, &mut modules)?;
        let mut packages: Vec<PackagePlan> =
            definitions.packages.iter().map(|_| PackagePlan::default()).collect();
        for (index, named) in (0u32..).map(TypeIndex).zip(&definitions.types) {
            let at = named.package.get();
            names.plan_type(definitions, index, &mut scopes[at], &mut packages[at])?;
        }
        let mut interfaces = Vec::new();
        for (index, interface) in definitions.interfaces() {
            let at = interface.package.get();
            let declared = &mut packages[at].declared;
            interfaces.push(names.plan_interface(definitions, index, &mut scopes[at], declared)?);
        }
        for (index, atom) in definitions.atoms() {
            let at = atom.package.get();
            names.plan_atom(definitions, index, &mut scopes[at], &mut packages[at])?;
        }
        for (index, operation) in definitions.operations() {
            let plan = names.plan_operation(definitions, index, &interfaces)?;
            packages[operation.package.get()].operations.push(plan);
        }
        Ok(Self { definitions, names, interfaces, packages })
    }

    /// Returns what a package's module declares.
    pub(crate) fn package(&self, at: PackageIndex) -> &PackagePlan {
        &self.packages[at.get()]
    }

    /// Returns every interface, in order.
    pub(crate) fn interfaces(&self) -> impl Iterator<Item = &InterfacePlan> {
        self.interfaces.iter()
    }

    /// Returns an atom's name.
    pub(crate) fn atom(&self, at: AtomIndex) -> &Ident {
        &self.names.atoms[at.get()]
    }
}

impl Names {
    fn new(
        definitions: &Definitions,
        scopes: &mut [Scope],
        modules: &mut [Scope],
    ) -> Result<Self, GenerateError> {
        let named = |kind: &str, name: &str, place: Place| {
            Named::new(&definitions.sources, kind, name, place)
        };
        let types = definitions.types.iter().map(|it| {
            let owner = named("type", &it.name, it.place);
            scopes[it.package.get()].claim(&pascal(&it.name), "Type", &owner)
        });
        let types = types.collect::<Result<_, _>>()?;
        let interfaces = definitions.interfaces.iter().map(|it| {
            let owner = named("interface", &it.name, it.place);
            scopes[it.package.get()].claim(&pascal(&it.name), "Interface", &owner)
        });
        let interfaces = interfaces.collect::<Result<_, _>>()?;
        let atoms = definitions.atoms.iter().map(|it| {
            let owner = named("atom", &it.name, it.place);
            scopes[it.package.get()].claim(&pascal(&it.name), "Atom", &owner)
        });
        let atoms = atoms.collect::<Result<_, _>>()?;
        let operations = definitions.operations.iter().map(|it| {
            let owner = named("operation", &it.name, it.place);
            modules[it.package.get()].claim(&snake(&it.name), "_operation", &owner)
        });
        let operations = operations.collect::<Result<_, _>>()?;
        Ok(Self { types, interfaces, atoms, operations })
    }

    fn plan_type(
        &self,
        definitions: &Definitions,
        index: TypeIndex,
        scope: &mut Scope,
        into: &mut PackagePlan,
    ) -> Result<(), GenerateError> {
        let named = &definitions.types[index.get()];
        let owner = Named::new(&definitions.sources, "type", &named.name, named.place);
        let home = Home::root(named.package);
        let doc = format!("`type {}`", named.name);
        self.lowering(definitions, home, scope, &mut into.declared, &owner).declare(
            &self.types[index.get()],
            &doc,
            &named.ty,
        )
    }

    fn lowering<'l>(
        &'l self,
        definitions: &'l Definitions,
        home: Home,
        scope: &'l mut Scope,
        declared: &'l mut Vec<Declared>,
        owner: &'l Named,
    ) -> Lowering<'l> {
        Lowering {
            names: self,
            definitions,
            home,
            scope,
            declared,
            owner,
            written: &[],
            parameters: &[],
        }
    }

    fn atom_item(&self, definitions: &Definitions, at: AtomIndex) -> Item {
        Home::root(definitions.atom(at).package).item(&self.atoms[at.get()])
    }

    fn interface_item(&self, definitions: &Definitions, at: InterfaceIndex) -> Item {
        Home::root(definitions.interface(at).package).item(&self.interfaces[at.get()])
    }

    fn type_item(&self, definitions: &Definitions, at: TypeIndex) -> Item {
        Home::root(definitions.types[at.get()].package).item(&self.types[at.get()])
    }

    fn operation_home(&self, definitions: &Definitions, at: OperationIndex) -> Home {
        Home {
            package: definitions.operation(at).package,
            module: Some(self.operations[at.get()].clone()),
        }
    }
}
