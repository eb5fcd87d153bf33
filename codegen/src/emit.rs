//! From decided names to tokens: one file per construct, one function per item.
//!
//! Nothing is decided here and no state is kept. Every public item gets documentation, since the
//! code is read by people and compiled under `missing_docs`.

mod atom;
mod client;
mod doc;
mod imports;
mod interface;
mod location;
mod member;
mod operation;
mod record;
mod reference;
mod registry;
mod requirement;

use proc_macro2::TokenStream;
use quixos_schema::PackageIndex;
use quote::quote;

pub(crate) use location::Location;

use crate::generate::SourcePath;
use crate::plan::{Home, Plan};

/// Writes the module of a package, in the order in which it is read: what it is, its objects and
/// their types, how a host runs and uses it, and, for whoever writes the handlers, its operations.
pub(crate) fn package(
    plan: &Plan<'_>,
    paths: &[syn::Path],
    package: PackageIndex,
    sources: SourcePath,
) -> TokenStream {
    let here = Location::new(plan, paths, Home::root(package));
    let planned = plan.package(package);
    let head = registry::head(&here, package);
    let atoms = plan.definitions.atoms().filter(|(_, atom)| atom.package == package);
    let atoms = atoms.map(|(index, _)| atom::atom(&here, planned, index));
    let interfaces: Vec<_> =
        plan.interfaces().filter(|it| it.item.home.package == package).collect();
    let markers = interfaces.iter().map(|it| interface::interface(&here, it));
    let records = planned.declared.iter().map(|it| record::declared(&here, it));
    let registry = registry::registry(&here, package, sources);
    let clients = interfaces.iter().map(|it| client::client(&here, it));
    let outside = quote! {
        #head
        #(#atoms)*
        #(#markers)*
        #(#records)*
        #registry
        #(#clients)*
    };
    let has_clients = interfaces.iter().any(|it| it.client.is_some());
    let imports = imports::of_package(&outside, !planned.roots.is_empty(), has_clients);
    let operations = planned.operations.iter().map(|it| operation::operation(&here, it));
    quote! {
        #imports
        #outside
        #(#operations)*
    }
}
