//! Records and names for other types.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Location, doc};
use crate::plan::{Body, Declared};

/// `pub struct ThreadData { … }` or `pub type Names = Vec<String>;`
pub(super) fn declared(here: &Location<'_>, declared: &Declared) -> TokenStream {
    let Declared { name, parameters, .. } = declared;
    let is_generic = !parameters.is_empty();
    let docs = doc::sentence(&format!("{}.", declared.doc));
    match &declared.body {
        Body::Alias(ty) => {
            let ty = here.ty(ty);
            let generics = is_generic.then(|| quote! { <#(#parameters),*> });
            quote! {
                #docs
                pub type #name #generics = #ty;
            }
        }
        Body::Record { fields, eq } => {
            let eq = eq.then(|| quote! { Eq, });
            // The arguments of an interface, which a field may lead to, are such.
            let generics = is_generic.then(|| quote! { <#(#parameters: 'static),*> });
            let fields = fields.iter().map(|field| {
                let docs = doc::citation(&field.citation);
                let name = &field.name;
                let ty = here.ty(&field.ty);
                quote! { #docs pub #name: #ty }
            });
            quote! {
                #docs
                #[derive(Clone, PartialEq, #eq Debug, serde::Serialize, serde::Deserialize)]
                pub struct #name #generics { #(#fields,)* }
            }
        }
    }
}
