//! A package as code: its definitions' texts and a function for each operation.

use crate::call::Call;
use crate::error::CallError;
use crate::snapshot::Snapshot;
use crate::verify::Finding;

/// Runs an operation: its input's bytes in, its output's bytes out.
pub type Handler = fn(&Call<'_>, &[u8]) -> Result<Vec<u8>, CallError>;

/// Checks what a package promises beyond types: hands each breach that it finds to the second
/// argument.
pub type Check = fn(&Snapshot<'_>, &mut dyn FnMut(Finding)) -> Result<(), CallError>;

/// Something that always holds in a store of the package, and how to check it.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// What holds, in a few words.
    pub name: &'static str,
    /// Finds where it does not.
    pub check: Check,
}

/// A package as code. Generated: `package::<Handlers>()`.
#[derive(Clone, Debug)]
pub struct PackageCode {
    /// `package:org.quixos.agent:runtime`
    pub id: &'static str,
    /// `package:org.quixos.agent:runtime@1`
    pub revision: &'static str,
    /// The digest of the definitions that the code was made from.
    pub digest: &'static str,
    /// The definition files, by name.
    pub sources: &'static [(&'static str, &'static str)],
    /// The id of each operation with the function that runs it.
    pub handlers: Vec<(&'static str, Handler)>,
    /// What `verify` checks for this package.
    pub invariants: Vec<Invariant>,
}

impl PackageCode {
    /// Adds something for `verify` to check.
    #[must_use]
    pub fn with_invariant(mut self, name: &'static str, check: Check) -> Self {
        self.invariants.push(Invariant { name, check });
        self
    }
}
