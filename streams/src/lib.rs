//! Public streams: what programs and people append to and follow over HTTP, as durable objects.
//!
//! What a stream is, is in `streams.quixos`; what may be done with one, below `handlers.rs`. All
//! rules are here: who is fenced, what is a repetition, when a stream is over, what a fork has of its
//! source. Nothing here does I/O; time is the transaction's instant.
//!
//! Start at [`package`], which a host gives to `Runtime::builder`, and at the module that is
//! generated from the definition: [`streams`]. What an operation refuses is a [`Refusal`].

mod form;
mod handlers;
mod instant;
mod json;
mod lifetime;
mod lineage;
mod offset;
mod payload;
mod refusal;
mod status;

include!(concat!(env!("OUT_DIR"), "/quixos.rs"));

pub use form::Form;
pub use refusal::{NotARefusal, Refusal};

/// The operations of streams, as handlers.
pub struct Streams;

/// Returns the package, ready to be loaded.
#[must_use]
pub fn package() -> quixos_runtime::PackageCode {
    streams::package::<Streams>()
}
