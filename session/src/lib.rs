//! Sessions: conversations that workers decide about, as a package on AgentRuntime.
//!
//! A session is a thread and what a conversation needs beyond it. What it is, is in
//! `sessions.quixos`; how it moves, below `machine.rs`; what it says to workers, models and clients,
//! in the queries (`handlers.rs`) and the pure rules that they stand on. Nothing here does I/O: an
//! engine asks what is due, does it, and reports back.
//!
//! What whoever operates sessions wants to know of one is read from a snapshot, by the same rules:
//! [`Reader`], and what is made of it.
//!
//! Start at [`package`], which a host gives to `Runtime::builder` beside AgentRuntime, and at the
//! module that is generated from the definition: [`sessions`].

mod agents;
mod clock;
pub mod conversation;
mod handlers;
mod instant;
mod machine;
mod messages;
mod model_request;
mod new_session;
mod owner;
mod past;
mod pause;
mod propose;
mod reader;
pub mod receipt;
mod reconcile;
mod reference;
mod refusal;
pub mod replay;
mod reply;
mod retry;
mod settings;
mod shelf;
pub mod standing;
mod status;
mod stored;
mod tools;
mod tree;
mod trigger;
mod usage;
mod versions;

include!(concat!(env!("OUT_DIR"), "/quixos.rs"));

pub use reader::{Logged, Reader};
pub use refusal::{NotARefusal, Refusal};
pub use settings::WrittenSettings;

/// The operations of sessions, as handlers.
pub struct Sessions;

/// Returns the package, ready to be loaded beside AgentRuntime.
#[must_use]
pub fn package() -> quixos_runtime::PackageCode {
    sessions::package::<Sessions>()
}
