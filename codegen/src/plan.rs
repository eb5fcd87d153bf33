//! What everything in the definitions is called and typed in Rust. All decisions, no tokens.
//!
//! The names of a package depend on that package and on those that it uses, never on those that
//! use it. So two crates that generate code from overlapping sets of packages agree, and one can
//! refer to the other's items by path.
//!
//! Start at [`Plan::new`], which names every package; `emit/` writes one of them.

mod interface;
mod operation;
mod types;

use proc_macro2::Ident;
use quixos_schema::{
    AtomIndex, Definitions, InterfaceIndex, OperationIndex, PackageIndex, Place, Type, TypeIndex,
};

pub(crate) use interface::{EdgePlan, EdgeShape, InterfacePlan, MemberKind, MemberPlan};
pub(crate) use operation::{EdgeVerbs, OperationPlan, RequirementKind, RequirementPlan};
pub(crate) use types::{Body, Declared, Home, Item, RustType};

use crate::error::{GenerateError, Named};
use crate::name::{Scope, pascal, snake};
use types::{Lowering, counted};

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
        let mut packages: Vec<PackagePlan> = Vec::new();
        let mut interfaces: Vec<Option<InterfacePlan>> = vec![None; definitions.interfaces.len()];
        for (package, _) in definitions.packages() {
            let scope = &mut scopes[package.get()];
            packages.push(names.plan_package(definitions, package, scope, &mut interfaces)?);
        }
        let interfaces: Vec<InterfacePlan> = interfaces.into_iter().flatten().collect();
        for (package, _) in definitions.packages() {
            for (index, operation) in definitions.operations() {
                if operation.package == package {
                    let plan = names.plan_operation(definitions, index, &interfaces)?;
                    packages[package.get()].operations.push(plan);
                }
            }
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

    /// Plans all but the operations of a package, which need the interfaces of every package.
    fn plan_package(
        &self,
        definitions: &Definitions,
        package: PackageIndex,
        scope: &mut Scope,
        interfaces: &mut [Option<InterfacePlan>],
    ) -> Result<PackagePlan, GenerateError> {
        let mut declared = Vec::new();
        for (index, named) in definitions.types.iter().enumerate() {
            if named.package == package {
                let owner = Named::new(&definitions.sources, "type", &named.name, named.place);
                let name = &self.types[index];
                let doc = format!("`type {}`", named.name);
                self.lowering(definitions, Home::root(package), scope, &mut declared, &owner)
                    .declare(name, &doc, &named.ty)?;
            }
        }
        for (index, interface) in definitions.interfaces() {
            if interface.package == package {
                interfaces[index.get()] =
                    Some(self.plan_interface(definitions, index, scope, &mut declared)?);
            }
        }
        let mut roots = Vec::new();
        let mut implements = Vec::new();
        for (index, atom) in definitions.atoms() {
            if atom.package != package {
                continue;
            }
            let owner = Named::new(&definitions.sources, "atom", &atom.name, atom.place);
            let name = self.atoms[index.get()].to_string();
            let mut lowering =
                self.lowering(definitions, Home::root(package), scope, &mut declared, &owner);
            if let Some(root) = &atom.root {
                roots.push((index, lowering.creation(root, &format!("{name}Input"))?));
            }
            for (position, implementation) in atom.implements.iter().enumerate() {
                let of = implementation.interface.interface;
                let earlier = &atom.implements[..position];
                let before = earlier.iter().filter(|it| it.interface.interface == of).count();
                let path = format!("{name}{}{}", self.interfaces[of.get()], counted(before));
                implements.push((index, lowering.interface(&implementation.interface, &path)?));
            }
        }
        Ok(PackagePlan { declared, roots, implements, operations: Vec::new() })
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

/// Tells whether a type holds a record without a name, so that its Rust type needs one.
fn has_anonymous(ty: &Type) -> bool {
    match ty {
        Type::Record(_) => true,
        Type::Optional(inner) | Type::List(inner) => has_anonymous(inner),
        Type::InterfaceRef(of) => of.arguments.iter().any(has_anonymous),
        Type::Unit
        | Type::Bool
        | Type::Int32
        | Type::Int64
        | Type::Uint32
        | Type::Uint64
        | Type::Float64
        | Type::String
        | Type::Bytes
        | Type::Named(_)
        | Type::AtomRef(_)
        | Type::Parameter(_) => false,
    }
}
