//! `edge`: `resolve` in the way of its cardinality, `connect` and `disconnect`.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::super::Location;
use super::super::reference::Target;
use crate::plan::{EdgePlan, EdgeShape, EdgeVerbs};

pub(super) fn methods(
    here: &Location<'_>,
    at: &Literal,
    edge: &EdgePlan,
    verbs: EdgeVerbs,
) -> TokenStream {
    let target = Target::new(here, &edge.target);
    let resolve = verbs.resolve.then(|| resolve(at, edge.shape, &target));
    let keyed = edge.shape == EdgeShape::Keyed;
    let (taken, passed) = target.parameter();
    let connect = verbs.connect.then(|| {
        if keyed {
            quote! {
                /// Connects a target at a key. Tells whether it is new.
                pub fn connect(&self, key: &str, target: #taken) -> Result<bool, CallError> {
                    self.call.edge_connect_at(#at, key, #passed)
                }
            }
        } else {
            quote! {
                /// Connects a target. Tells whether it is new.
                pub fn connect(&self, target: #taken) -> Result<bool, CallError> {
                    self.call.edge_connect(#at, #passed)
                }
            }
        }
    });
    let disconnect = verbs.disconnect.then(|| {
        if keyed {
            let ty = &target.written;
            let found = target.optional(quote! { self.call.edge_disconnect_at(#at, key) });
            quote! {
                /// Disconnects what is at a key, and returns it.
                pub fn disconnect(&self, key: &str) -> Result<Option<#ty>, CallError> {
                    #found
                }
            }
        } else {
            quote! {
                /// Disconnects a target. Tells whether it was there.
                pub fn disconnect(&self, target: #taken) -> Result<bool, CallError> {
                    self.call.edge_disconnect(#at, #passed)
                }
            }
        }
    });
    quote! { #resolve #connect #disconnect }
}

fn resolve(at: &Literal, shape: EdgeShape, target: &Target<'_>) -> TokenStream {
    let ty = &target.written;
    match shape {
        EdgeShape::One => {
            let found = target.one(quote! { self.call.edge_one(#at) });
            quote! {
                /// Returns the target.
                pub fn resolve(&self) -> Result<#ty, CallError> {
                    #found
                }
            }
        }
        EdgeShape::OptionalOne => {
            let found = target.optional(quote! { self.call.edge_optional(#at) });
            quote! {
                /// Returns the target, if there is one.
                pub fn resolve(&self) -> Result<Option<#ty>, CallError> {
                    #found
                }
            }
        }
        EdgeShape::Many => {
            let (taken, passed) = target.parameter();
            let after = target.optional_parameter(quote! { after });
            let page = target.list(quote! { self.call.edge_page(#at, #after, limit) });
            quote! {
                /// Tells whether a target is in the set.
                pub fn contains(&self, target: #taken) -> Result<bool, CallError> {
                    self.call.edge_contains(#at, #passed)
                }

                /// Returns at most `limit` targets from behind `after`, in the order of their ids.
                pub fn page(
                    &self,
                    after: Option<#ty>,
                    limit: usize,
                ) -> Result<Vec<#ty>, CallError> {
                    #page
                }

                /// Returns every target, in the order of their ids.
                pub fn all(&self) -> Result<Vec<#ty>, CallError> {
                    self.page(None, usize::MAX)
                }
            }
        }
        EdgeShape::Keyed => {
            let found = target.optional(quote! { self.call.edge_at(#at, key) });
            let page = target.entries(quote! { self.call.edge_entries(#at, after, limit) });
            quote! {
                /// Returns the target at a key, if there is one.
                pub fn get(&self, key: &str) -> Result<Option<#ty>, CallError> {
                    #found
                }

                /// Returns at most `limit` keys and targets from behind a key, in the order of
                /// the keys.
                pub fn page(
                    &self,
                    after: Option<&str>,
                    limit: usize,
                ) -> Result<Entries<#ty>, CallError> {
                    #page
                }

                /// Returns every key with its target, in the order of the keys.
                pub fn all(&self) -> Result<Entries<#ty>, CallError> {
                    self.page(None, usize::MAX)
                }
            }
        }
    }
}
