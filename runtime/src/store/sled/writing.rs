//! A batch as sled is to take it: values cut into records, and with them the number of the batch
//! and the outcomes of its transactions, so that all of it is there or none.

use ::sled::{Batch, IVec};

use super::engine::{Engine, Failure};
use super::long::LongValues;
use super::overlay::Overlay;
use super::record::{self, Encoder};
use super::tail;

/// A batch for sled.
#[derive(Default)]
pub(super) struct Encoded {
    pub(super) batch: Batch,
    /// How much of the log it is counted as.
    pub(super) share: u64,
}

impl Encoded {
    fn insert(&mut self, key: &[u8], record: &[u8]) {
        self.share += tail::share(key.len() + record.len());
        self.batch.insert(key, record);
    }

    /// Removes what is about so long, with its key.
    fn remove(&mut self, key: &[u8], length: usize) {
        self.share += tail::share(length);
        self.batch.remove(key);
    }
}

/// Makes sled's batch. Reads what is overwritten where that may be a long value, because its parts
/// go with it.
pub(super) fn encode(
    engine: &Engine,
    long: &mut LongValues,
    overlay: &Overlay,
) -> Result<Encoded, Failure> {
    let mut encoded = Encoded::default();
    let mut encoder = Encoder::default();
    for (key, value) in &overlay.writes {
        let parts = match value {
            Some(value) => encoder.value(key, value, |key, record| encoded.insert(key, record)),
            None => {
                encoded.remove(key, key.len());
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
            encoded.remove(&record::part_key(key, part), record::PART_BYTES);
        }
    }
    for &transaction in &overlay.transactions {
        let key = record::outcome_key(transaction);
        encoded.insert(&key, encoder.number(&key, overlay.version));
    }
    encoded.insert(record::NEWEST, encoder.number(record::NEWEST, overlay.version));
    Ok(encoded)
}

/// Makes the first batch of a new store.
pub(super) fn first() -> Batch {
    let mut batch = Batch::default();
    batch.insert(record::NEWEST, IVec::from(Encoder::default().number(record::NEWEST, 0)));
    batch
}
