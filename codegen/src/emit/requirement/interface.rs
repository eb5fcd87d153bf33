//! `interface`: a handle on one object, with the members that may be used.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::super::member::Asked;
use super::super::{Location, doc};
use crate::plan::{MemberPlan, RequirementPlan, RustType};

pub(super) fn accessor(
    here: &Location<'_>,
    requirement: &RequirementPlan,
    interface: &RustType,
) -> TokenStream {
    let RequirementPlan { accessor, handle, citation, .. } = requirement;
    let docs = doc::citation(citation);
    let interface = here.ty(interface);
    quote! {
        #docs
        pub fn #accessor(&self, on: impl Into<InterfaceRef<#interface>>) -> #handle<'c> {
            #handle { call: self.call, on: on.into().object() }
        }
    }
}

pub(super) fn handle(
    here: &Location<'_>,
    requirement: &RequirementPlan,
    members: &[MemberPlan],
) -> TokenStream {
    let RequirementPlan { accessor, handle, .. } = requirement;
    let docs = doc::sentence(&format!("What [`Context::{accessor}`] grants on one object."));
    let at = Literal::usize_unsuffixed(requirement.position);
    let asked = Asked {
        head: quote! { pub fn },
        whom: quote! { self.call },
        before: quote! { #at },
        behind: quote! { , self.on },
        wait: TokenStream::new(),
    };
    let methods = members.iter().map(|member| asked.methods(here, member));
    quote! {
        #docs
        pub struct #handle<'c> {
            call: &'c Call<'c>,
            on: ObjectRef,
        }

        impl #handle<'_> {
            #(#methods)*
        }
    }
}
