//! Runs operations as serializable, durable transactions.

mod error;
mod json;
mod nearest;
mod reference;
pub mod store;
pub mod value;
pub mod verify;

pub use error::{CallError, Denied, Fence};
pub use reference::{Atom, Implements, Interface, InterfaceRef, ObjectRef, Ref};
pub use value::{Layout, Value, parse_reference, reference_text};
