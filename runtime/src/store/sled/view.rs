//! The store at one version: the batch under way, if one was, over sled.
//!
//! sled knows no versions: it shows what is in it now, and so does the cache before it. So each read ends with the question whether
//! a batch after this version has begun to reach sled; if so the answer is `Expired`, also when
//! what was read looked damaged, for then it was a mixture of two versions.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use ::sled::IVec;
use bytes::Bytes;

use super::cache;
use super::engine::{Engine, Failure, Scan};
use super::lane::Lane;
use super::overlay::{Overlay, Write};
use super::record::{self, Damaged, Stored};
use crate::store::checked::readable_range;
use crate::store::{Direction, Page, RESERVED, StoreError, Version, View};

/// One version of the store, as long as sled still shows it.
#[derive(Debug)]
pub(super) struct SledView {
    lane: Arc<Lane>,
    version: Version,
    overlay: Option<Arc<Overlay>>,
}

impl SledView {
    pub(super) fn new(lane: Arc<Lane>) -> SledView {
        let (version, overlay) = lane.newest();
        SledView { lane, version, overlay }
    }

    /// Refuses when nothing of this version may be told any longer.
    fn refuse_if_gone(&self) -> Result<(), StoreError> {
        self.lane.refuse_reads_if_failed()?;
        let dropped = self.overlay.as_ref().is_some_and(|overlay| overlay.is_dropped());
        if dropped { Err(StoreError::Expired) } else { Ok(()) }
    }

    /// Returns what was read of sled or the cache, if that was this version.
    fn if_current<T>(&self, read: Result<T, StoreError>) -> Result<T, StoreError> {
        self.refuse_if_gone()?;
        if self.lane.applying() > self.version { Err(StoreError::Expired) } else { read }
    }

    /// Reads what sled holds under a key, and has the cache keep it.
    fn read(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let found = self.if_current(read(&self.lane.engine, key))?;
        self.lane.cache.keep(key, &found, || self.if_current(Ok(())).is_ok());
        Ok(found)
    }
}

impl View for SledView {
    fn version(&self) -> Version {
        self.version
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        if key.first() == Some(&RESERVED) {
            return Ok(None);
        }
        match self.overlay.as_ref().and_then(|overlay| overlay.get(key)) {
            // Nothing of sled's, so that it holds true while later batches are written.
            Some(value) => self.refuse_if_gone().map(|()| value.clone()),
            None => match self.lane.cache.get(key) {
                Some(found) => self.if_current(Ok(found)),
                None => self.read(key),
            },
        }
    }

    fn range(
        &self,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let Some(range) = readable_range(start, end) else { return Ok(Page::default()) };
        let writes = self.overlay.as_ref().map_or(&[][..], |overlay| overlay.range(range));
        let scan = self.lane.engine.scan(range.0, range.1);
        let merge = Merge { engine: &self.lane.engine, direction, writes, scan, stored: None };
        self.if_current(merge.page(limit))
    }
}

/// A range of the overlay and the same range of sled, read as one.
struct Merge<'a> {
    engine: &'a Engine,
    direction: Direction,
    writes: &'a [Write],
    scan: Scan,
    /// The next of sled's, already taken from `scan`.
    stored: Option<(IVec, IVec)>,
}

/// Where the next entry of a merge comes from.
enum Source<'a> {
    Overlay(&'a Write),
    Sled(IVec, IVec),
}

impl<'a> Merge<'a> {
    fn page(mut self, limit: usize) -> Result<Page, StoreError> {
        let mut entries = Vec::new();
        while let Some(source) = self.next()? {
            if entries.len() == limit {
                return Ok(Page { entries, more: true });
            }
            entries.push(match source {
                Source::Overlay((key, value)) => (key.clone(), value.clone().unwrap_or_default()),
                Source::Sled(key, record) => {
                    let value = value(self.engine, &key, record)?;
                    (Bytes::copy_from_slice(&key), value)
                }
            });
        }
        Ok(Page { entries, more: false })
    }

    /// Returns the next entry that is not deleted.
    fn next(&mut self) -> Result<Option<Source<'a>>, StoreError> {
        loop {
            if self.stored.is_none() {
                let next = match self.direction {
                    Direction::Forward => self.scan.next(),
                    Direction::Backward => self.scan.next_back(),
                };
                self.stored = next.transpose().map_err(failed)?;
            }
            let (written, others) = match self.direction {
                Direction::Forward => self.writes.split_first(),
                Direction::Backward => self.writes.split_last(),
            }
            .map_or((None, self.writes), |(next, others)| (Some(next), others));
            let order = match (written, &self.stored) {
                (None, None) => return Ok(None),
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some((written, _)), Some((stored, _))) => match self.direction {
                    Direction::Forward => written.as_ref().cmp(stored),
                    Direction::Backward => stored.as_ref().cmp(written),
                },
            };
            if order.is_gt() {
                return Ok(self.stored.take().map(|(key, record)| Source::Sled(key, record)));
            }
            // What is written hides what is stored under the same key.
            self.writes = others;
            if order.is_eq() {
                self.stored = None;
            }
            if let Some(write @ (_, Some(_))) = written {
                return Ok(Some(Source::Overlay(write)));
            }
        }
    }
}

/// Reads what sled holds under a key.
fn read(engine: &Engine, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
    let record = engine.get(key).map_err(failed)?;
    record.map(|record| value(engine, key, record)).transpose()
}

/// Reads the value of a record, its parts included.
fn value(engine: &Engine, key: &[u8], record: IVec) -> Result<Bytes, StoreError> {
    let parts = match record::read_value(key, &record).map_err(damaged)? {
        // Longer ones are handed out as sled holds them.
        Stored::Whole(start) if record.len() - start > cache::VALUE_BYTES => {
            return Ok(Bytes::from_owner(record).slice(start..));
        }
        Stored::Whole(start) => return Ok(Bytes::copy_from_slice(&record[start..])),
        Stored::Parts(parts) => parts,
    };
    let mut value = Vec::with_capacity(parts.length);
    for index in 0..parts.count() {
        let key = record::part_key(key, index);
        let part =
            engine.get(&key).map_err(failed)?.ok_or_else(|| damaged(Damaged::under(&key)))?;
        parts.append(&key, index, &part, &mut value).map_err(damaged)?;
    }
    if value.len() == parts.length { Ok(value.into()) } else { Err(damaged(Damaged::under(key))) }
}

pub(super) fn failed(failure: Failure) -> StoreError {
    match failure {
        Failure::Io(reason) => StoreError::Io(reason),
        Failure::Corrupt(reason) => StoreError::Corrupt(reason),
    }
}

pub(super) fn damaged(damaged: Damaged) -> StoreError {
    StoreError::Corrupt(damaged.to_string())
}
