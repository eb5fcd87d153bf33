//! Atoms: a type without values that names each, what it implements, and how a host creates it.

use proc_macro2::{Literal, TokenStream};
use quixos_schema::AtomIndex;
use quote::quote;

use super::{Location, doc};
use crate::plan::PackagePlan;

/// `pub struct AgentThreadObject;` and what is known about it.
pub(super) fn atom(here: &Location<'_>, package: &PackagePlan, index: AtomIndex) -> TokenStream {
    let atom = here.plan.definitions.atom(index);
    let name = here.plan.atom(index);
    let id = &atom.id;
    let tag = atom.tag.0.map(Literal::u8_unsuffixed);
    let docs = doc::citation(&format!("atom {} id {id:?}", atom.name));
    let implements = package.implements.iter().filter(|(at, _)| *at == index).map(|(_, it)| {
        let interface = here.ty(it);
        quote! { impl quixos_runtime::Implements<#interface> for #name {} }
    });
    let root = package.roots.iter().find(|(at, _)| *at == index);
    let create = root.map(|(_, input)| {
        let input = input.as_ref().map(|ty| here.argument(&quote::format_ident!("input"), ty));
        let (taken, passed) = match input {
            Some((ty, passed)) => (quote! { input: #ty, }, passed),
            None => (quote! {}, quote! { &() }),
        };
        quote! {
            impl #name {
                /// Creates an object as a transaction of its own.
                pub async fn create(
                    session: &quixos_runtime::Session,
                    #taken
                ) -> Result<Ref<Self>, CallError> {
                    session.create_root(Self::TAG, #passed).await.and_then(Ref::checked)
                }
            }
        }
    });
    quote! {
        #docs
        #[derive(Clone, Copy, Debug)]
        pub struct #name;

        impl quixos_runtime::Atom for #name {
            const ID: &'static str = #id;
            const TAG: quixos_runtime::Tag = quixos_runtime::Tag([#(#tag),*]);
        }
        #(#implements)*
        #create
    }
}
