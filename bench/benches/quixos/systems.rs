//! Who does the work, one file each. All take the same calls in the same way: an asynchronous task
//! a caller, which waits for its answer.
//!
//! `queue.rs` is how the floor, raw sled and SQLite write in groups: one thread that takes all who
//! wait, and answers them when the disk has it. The runtime has its own lane.

mod floor;
mod queue;
mod raw_sled;
mod runtime;
mod sqlite;

use std::path::Path;
use std::sync::Arc;

use quixos_bench::{Durability, Subject};
use quixos_runtime::store::{SledOptions, SledStore};

use self::floor::Floor;
use self::raw_sled::RawSled;
pub(crate) use self::runtime::Office;
use self::sqlite::Sqlite;
use crate::failure::Failure;
use crate::trace::Trace;
use crate::work::Operation;

/// Memory that each may use to keep pages at hand, as is the default of the runtime's store.
const CACHE_BYTES: u64 = 256 << 20;

/// A system under measurement, over an empty folder of its own.
pub(crate) enum System {
    Floor(Floor),
    RawSled(RawSled),
    Runtime(Office),
    Sqlite(Sqlite),
}

/// How a system is to be.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) durability: Durability,
    /// What the floor and raw sled do again; it says how many requests there are.
    pub(crate) trace: &'a Arc<Trace>,
    /// The length of an item's text.
    pub(crate) item_bytes: usize,
}

impl System {
    /// Opens a system.
    pub(crate) async fn open(subject: Subject, setup: Setup<'_>) -> Result<Self, Failure> {
        Ok(match subject {
            Subject::Floor => Self::Floor(Floor::open(setup)?),
            Subject::RawSled => Self::RawSled(RawSled::open(setup)?),
            Subject::Runtime => {
                let options = SledOptions { cache_bytes: CACHE_BYTES, ..SledOptions::default() };
                let store = Arc::new(SledStore::open(setup.folder.join("store"), options)?);
                let Setup { durability, trace, item_bytes, .. } = setup;
                Self::Runtime(Office::open(store, durability, trace.requests(), item_bytes).await?)
            }
            Subject::Sqlite => Self::Sqlite(Sqlite::open(setup)?),
        })
    }

    /// Does an operation on a request.
    pub(crate) async fn perform(
        &self,
        operation: Operation,
        request: usize,
    ) -> Result<(), Failure> {
        match self {
            Self::Floor(floor) => floor.perform(operation, request).await,
            Self::RawSled(sled) => sled.perform(operation, request).await,
            Self::Runtime(office) => office.perform(operation, request).await,
            Self::Sqlite(sqlite) => sqlite.perform(operation, request).await,
        }
    }

    /// Waits until nothing is left to do of what was answered.
    pub(crate) async fn settle(&self) -> Result<(), Failure> {
        match self {
            Self::RawSled(sled) => sled.settle(),
            Self::Runtime(office) => office.settle().await,
            // They leave nothing for later.
            Self::Floor(_) | Self::Sqlite(_) => Ok(()),
        }
    }
}
