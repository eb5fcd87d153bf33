//! What sled has left, read once before sled does.
//!
//! sled takes a log that it cannot read for one that ends there, and clears the rest for good. So
//! whatever it is going to read of it when it opens is read here first: what cannot be read is left
//! as it is, and what can is in the system's memory when sled asks for it.
//!
//! That is the header of each segment, and all of a segment that may be newer than the newest
//! snapshot: what a snapshot covers, sled does not read again. A header is not checked here. One that
//! sled would not trust makes us read a segment in vain, or leave one out that it leaves out too.
//! (sled 0.34.7: `pagecache/iterator.rs`, `pagecache/logger.rs`, `pagecache/snapshot.rs`.)

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::disk::Disk;
use super::engine::SEGMENT_BYTES;

/// Where a segment's header has its place in the log, which sled stores with all bits but the sign
/// turned over.
const PLACE: std::ops::Range<usize> = 4..12;
const PLACE_MASK: i64 = i64::MAX;

/// The length of a header.
const HEADER_BYTES: usize = 20;

/// How much is read at once. sled takes a whole segment of memory right after.
const PIECE_BYTES: usize = 256 << 10;

/// How the name of a snapshot begins; its place follows, in hexadecimal digits.
const SNAPSHOT: &str = "snap.";

/// Reads what sled is going to read of its log, and keeps nothing of it.
pub(super) fn read_before(disk: &dyn Disk, log: &File, folder: &Path) -> io::Result<()> {
    let segment_bytes = SEGMENT_BYTES as u64;
    let covered =
        newest_snapshot(folder)?.unwrap_or(0) / SEGMENT_BYTES as i64 * SEGMENT_BYTES as i64;
    let mut piece = vec![0; PIECE_BYTES];
    for number in 0..log.metadata()?.len().div_ceil(segment_bytes) {
        let offset = number * segment_bytes;
        let header = &mut piece[..HEADER_BYTES];
        if disk.read_at(log, offset, header)? < HEADER_BYTES || place(header) >= covered {
            for offset in (offset..offset + segment_bytes).step_by(PIECE_BYTES) {
                if disk.read_at(log, offset, &mut piece)? < PIECE_BYTES {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Returns the place that a header says its segment has in the log.
fn place(header: &[u8]) -> i64 {
    let mut place = [0; 8];
    place.copy_from_slice(&header[PLACE]);
    i64::from_le_bytes(place) ^ PLACE_MASK
}

/// Returns up to where the newest snapshot covers the log. A name that says nothing counts as a
/// snapshot of nothing: then all is read.
fn newest_snapshot(folder: &Path) -> io::Result<Option<i64>> {
    let mut newest = None;
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some(place) = name.to_str().and_then(|name| name.strip_prefix(SNAPSHOT)) else {
            continue;
        };
        // Unfinished ones are removed before sled opens.
        if place.ends_with(".generating") {
            continue;
        }
        let Ok(place) = i64::from_str_radix(place, 16) else { return Ok(None) };
        newest = newest.max(Some(place));
    }
    Ok(newest)
}
