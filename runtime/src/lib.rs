//! Runs operations as serializable, durable transactions.

mod error;
mod reference;
pub mod store;

pub use error::{CallError, Denied, Fence};
pub use reference::{Atom, Implements, Interface, InterfaceRef, ObjectRef, Ref};
