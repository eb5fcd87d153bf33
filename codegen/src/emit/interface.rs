//! Interfaces: a type without values that names each.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Location, doc};
use crate::plan::InterfacePlan;

/// `pub struct AgentThread;`, or `pub struct EventStream<T>(…);`
pub(super) fn interface(here: &Location<'_>, plan: &InterfacePlan) -> TokenStream {
    let interface = here.plan.definitions.interface(plan.index);
    let name = &plan.item.name;
    let id = &interface.id;
    let parameters = &plan.parameters;
    if parameters.is_empty() {
        let docs = doc::citation(&format!("interface {} id {id:?}", interface.name));
        return quote! {
            #docs
            #[derive(Clone, Copy, Debug)]
            pub struct #name;

            impl quixos_runtime::Interface for #name {
                const ID: &'static str = #id;
            }
        };
    }
    let marked = match parameters.as_slice() {
        [only] => quote! { #only },
        all => quote! { (#(#all),*) },
    };
    let written = interface.parameters.join(", ");
    let docs = doc::citation(&format!("interface {}<{written}> id {id:?}", interface.name));
    quote! {
        #docs
        #[derive(Clone, Copy, Debug)]
        pub struct #name<#(#parameters),*>(std::marker::PhantomData<fn() -> #marked>);

        impl<#(#parameters: 'static),*> quixos_runtime::Interface for #name<#(#parameters),*> {
            const ID: &'static str = #id;
        }
    }
}
