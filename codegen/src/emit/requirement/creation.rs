//! `creation`: a method that creates.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::super::{Location, doc};
use crate::plan::{RequirementPlan, RustType};

pub(super) fn method(
    here: &Location<'_>,
    requirement: &RequirementPlan,
    atom: &RustType,
    input: Option<&RustType>,
) -> TokenStream {
    let docs = doc::citation(&requirement.citation);
    let name = &requirement.accessor;
    let at = Literal::usize_unsuffixed(requirement.position);
    let atom = here.ty(atom);
    let (taken, passed) = match input {
        Some(ty) => {
            let (ty, passed) = here.argument(&format_ident!("input"), ty);
            (quote! { , input: #ty }, passed)
        }
        None => (quote! {}, quote! { &() }),
    };
    quote! {
        #docs
        pub fn #name(&self #taken) -> Result<#atom, CallError> {
            self.call.create(#at, #passed).and_then(Ref::checked)
        }
    }
}
