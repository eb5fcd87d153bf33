//! What a host loads: the package's identity, its texts, and a function for each operation.

use proc_macro2::TokenStream;
use quixos_schema::PackageIndex;
use quote::quote;

use super::{Location, doc};
use crate::generate::SourcePath;

/// Writes the constants that say which package it is.
pub(super) fn head(here: &Location<'_>, package: PackageIndex) -> TokenStream {
    let package = here.plan.definitions.package(package);
    let (id, revision, digest) = (&package.id, &package.revision, &package.digest);
    quote! {
        /// The package's id.
        pub const PACKAGE_ID: &str = #id;
        /// The revision that this code was made from.
        pub const REVISION: &str = #revision;
        /// The digest of the definitions that this code was made from.
        pub const DIGEST: &str = #digest;
    }
}

/// Writes the function that makes code of a type with all handlers. The bounds stand on it and not
/// on a trait of all handlers, so that the compiler names the operation whose handler is missing.
pub(super) fn registry(
    here: &Location<'_>,
    package: PackageIndex,
    sources: SourcePath,
) -> TokenStream {
    let definitions = here.plan.definitions;
    let modules: Vec<_> =
        here.plan.package(package).operations.iter().map(|it| &it.module).collect();
    let texts = definitions.package(package).sources.iter().map(|id| {
        let name = &definitions.sources.get(*id).name;
        let path = match sources {
            SourcePath::Beside => quote! { #name },
            SourcePath::Manifest => {
                let below = format!("/{name}");
                quote! { concat!(env!("CARGO_MANIFEST_DIR"), #below) }
            }
        };
        quote! { (#name, include_str!(#path)) }
    });
    let name = &definitions.package(package).name;
    let docs = doc::sentence(&format!(
        "Returns `{name}` as code that a runtime loads; `H` has a handler for each operation."
    ));
    let bounds = (!modules.is_empty()).then(|| quote! { where H: #(#modules::Handler)+* });
    quote! {
        #docs
        pub fn package<H>() -> quixos_runtime::PackageCode #bounds {
            let handlers: &[(&str, quixos_runtime::Handler)] =
                &[#((#modules::ID, #modules::dispatch::<H>)),*];
            quixos_runtime::PackageCode {
                id: PACKAGE_ID,
                revision: REVISION,
                digest: DIGEST,
                sources: &[#(#texts),*],
                handlers: handlers.to_vec(),
                invariants: Vec::new(),
            }
        }
    }
}
