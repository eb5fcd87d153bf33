//! An export while calls write: they wait for what they changed meanwhile to be read, and not for
//! all.
//!
//! Everything is read page by page, each page as the store is by then, and laid aside. Meanwhile it
//! is noted which keys the store is given. These are read again, and what is given meanwhile once
//! more, until there are few, or it does not get less; those are read while the lane stands still.
//! What was read last of each key is the store as it was at that moment, and is written when the lane
//! goes on.
//!
//! Invariant: what was read of a key is what the store has of it at the end, or the key is among
//! those that are read again. What a page showed was in the store for good before the notes began,
//! or was given to the store after, and noted, or was still being gathered at the end, and is read
//! then; or a group failed and took it back. Then the epoch is another one, and there is no export.

use std::collections::BTreeSet;
use std::io::{self, Seek, Write};

use bytes::Bytes;

use super::aside::{Aside, Taken};
use super::{EntryWriter, ExportError, ExportHeader, header};
use crate::counts::Counts;
use crate::error::CallError;
use crate::overlay::{Entry, Range, Read};
use crate::reference::ObjectRef;
use crate::runtime::{Inner, Runtime};
use crate::snapshot::Snapshot;
use crate::store::Direction;
use crate::walk::{Visitor as _, walk};

/// Keys that are few enough to be read while the lane stands still.
const FEW: usize = 2000;
/// Keys that are read of one version.
const AT_ONCE: usize = 64;

impl Runtime {
    /// Writes all of the store to a file, as [`Runtime::export`] does, while calls that write go on:
    /// they wait for a moment, near the end. What was read is laid aside in files, which are asked
    /// for one by one, and have the size of the store and more.
    ///
    /// # Errors
    /// As [`Runtime::export`]; `storage` when what was read could not be written: export again.
    pub async fn export_beside<F: io::Read + Write + Seek>(
        &self,
        to: impl Write,
        mut file: impl FnMut() -> io::Result<F>,
    ) -> Result<Counts, ExportError> {
        let noted = self.inner().takers.begin();
        // What the store was given before is in it for good when this is answered.
        let epoch = self.read_held(|snapshot| Ok(snapshot.base().epoch)).await?;
        let pages = Pages(self.inner());
        let mut all = Aside::new(file()?);
        walk(&pages, &mut all)?;
        let mut layers = vec![all.taken()?];
        let mut before = usize::MAX;
        // Where more is written than can be read again, it does not get less.
        while noted.len() > FEW && noted.len() <= before / 2 {
            before = noted.len();
            let mut again = Aside::new(file()?);
            pages.values(&noted.take(), &mut again)?;
            layers.push(again.taken()?);
        }
        let mut last = Aside::new(file()?);
        // The error of writing is kept beside, since the store's is of another type.
        let mut found = None;
        self.read_held(|snapshot| {
            if snapshot.base().epoch != epoch {
                let message = "what was read could not be written; export again".into();
                return Err(CallError::Storage { message });
            }
            found = Some(remaining(*snapshot, noted.take(), &mut last));
            Ok(())
        })
        .await?;
        drop(noted);
        let Some(header) = found.transpose()? else { return Ok(Counts::default()) };
        layers.push(last.taken()?);
        write(&header, layers, to)
    }
}

/// Reads what was noted since, and what is being gathered, of a store that stands still.
fn remaining<F: io::Read + Write + Seek>(
    snapshot: Snapshot<'_>,
    mut keys: BTreeSet<Bytes>,
    aside: &mut Aside<F>,
) -> Result<ExportHeader, ExportError> {
    let base = snapshot.base();
    keys.extend(base.over.keys());
    for key in keys {
        aside.put(&key, base.get(&key)?.as_deref())?;
    }
    header(base)
}

/// Writes what was read last of each key.
fn write<F: io::Read>(
    header: &ExportHeader,
    mut layers: Vec<Taken<F>>,
    to: impl Write,
) -> Result<Counts, ExportError> {
    let mut writer = EntryWriter::begin(header, to)?;
    while let Some(key) = layers.iter().filter_map(Taken::key).min().cloned() {
        let mut value = None;
        for layer in &mut layers {
            if layer.key() == Some(&key) {
                value = layer.take()?.and_then(|(_, value)| value);
            }
        }
        if let Some(value) = value {
            writer.entry(&key, &value)?;
        }
    }
    writer.end()
}

/// The store page by page, each page of the newest version.
struct Pages<'i>(&'i Inner);

impl Pages<'_> {
    /// Lays aside what the store has under keys.
    fn values<F: io::Read + Write + Seek>(
        &self,
        keys: &BTreeSet<Bytes>,
        aside: &mut Aside<F>,
    ) -> Result<(), ExportError> {
        let keys: Vec<&Bytes> = keys.iter().collect();
        for some in keys.chunks(AT_ONCE) {
            let values = self.0.read_durable(|base, _| {
                some.iter().map(|key| base.get(key)).collect::<Result<Vec<_>, _>>()
            })?;
            for (key, value) in some.iter().zip(values) {
                aside.put(key, value.as_deref())?;
            }
        }
        Ok(())
    }
}

impl Read for Pages<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, CallError> {
        self.0.read_durable(|base, _| base.get(key))
    }

    fn range(
        &self,
        range: Range<'_>,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<Entry>, CallError> {
        self.0.read_durable(|base, _| base.range(range, direction, limit))
    }

    fn header(&self, object: ObjectRef) -> Result<Option<Bytes>, CallError> {
        self.0.read_durable(|base, _| base.header(object))
    }
}
