//! From checked definitions to typed Rust.
//!
//! [`generate`] writes the module of one package: its atoms, interfaces and records, and for each
//! operation an input, an output and a context with exactly what its `requires` block grants. A
//! verb that is not granted has no method. The same definitions give the same bytes.
//!
//! [`BuildScript`] does it in a `build.rs`.
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
