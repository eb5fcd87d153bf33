//! Raw sled: the reads and the writes that the runtime would make, and nothing else.
//!
//! They were recorded once, with one caller, and are made again here: the reads by the callers, at
//! once, as sled allows; the writes of a group as one batch, with one flush and one `fdatasync`.
//! Buffered, each caller applies its batch by itself. No checks, no checksums, no order among
//! transactions, no isolation: this is what sled can do, not what anyone could use.
//!
//! Values of more than 32 KiB are written in parts, because sled never syncs long ones.

use std::fs::File;
use std::hint::black_box;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use quixos_bench::Durability;
use quixos_runtime::store::Direction;
use sled::{Batch, Config, Db};

use super::queue::Queue;
use super::{CACHE_BYTES, Setup};
use crate::failure::Failure;
use crate::trace::{Read, Step, Trace, Write};
use crate::work::Operation;

/// As the runtime's store sets it.
const SEGMENT_BYTES: usize = 8 << 20;

/// What a value is cut into.
const PART_BYTES: usize = 32 << 10;

/// An open sled.
pub(crate) struct RawSled {
    trace: Arc<Trace>,
    db: Db,
    way: Way,
}

/// How it is written to.
enum Way {
    Grouped(Queue<(Operation, usize)>),
    Alone,
}

impl RawSled {
    pub(super) fn open(setup: Setup<'_>) -> Result<Self, Failure> {
        let folder = setup.folder.join("sled");
        let config = Config::new().path(&folder).cache_capacity(CACHE_BYTES);
        let db = config.segment_size(SEGMENT_BYTES).open()?;
        let log = folder.join("db");
        let log = File::open(&log).map_err(Failure::file(&log))?;
        let mut batch = Batch::default();
        put(&mut batch, setup.trace.preamble());
        write_durably(&db, &log, batch)?;
        let trace = Arc::clone(setup.trace);
        let way = match setup.durability {
            Durability::Buffered => Way::Alone,
            Durability::Durable => {
                let (db, trace) = (db.clone(), Arc::clone(&trace));
                Way::Grouped(Queue::start(move |group: Vec<(Operation, usize)>| {
                    let mut batch = Batch::default();
                    for (operation, request) in group {
                        put(&mut batch, &trace.step(operation, request)?.writes);
                    }
                    write_durably(&db, &log, batch)
                })?)
            }
        };
        Ok(Self { trace, db, way })
    }

    pub(super) async fn perform(
        &self,
        operation: Operation,
        request: usize,
    ) -> Result<(), Failure> {
        let Step { reads, writes } = self.trace.step(operation, request)?;
        for read in reads {
            self.read(read)?;
        }
        if writes.is_empty() {
            return Ok(());
        }
        match &self.way {
            Way::Grouped(queue) => queue.done((operation, request)).await,
            Way::Alone => {
                let mut batch = Batch::default();
                put(&mut batch, writes);
                Ok(self.db.apply_batch(batch)?)
            }
        }
    }

    pub(super) fn settle(&self) -> Result<(), Failure> {
        self.db.flush()?;
        Ok(())
    }

    fn read(&self, read: &Read) -> Result<(), Failure> {
        match read {
            Read::Get(key) => {
                black_box(self.db.get(key)?);
            }
            Read::Range { start, end, direction, limit } => {
                let range = (borrow(start), borrow(end));
                let mut entries = self.db.range::<&[u8], _>(range);
                for _ in 0..*limit {
                    let next = match direction {
                        Direction::Forward => entries.next(),
                        Direction::Backward => entries.next_back(),
                    };
                    let Some(entry) = next else { break };
                    black_box(entry?);
                }
            }
        }
        Ok(())
    }
}

fn borrow(bound: &Bound<Bytes>) -> Bound<&[u8]> {
    bound.as_ref().map(Bytes::as_ref)
}

fn put(batch: &mut Batch, writes: &[Write]) {
    for (key, value) in writes {
        match value {
            None => batch.remove(key.as_ref()),
            Some(value) if value.len() <= PART_BYTES => batch.insert(key.as_ref(), value.as_ref()),
            Some(value) => {
                batch.insert(key.as_ref(), &value.len().to_le_bytes());
                for (index, part) in value.chunks(PART_BYTES).enumerate() {
                    let key = [&[0xFF], key.as_ref(), &index.to_be_bytes()].concat();
                    batch.insert(key, part);
                }
            }
        }
    }
}

/// sled's own flush does not wait for the disk.
fn write_durably(db: &Db, log: &File, batch: Batch) -> Result<(), Failure> {
    db.apply_batch(batch)?;
    db.flush()?;
    Ok(log.sync_data()?)
}
