//! Requirements: an accessor on the context for each line, and a handle with what it grants.
//!
//! A verb that is not granted has no method. That is the whole of the compile-time check; the
//! runtime makes it again.

mod creation;
mod edge;
mod interface;
mod state;
mod stream;

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{Location, doc};
use crate::plan::{RequirementKind, RequirementPlan};

/// Writes the method of the context.
pub(super) fn accessor(here: &Location<'_>, requirement: &RequirementPlan) -> TokenStream {
    match &requirement.kind {
        RequirementKind::Creation { atom, input } => {
            creation::method(here, requirement, atom, input.as_ref())
        }
        RequirementKind::Interface { interface, .. } => {
            interface::accessor(here, requirement, interface)
        }
        RequirementKind::State { .. }
        | RequirementKind::Edge { .. }
        | RequirementKind::Stream { .. } => {
            let RequirementPlan { accessor, handle, citation, .. } = requirement;
            let docs = doc::citation(citation);
            quote! {
                #docs
                pub fn #accessor(&self) -> #handle<'c> {
                    #handle { call: self.call }
                }
            }
        }
    }
}

/// Writes the handle; a creation has none.
pub(super) fn handle(here: &Location<'_>, requirement: &RequirementPlan) -> TokenStream {
    let RequirementPlan { accessor, handle, .. } = requirement;
    let docs = doc::sentence(&format!("What [`Context::{accessor}`] grants."));
    let at = Literal::usize_unsuffixed(requirement.position);
    let methods = match &requirement.kind {
        RequirementKind::Creation { .. } => return TokenStream::new(),
        RequirementKind::Interface { members, .. } => {
            return interface::handle(here, requirement, members);
        }
        RequirementKind::State { ty, read, write } => state::methods(here, &at, ty, *read, *write),
        RequirementKind::Stream { ty, append, read } => {
            stream::methods(here, &at, ty, *append, *read)
        }
        RequirementKind::Edge { edge, verbs } => edge::methods(here, &at, edge, *verbs),
    };
    quote! {
        #docs
        pub struct #handle<'c> {
            call: &'c Call<'c>,
        }

        impl #handle<'_> {
            #methods
        }
    }
}
