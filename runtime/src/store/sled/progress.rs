//! The number of a recent batch, kept beside sled.
//!
//! A damaged log of sled's can lose its end without a word: it then opens as an older store. So a
//! small file of our own remembers a batch that was durable. When the store ends before it, what
//! was acknowledged is missing, and the store must not open as if nothing had happened.
//!
//! Two slots are written in turn, each with its checksum, so that a write cut off by a power cut
//! leaves the other.
//!
//! Invariant: the number is never ahead of what is durable.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use super::disk::Disk;
use crate::store::Version;

/// Slots lie apart, so that no sector of the disk holds both.
const SLOT_DISTANCE: u64 = 4096;
const SLOT_LENGTH: usize = 16;

/// The open file.
#[derive(Debug)]
pub(super) struct Progress {
    file: File,
    next_slot: u64,
    recorded: Version,
}

impl Progress {
    /// Writes a new file that holds number 0.
    pub(super) fn create(path: &Path, disk: &dyn Disk) -> io::Result<Progress> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        let mut progress = Progress { file, next_slot: 0, recorded: 0 };
        progress.write(0, disk)?;
        progress.write(0, disk)?;
        Ok(progress)
    }

    /// Opens the file. `None` when neither slot holds what was written there.
    pub(super) fn open(path: &Path) -> io::Result<Option<Progress>> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let newest = (0..2).filter_map(|slot| Some((decode(&bytes, slot)?, slot))).max();
        Ok(newest.map(|(recorded, slot)| Progress { file, next_slot: 1 - slot, recorded }))
    }

    /// Returns the number in the file.
    pub(super) fn recorded(&self) -> Version {
        self.recorded
    }

    /// Records that a batch is durable. Does nothing when that is known.
    pub(super) fn record(&mut self, durable: Version, disk: &dyn Disk) -> io::Result<()> {
        if durable <= self.recorded { Ok(()) } else { self.write(durable, disk) }
    }

    fn write(&mut self, number: Version, disk: &dyn Disk) -> io::Result<()> {
        disk.write(&self.file, self.next_slot * SLOT_DISTANCE, &encode(number))?;
        disk.sync(&self.file)?;
        self.next_slot = 1 - self.next_slot;
        self.recorded = number;
        Ok(())
    }
}

fn encode(number: Version) -> [u8; SLOT_LENGTH] {
    let number = number.to_le_bytes();
    let mut slot = [0; SLOT_LENGTH];
    slot[..8].copy_from_slice(&number);
    slot[8..].copy_from_slice(&blake3::hash(&number).as_bytes()[..8]);
    slot
}

fn decode(file: &[u8], slot: u64) -> Option<Version> {
    let start = usize::try_from(slot * SLOT_DISTANCE).ok()?;
    let found = file.get(start..start + SLOT_LENGTH)?;
    let number = Version::from_le_bytes(*found.first_chunk()?);
    (encode(number) == found).then_some(number)
}
