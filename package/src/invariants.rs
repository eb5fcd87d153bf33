//! What always holds in a store of AgentRuntime, for `verify` to check.
//!
//! Each check walks objects page by page and keeps what it needs of one of them, so memory does
//! not grow with the store. Edges and inverses of plain sets come in the order of ids, which is
//! that of creation: two of them are compared by walking them side by side.
//!
//! Of what holds over time, that generations and versions only grow, a store shows the end alone;
//! that end is checked.

mod completions;
mod directory;
mod fences;
mod reading;
mod texts;
mod thread;

use quixos_runtime::PackageCode;

/// Adds the checks to the package.
pub(crate) fn with_invariants(package: PackageCode) -> PackageCode {
    package
        .with_invariant("a directory counts its queue", directory::check)
        .with_invariant("a thread is at one request", thread::check)
        .with_invariant("a generation is one attempt's", fences::check)
        .with_invariant("each end is told once", completions::check)
        .with_invariant("a text that is read again can be", texts::check)
}
