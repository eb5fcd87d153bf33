//! `stream`: `append` and `read`.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::super::Location;
use crate::plan::RustType;

pub(super) fn methods(
    here: &Location<'_>,
    at: &Literal,
    ty: &RustType,
    append: bool,
    read: bool,
) -> TokenStream {
    let written = here.ty(ty);
    let append = append.then(|| {
        let (taken, passed) = here.argument(&format_ident!("event"), ty);
        quote! {
            /// Appends an event, and returns its offset.
            pub fn append(&self, event: #taken) -> Result<u64, CallError> {
                self.call.stream_append(#at, #passed)
            }
        }
    });
    let read = read.then(|| {
        quote! {
            /// Returns at most `limit` events from an offset on.
            pub fn read(&self, from: u64, limit: usize) -> Result<Vec<#written>, CallError> {
                self.call.stream_read(#at, from, limit)
            }

            /// Returns how many events there are, which is the offset of the next.
            pub fn len(&self) -> Result<u64, CallError> {
                self.call.stream_len(#at)
            }

            /// Tells whether there is no event yet.
            pub fn is_empty(&self) -> Result<bool, CallError> {
                Ok(self.len()? == 0)
            }
        }
    });
    quote! { #append #read }
}
