//! Paths and types as they are written at one place in the generated code.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use crate::plan::{Home, Item, Plan, RustType};

/// A module of generated code, from which others are named.
#[derive(Clone)]
pub(crate) struct Location<'a> {
    pub(crate) plan: &'a Plan<'a>,
    /// How the module of each package is reached from the module beside it.
    paths: &'a [syn::Path],
    home: Home,
}

impl<'a> Location<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>, paths: &'a [syn::Path], home: Home) -> Self {
        Self { plan, paths, home }
    }

    /// Returns the place in another module of the same package.
    pub(crate) fn within(&self, home: &Home) -> Self {
        Self { home: home.clone(), ..self.clone() }
    }

    /// Returns the path to an item.
    pub(crate) fn item(&self, item: &Item) -> TokenStream {
        let name = &item.name;
        if item.home == self.home {
            return name.to_token_stream();
        }
        let up = self.home.module.as_ref().map(|_| quote! { super:: });
        let module = item.home.module.as_ref().map(|module| quote! { #module:: });
        if item.home.package == self.home.package {
            return quote! { #up #module #name };
        }
        let package = &self.paths[item.home.package.get()];
        // Only a path that begins with `super` depends on how deep the module is.
        let relative = package.leading_colon.is_none()
            && package.segments.first().is_some_and(|first| first.ident == "super");
        let up = if relative { up } else { None };
        quote! { #up #package :: #module #name }
    }

    /// Returns a type.
    pub(crate) fn ty(&self, ty: &RustType) -> TokenStream {
        match ty {
            RustType::Unit => quote! { () },
            RustType::Bool => quote! { bool },
            RustType::Int32 => quote! { i32 },
            RustType::Int64 => quote! { i64 },
            RustType::Uint32 => quote! { u32 },
            RustType::Uint64 => quote! { u64 },
            RustType::Float64 => quote! { f64 },
            RustType::String => quote! { String },
            RustType::Bytes => quote! { Vec<u8> },
            RustType::Option(inner) => {
                let inner = self.ty(inner);
                quote! { Option<#inner> }
            }
            RustType::Vec(inner) => {
                let inner = self.ty(inner);
                quote! { Vec<#inner> }
            }
            RustType::Item { item, arguments, .. } => {
                let item = self.item(item);
                if arguments.is_empty() {
                    return item;
                }
                let arguments = arguments.iter().map(|ty| self.ty(ty));
                quote! { #item<#(#arguments),*> }
            }
            RustType::Ref(atom) => {
                let atom = self.item(atom);
                quote! { Ref<#atom> }
            }
            RustType::InterfaceRef(interface) => {
                let interface = self.ty(interface);
                quote! { InterfaceRef<#interface> }
            }
            RustType::Parameter { name, .. } => name.to_token_stream(),
        }
    }

    /// Returns the type in which a method takes a value, and the expression that passes a
    /// reference to it on. What is small is taken by value, texts and lists as slices.
    pub(crate) fn argument(&self, name: &Ident, ty: &RustType) -> (TokenStream, TokenStream) {
        let taken = match ty {
            RustType::String => quote! { &str },
            RustType::Bytes => quote! { &[u8] },
            RustType::Vec(inner) => {
                let inner = self.ty(inner);
                quote! { &[#inner] }
            }
            RustType::Unit
            | RustType::Bool
            | RustType::Int32
            | RustType::Int64
            | RustType::Uint32
            | RustType::Uint64
            | RustType::Float64
            | RustType::Option(_)
            | RustType::Item { .. }
            | RustType::Ref(_)
            | RustType::InterfaceRef(_)
            | RustType::Parameter { .. } => {
                let written = self.ty(ty);
                if !ty.is_copy() {
                    return (quote! { &#written }, quote! { #name });
                }
                written
            }
        };
        (taken, quote! { &#name })
    }
}
