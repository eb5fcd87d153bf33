//! AgentRuntime: a durable queue of work for AI agents, and a small host package to run it in.
//!
//! A workspace has a directory; a directory has agents, and a queue of requests to them in
//! threads. A request is admitted, claimed by an attempt under a fence, worked on, and finished;
//! its end is told on its agent's stream exactly once. What each operation may touch is written in
//! `agent-runtime.quixos`; what it does, in `docs/operations.md`; both are held to each other by
//! tests.
//!
//! Start at [`packages`], which a host gives to `Runtime::builder`, and at the modules that are
//! generated from the definitions: [`agent_runtime`] and [`workspace`].

mod admission;
mod configuration;
mod contexts;
mod counter;
mod fence;
mod handlers;
mod host;
mod invariants;
mod item;
mod json;
mod profiles;
mod question;
mod queue;
mod refusal;
mod request;
mod settings;
mod status;
mod submission;
mod timestamp;

include!(concat!(env!("OUT_DIR"), "/quixos.rs"));

use quixos_runtime::PackageCode;

/// The 33 operations, as handlers.
pub struct AgentRuntime;

/// The operations of the host package, as handlers.
pub struct Workspace;

/// Returns AgentRuntime and the host package, ready to be loaded together.
#[must_use]
pub fn packages() -> [PackageCode; 2] {
    [
        invariants::with_invariants(agent_runtime::package::<AgentRuntime>()),
        workspace::package::<Workspace>(),
    ]
}
