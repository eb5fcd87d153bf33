//! A batch as sled is to take it: values cut into records, and with them the number of the batch
//! and the outcomes of its transactions, so that all of it is there or none.

use ::sled::{Batch, IVec};

use super::engine::{Engine, Failure};
use super::long::LongValues;
use super::overlay::Overlay;
use super::record::{self, Encoder};
use super::tail;

/// A batch for sled.
pub(super) struct Encoded {
    pub(super) batch: Batch,
    /// How much of the log it is counted as.
    pub(super) share: u64,
}

/// Makes sled's batch. Reads what is overwritten where that may be a long value, because its parts
/// go with it.
pub(super) fn encode(
    engine: &Engine,
    long: &mut LongValues,
    overlay: &Overlay,
) -> Result<Encoded, Failure> {
    let (mut batch, mut share) = (Batch::default(), 0);
    let mut encoder = Encoder::default();
    for (key, value) in &overlay.writes {
        let parts = match value {
            Some(value) => encoder.value(key, value, |key, record| {
                share += tail::share(key.len() + record.len());
                batch.insert(key, record);
            }),
            None => {
                share += tail::share(key.len());
                batch.remove(key.as_ref());
                0
            }
        };
        let old_parts = match long.may_be_under(key) {
            true => engine.get(key)?.map_or(0, |record| record::part_count(&record)),
            false => 0,
        };
        if parts > 0 {
            long.add(key);
        }
        for part in parts..old_parts {
            share += tail::share(record::PART_BYTES);
            batch.remove(record::part_key(key, part));
        }
    }
    for &transaction in &overlay.transactions {
        let key = record::outcome_key(transaction);
        let record = encoder.number(&key, overlay.version);
        share += tail::share(key.len() + record.len());
        batch.insert(&key, record);
    }
    let newest = encoder.number(record::NEWEST, overlay.version);
    share += tail::share(record::NEWEST.len() + newest.len());
    batch.insert(record::NEWEST, newest);
    Ok(Encoded { batch, share })
}

/// Makes the first batch of a new store.
pub(super) fn first() -> Batch {
    let mut batch = Batch::default();
    batch.insert(record::NEWEST, IVec::from(Encoder::default().number(record::NEWEST, 0)));
    batch
}
