//! What a generated module imports: exactly what it names.
//!
//! Names of the definition never are one of these (`plan/` keeps them apart), so an identifier
//! that is one and stands at the start of a path is the import.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;

/// The imports at the root of a package's module. Traits come without their names, which the
/// definition may use itself; they are there for their constants.
pub(super) fn of_package(body: &TokenStream, has_roots: bool, has_clients: bool) -> TokenStream {
    let names = used(body, &["CallError", "Entries", "InterfaceRef", "ObjectRef", "Ref"]);
    let mut imports: Vec<_> = names.iter().map(|name| quote! { #name }).collect();
    imports.extend(has_roots.then(|| quote! { Atom as _ }));
    imports.extend(has_clients.then(|| quote! { Interface as _ }));
    imports.sort_by_key(ToString::to_string);
    if imports.is_empty() {
        return TokenStream::new();
    }
    quote! { use quixos_runtime::{#(#imports),*}; }
}

/// The imports in the module of an operation.
pub(super) fn of_operation(body: &TokenStream) -> TokenStream {
    let dispatch = used(body, &["decode_input", "encode_output"]);
    let runtime = used(body, &["Call", "CallError", "Entries", "InterfaceRef", "ObjectRef", "Ref"]);
    quote! {
        use chrono::{DateTime, Utc};
        use quixos_runtime::dispatch::{#(#dispatch),*};
        use quixos_runtime::{#(#runtime),*};
    }
}

/// Returns those of some names that occur at the start of a path.
fn used(body: &TokenStream, names: &[&str]) -> Vec<Ident> {
    let mut found = BTreeSet::new();
    collect(body, &mut found);
    let is_used = |name: &&&str| found.contains(**name);
    names.iter().filter(is_used).map(|name| Ident::new(name, Span::call_site())).collect()
}

fn collect(tokens: &TokenStream, found: &mut BTreeSet<String>) {
    let mut colons = 0;
    for token in tokens.clone() {
        let is_colon = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ':');
        match token {
            // One colon stands before a type, two stand inside a path.
            TokenTree::Ident(name) if colons < 2 => {
                found.insert(name.to_string());
            }
            TokenTree::Group(group) => collect(&group.stream(), found),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        colons = if is_colon { colons + 1 } else { 0 };
    }
}
