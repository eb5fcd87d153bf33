//! One file an operation: `ATOM/NAME.rs` for `ATOM_NAME`.
//!
//! Each opens with what the operation means, and with what was chosen where its meaning was left
//! open. The form of the input is checked first, everywhere but in `workspace_install`; then come
//! the refusals, in their order; then what is done.

mod agent;
mod directory;
mod item;
mod question;
mod request;
mod thread;
mod workspace;
