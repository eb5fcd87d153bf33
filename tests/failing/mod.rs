//! Stores that fail when they are told to, and what is asked of them.
//!
//! What is asked is the same each time (`ask.rs`), so that the operations of a store can be counted
//! and each of them can be made to fail: behind the store's trait (`store.rs`), in the file layer
//! (`disk.rs`), or in the system's calls and the room on a disk (`system.rs`). What was heard is
//! held to what the store then has (`trial.rs`).

mod ask;
mod disk;
mod store;
mod system;
mod trial;

pub(crate) use ask::{Ask, Refusal};
pub(crate) use disk::{DiskCall, DiskFault, FailingDisk, Mishap};
pub(crate) use store::{FailingStore, How, StoreCall, StoreFault};
pub(crate) use system::{Injected, Limited, SYSTEM_CALLS, Traced, can_trace, say};
pub(crate) use trial::{Heard, Reference, within};
