//! `state`: `read` and `write`.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::super::Location;
use crate::plan::RustType;

pub(super) fn methods(
    here: &Location<'_>,
    at: &Literal,
    ty: &RustType,
    read: bool,
    write: bool,
) -> TokenStream {
    let written = here.ty(ty);
    let read = read.then(|| {
        quote! {
            /// Returns the value.
            pub fn read(&self) -> Result<#written, CallError> {
                self.call.state_read(#at)
            }
        }
    });
    let write = write.then(|| {
        let (taken, passed) = here.argument(&format_ident!("value"), ty);
        quote! {
            /// Replaces the value.
            pub fn write(&self, value: #taken) -> Result<(), CallError> {
                self.call.state_write(#at, #passed)
            }
        }
    });
    quote! { #read #write }
}
