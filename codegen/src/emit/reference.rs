//! References: how those that a method takes go down to the runtime, and how those that come back
//! get their type.

use proc_macro2::TokenStream;
use quote::quote;

use super::Location;
use crate::plan::RustType;

/// What an edge leads to.
pub(super) struct Target<'a> {
    ty: &'a RustType,
    /// `Ref<super::AgentThreadObject>`
    pub(super) written: TokenStream,
}

impl<'a> Target<'a> {
    pub(super) fn new(here: &Location<'_>, ty: &'a RustType) -> Self {
        Self { ty, written: here.ty(ty) }
    }

    /// References to an atom carry it and are checked; those to an interface are what they are.
    fn is_interface(&self) -> bool {
        matches!(self.ty, RustType::InterfaceRef(_))
    }

    /// Returns the type of a parameter, and the expression that passes it on.
    pub(super) fn parameter(&self) -> (TokenStream, TokenStream) {
        let written = &self.written;
        if self.is_interface() {
            (quote! { impl Into<#written> }, quote! { target.into().object() })
        } else {
            (quote! { #written }, quote! { target.object() })
        }
    }

    /// Returns the expression that passes an optional reference on.
    pub(super) fn optional_parameter(&self, name: TokenStream) -> TokenStream {
        if self.is_interface() {
            quote! { #name.map(InterfaceRef::object) }
        } else {
            quote! { #name.map(Ref::object) }
        }
    }

    /// Makes a typed result of an untyped reference.
    pub(super) fn one(&self, untyped: TokenStream) -> TokenStream {
        if self.is_interface() {
            quote! { #untyped.map(InterfaceRef::from_object) }
        } else {
            quote! { #untyped.and_then(Ref::checked) }
        }
    }

    /// Makes a typed result of an optional untyped reference.
    pub(super) fn optional(&self, untyped: TokenStream) -> TokenStream {
        if self.is_interface() {
            quote! {
                let found = #untyped?;
                Ok(found.map(InterfaceRef::from_object))
            }
        } else {
            quote! { #untyped?.map(Ref::checked).transpose() }
        }
    }

    /// Makes a typed result of untyped references.
    pub(super) fn list(&self, untyped: TokenStream) -> TokenStream {
        if self.is_interface() {
            quote! {
                let targets = #untyped?;
                Ok(targets.into_iter().map(InterfaceRef::from_object).collect())
            }
        } else {
            quote! { #untyped?.into_iter().map(Ref::checked).collect() }
        }
    }

    /// Makes a typed result of keys with untyped references.
    pub(super) fn entries(&self, untyped: TokenStream) -> TokenStream {
        if self.is_interface() {
            quote! {
                let entries = #untyped?.into_iter();
                Ok(entries.map(|(key, target)| (key, InterfaceRef::from_object(target))).collect())
            }
        } else {
            quote! {
                let entries = #untyped?.into_iter();
                entries.map(|(key, target)| Ok((key, Ref::checked(target)?))).collect()
            }
        }
    }
}
