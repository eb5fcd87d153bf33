//! Clients: how a host uses an object through an interface, typed and asynchronous.
//!
//! Internal members are left out: a host may not use them. An interface without others has no
//! client.

use proc_macro2::TokenStream;
use quote::quote;

use super::member::Asked;
use super::{Location, doc};
use crate::plan::InterfacePlan;

/// `pub struct AgentThreadClient<'s>` and `AgentThread::on`.
pub(super) fn client(here: &Location<'_>, plan: &InterfacePlan) -> TokenStream {
    let InterfacePlan { item, client: Some(client), parameters, .. } = plan else {
        return TokenStream::new();
    };
    let name = &item.name;
    let original = &here.plan.definitions.interface(plan.index).name;
    let docs = doc::sentence(&format!("An object as a host uses it through `{original}`."));
    let on_docs = doc::sentence(&format!("Uses an object through `{original}`."));
    let generics = (!parameters.is_empty()).then(|| quote! { <#(#parameters),*> });
    let bounded = (!parameters.is_empty()).then(|| quote! { <#(#parameters: 'static),*> });
    let interface = quote! { #name #generics };
    let id = match &generics {
        Some(generics) => quote! { #name::#generics::ID },
        None => quote! { #name::ID },
    };
    let asked = Asked {
        head: quote! { pub async fn },
        whom: quote! { self.session },
        before: quote! { self.on, #id },
        behind: TokenStream::new(),
        wait: quote! { .await },
    };
    let methods = plan
        .members
        .iter()
        .filter(|member| !member.internal)
        .map(|member| asked.methods(here, member));
    let marker = (!parameters.is_empty()).then(|| {
        (
            quote! { interface: std::marker::PhantomData<#interface>, },
            quote! {
                interface: std::marker::PhantomData,
            },
        )
    });
    let (field, value) = marker.unwrap_or_default();
    let client_bounds = quote! {
        <#(#parameters: serde::Serialize + serde::de::DeserializeOwned + 'static),*>
    };
    let client_bounds = (!parameters.is_empty()).then_some(client_bounds);
    quote! {
        #docs
        pub struct #client<'s, #(#parameters),*> {
            session: &'s quixos_runtime::Session,
            on: ObjectRef,
            #field
        }

        impl #bounded #interface {
            #on_docs
            pub fn on<'s>(
                session: &'s quixos_runtime::Session,
                object: impl Into<InterfaceRef<#interface>>,
            ) -> #client<'s, #(#parameters),*> {
                #client { session, on: object.into().object(), #value }
            }
        }

        impl #client_bounds #client<'_, #(#parameters),*> {
            #(#methods)*
        }
    }
}
