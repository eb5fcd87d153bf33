//! A batch as sled is to take it: values cut into records, and with them the number of the batch
//! and the outcomes of its transactions, so that all of it is there or none.

use ::sled::{Batch, IVec};

use super::engine::{Engine, Failure};
use super::long::LongValues;
use super::overlay::Overlay;
use super::record::{self, Encoder};

/// Makes sled's batch. Reads what is overwritten where that may be a long value, because its parts
/// go with it.
pub(super) fn encode(
    engine: &Engine,
    long: &mut LongValues,
    overlay: &Overlay,
) -> Result<Batch, Failure> {
    let mut batch = Batch::default();
    let mut encoder = Encoder::default();
    for (key, value) in &overlay.writes {
        let parts = match value {
            Some(value) => {
                let put = |key: &[u8], record: &[u8]| batch.insert(key, record);
                encoder.value(key, value, put)
            }
            None => {
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
            batch.remove(record::part_key(key, part));
        }
    }
    for &transaction in &overlay.transactions {
        let key = record::outcome_key(transaction);
        batch.insert(&key, encoder.number(&key, overlay.version));
    }
    batch.insert(record::NEWEST, encoder.number(record::NEWEST, overlay.version));
    Ok(batch)
}

/// Makes the first batch of a new store.
pub(super) fn first() -> Batch {
    let mut batch = Batch::default();
    batch.insert(record::NEWEST, IVec::from(Encoder::default().number(record::NEWEST, 0)));
    batch
}
