//! From checked definitions to typed Rust.
//!
//! [`generate`] writes the module of one package. The same definitions give the same bytes.
//! [`build_script`] does it in a `build.rs`.
//!
//! The module has a type for each atom, interface and record, a client for each interface that a
//! host can use, and a module for each operation: what goes in, what comes out, and a context with
//! exactly what its `requires` block grants. A verb that is not granted has no method. A handler
//! is written against that context:
//!
//! ```ignore
//! impl thread_activate::Handler for AgentRuntime {
//!     fn handle(
//!         cx: &thread_activate::Context<'_>,
//!         request: thread_activate::Input,
//!     ) -> Result<bool, CallError> {
//!         match cx.active().resolve()? {
//!             Some(running) => Ok(running == request),
//!             None => cx.active().connect(request),
//!         }
//!     }
//! }
//! ```
//!
//! and all of them are loaded at once, `agent_runtime::package::<AgentRuntime>()`, which compiles
//! when none is missing.
//!
//! Records without a name are named after the place where they stand. In two places they are two
//! types in Rust, whatever their shape; a definition that hands one around gives it a name.
//!
//! The generated code names the crates `quixos_runtime`, `serde` (with its derives) and `chrono`.

mod build_script;
mod citation;
mod emit;
mod error;
mod generate;
mod layout;
mod name;
mod plan;

pub use build_script::{BuildScript, build_script};
pub use error::{GenerateError, Named, SameName};
pub use generate::{Options, SourcePath, generate, module_name};
