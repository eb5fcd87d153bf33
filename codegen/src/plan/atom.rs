//! Atoms: what a host creates them from, and the interfaces that they implement.

use quixos_schema::{AtomIndex, Definitions};

use super::lowering::counted;
use super::types::Home;
use super::{Names, PackagePlan};
use crate::error::{GenerateError, Named};
use crate::name::Scope;

impl Names {
    pub(super) fn plan_atom(
        &self,
        definitions: &Definitions,
        index: AtomIndex,
        scope: &mut Scope,
        into: &mut PackagePlan,
    ) -> Result<(), GenerateError> {
        let atom = definitions.atom(index);
        let owner = Named::new(&definitions.sources, "atom", &atom.name, atom.place);
        let name = &self.atoms[index.get()];
        let home = Home::root(atom.package);
        let mut lowering = self.lowering(definitions, home, scope, &mut into.declared, &owner);
        if let Some(root) = &atom.root {
            into.roots.push((index, lowering.creation(root, &format!("{name}Input"))?));
        }
        for (position, implementation) in atom.implements.iter().enumerate() {
            let of = implementation.interface.interface;
            // Twice the same interface, of other arguments, which may need names of their own.
            let earlier = &atom.implements[..position];
            let before = earlier.iter().filter(|it| it.interface.interface == of).count();
            let path = format!("{name}{}{}", self.interfaces[of.get()], counted(before));
            let interface = lowering.interface(&implementation.interface, &path)?;
            into.implements.push((index, interface));
        }
        Ok(())
    }
}
