//! Reads an export into an empty store.
//!
//! Nothing of it can be seen before all of it is there and was checked: the first batch puts a
//! mark into the store, with which it refuses to be opened, and the last takes the mark away. An
//! import that ends early takes back what it wrote; one that was killed is begun anew, into the
//! same store, by the next import.

use std::io::{BufReader, Read};
use std::ops::Bound;

use bytes::Bytes;

use crate::counts::Counts;
use crate::error::CallError;
use crate::export::block::{Block, BlockKind, BlockReader};
use crate::export::{Damage, End, ExportHeader, ImportError};
use crate::key::{self, Key, Kind};
use crate::meta;
use crate::overlay::{Base, Gathered, Read as _};
use crate::shared::unreadable;
use crate::store::{Batch, CommitError, Direction, Durability, Store};

/// The name of the mark.
const MARK: &str = "importing";

/// Bytes that are gathered for a batch, where the store takes as many.
const BATCH: usize = 1 << 20;

/// What an export has in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Imported {
    /// What the export says of itself.
    pub header: ExportHeader,
    /// How many entries of each kind there were.
    pub counts: Counts,
}

/// Tells whether an import into this store was begun and not finished.
pub(crate) fn is_unfinished(read: &impl crate::overlay::Read) -> Result<bool, CallError> {
    read.contains(&key::meta(MARK))
}

/// Reads an export into an empty store, which can then be opened with the packages that the
/// exported one was written with.
///
/// # Errors
/// When the file is not the one that was exported, byte for byte, with the place of the damage;
/// when the store is not empty; when either cannot be read or written.
pub fn import(from: impl Read, store: &dyn Store) -> Result<Imported, ImportError> {
    let mut blocks = BlockReader::new(BufReader::new(from))?;
    let header = header(&blocks.block()?)?;
    let mut writer = Writer::begin(store)?;
    match entries(&mut blocks, |key, value| writer.put(key, value)) {
        Ok(counts) => {
            writer.finish()?;
            Ok(Imported { header, counts })
        }
        Err(error) => {
            writer.take_back()?;
            Err(error)
        }
    }
}

/// Reads an export to its end, as an import would, and keeps nothing of it.
///
/// # Errors
/// When the file is not the one that was exported, byte for byte, with the place of the damage;
/// when it cannot be read.
pub fn check(from: impl Read) -> Result<Imported, ImportError> {
    let mut blocks = BlockReader::new(BufReader::new(from))?;
    let header = header(&blocks.block()?)?;
    let counts = entries(&mut blocks, |_, _| Ok(()))?;
    Ok(Imported { header, counts })
}

fn header(block: &Block) -> Result<ExportHeader, ImportError> {
    if block.kind != BlockKind::Header as u8 {
        let damage = Damage::Kind { found: block.kind, expected: "the header" };
        return Err(block.damaged(damage));
    }
    let header: ExportHeader = contents(block)?;
    if header.format != meta::FORMAT {
        return Err(ImportError::Format { found: header.format, known: meta::FORMAT });
    }
    Ok(header)
}

fn contents<T: serde::de::DeserializeOwned>(block: &Block) -> Result<T, ImportError> {
    match postcard::take_from_bytes(&block.payload) {
        Ok((contents, [])) => Ok(contents),
        Ok((_, rest)) => {
            let message = format!("{} bytes too many", rest.len());
            Err(block.damaged(Damage::Malformed(message)))
        }
        Err(error) => Err(block.damaged(Damage::Malformed(error.to_string()))),
    }
}

/// Reads all blocks behind the header, and puts every entry somewhere.
fn entries<R: Read>(
    blocks: &mut BlockReader<R>,
    mut put: impl FnMut(Bytes, Bytes) -> Result<(), ImportError>,
) -> Result<Counts, ImportError> {
    let mut counts = Counts::default();
    let mut last = Bytes::new();
    loop {
        let block = blocks.block()?;
        if block.kind == BlockKind::End as u8 {
            end(&block, &counts)?;
            blocks.end()?;
            return Ok(counts);
        }
        if block.kind != BlockKind::Entries as u8 {
            let damage = Damage::Kind { found: block.kind, expected: "entries or the end" };
            return Err(block.damaged(damage));
        }
        let mut rest = &block.payload[..];
        let mut position = 0;
        while !rest.is_empty() {
            let ((key, value), behind) = postcard::take_from_bytes::<(&[u8], &[u8])>(rest)
                .map_err(|error| block.damaged(Damage::Malformed(error.to_string())))?;
            rest = behind;
            counts.add(check_key(key, &last, position).map_err(|damage| block.damaged(damage))?);
            last = Bytes::copy_from_slice(key);
            put(last.clone(), Bytes::copy_from_slice(value))?;
            position += 1;
        }
    }
}

fn check_key(key: &[u8], last: &[u8], entry: usize) -> Result<Kind, Damage> {
    let decoded = Key::decode(key).map_err(|error| Damage::Key { entry, error })?;
    if decoded == Key::Meta(MARK.into()) {
        return Err(Damage::Malformed("it is of an import that was not finished".into()));
    }
    if key <= last {
        return Err(Damage::Order { entry });
    }
    let kind = key.first().and_then(|byte| Kind::of(*byte));
    kind.ok_or(Damage::Key { entry, error: key::KeyError::Kind })
}

fn end(block: &Block, counts: &Counts) -> Result<(), ImportError> {
    let end: End = contents(block)?;
    if end.total != *block.total.as_bytes() {
        return Err(block.damaged(Damage::Total));
    }
    if end.counts.len() != Kind::ALL.len() {
        let message = format!("it counts {} kinds of entries", end.counts.len());
        return Err(block.damaged(Damage::Malformed(message)));
    }
    match counts.iter().zip(end.counts).find(|((_, found), said)| found != said) {
        Some(((kind, found), said)) => Err(block.damaged(Damage::Count { kind, found, said })),
        None => Ok(()),
    }
}

/// Tells whether nothing was done in a store: it has nothing, or only says which packages opened
/// it.
fn is_untouched(base: &Base) -> Result<bool, CallError> {
    let behind_meta = key::end_of(&[Kind::Meta as u8]);
    let others = (crate::overlay::borrow(&behind_meta), Bound::Unbounded);
    Ok(base.range(others, Direction::Forward, 1)?.is_empty() && meta::head(base)?.commit == 0)
}

/// Writes entries in batches, the mark in the first.
struct Writer<'s> {
    store: &'s dyn Store,
    writes: Vec<(Bytes, Option<Bytes>)>,
    bytes: usize,
}

impl<'s> Writer<'s> {
    /// Puts the mark into a store in which nothing was done yet, or that only an import left
    /// something in, and makes it empty.
    fn begin(store: &'s dyn Store) -> Result<Self, ImportError> {
        let mut this = Self { store, writes: Vec::new(), bytes: 0 };
        let base = this.base()?;
        if !is_unfinished(&base)? && !is_untouched(&base)? {
            return Err(ImportError::NotEmpty);
        }
        this.writes.push((key::meta(MARK), Some(Bytes::new())));
        this.commit(Durability::Durable)?;
        this.clear()?;
        Ok(this)
    }

    fn put(&mut self, key: Bytes, value: Bytes) -> Result<(), ImportError> {
        let added = key.len() + value.len();
        if !self.writes.is_empty() && self.bytes + added > BATCH.min(self.store.limits().batch) {
            self.commit(Durability::Buffered)?;
        }
        self.bytes += added;
        self.writes.push((key, Some(value)));
        Ok(())
    }

    /// Writes what is left, makes all of it durable, and takes the mark away.
    fn finish(mut self) -> Result<(), ImportError> {
        self.commit(Durability::Durable)?;
        self.store.sync().map_err(unwritable)?;
        self.writes.push((key::meta(MARK), None));
        self.commit(Durability::Durable)
    }

    /// Makes the store as empty as it was.
    fn take_back(mut self) -> Result<(), ImportError> {
        self.writes.clear();
        self.bytes = 0;
        self.clear()?;
        self.writes.push((key::meta(MARK), None));
        self.commit(Durability::Durable)
    }

    /// Deletes everything but the mark.
    fn clear(&mut self) -> Result<(), ImportError> {
        let mark = key::meta(MARK);
        loop {
            let page = self.base()?.range(EVERYTHING, Direction::Forward, 64)?;
            let others = page.into_iter().filter(|(key, _)| *key != mark);
            self.writes = others.map(|(key, _)| (key, None)).collect();
            if self.writes.is_empty() {
                return Ok(());
            }
            self.commit(Durability::Durable)?;
        }
    }

    fn commit(&mut self, durability: Durability) -> Result<(), ImportError> {
        if self.writes.is_empty() {
            return Ok(());
        }
        let batch = Batch {
            read_version: self.store.view().map_err(unreadable)?.version(),
            writes: std::mem::take(&mut self.writes),
            ..Batch::default()
        };
        self.bytes = 0;
        self.store.commit(batch, durability).map_err(unwritable)?;
        Ok(())
    }

    fn base(&self) -> Result<Base, CallError> {
        let view = self.store.view().map_err(unreadable)?;
        Ok(Base::new(Gathered::new(), view, 0, 0))
    }
}

const EVERYTHING: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);

fn unwritable(error: CommitError) -> CallError {
    CallError::Storage { message: error.to_string() }
}
