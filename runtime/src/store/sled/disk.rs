//! The file operations that decide whether an answer is true, apart from sled's own.
//!
//! They stand behind a trait for one reason: a test can make the n-th of them fail.

#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

#[cfg_attr(not(feature = "testing"), allow(unreachable_pub, reason = "public to tests alone"))]
/// What the store asks of the disk on its way to an answer.
pub trait Disk: Debug + Send + Sync {
    /// Returns the bytes that may still be written to the disk that holds a folder.
    ///
    /// # Errors
    /// The system's.
    fn free(&self, folder: &Path) -> io::Result<u64> {
        fs4::available_space(folder)
    }

    /// Forces what was written to a file onto the disk.
    ///
    /// # Errors
    /// The system's. The file must then not be trusted: a second try may succeed although the
    /// data is gone.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// Reads a part of a file, up to its end, and returns how much there was.
    ///
    /// # Errors
    /// The system's.
    fn read_at(&self, mut file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        file.seek(SeekFrom::Start(offset))?;
        let mut there = 0;
        while there < bytes.len() {
            match file.read(&mut bytes[there..]) {
                Ok(0) => break,
                Ok(read) => there += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(there)
    }

    /// Overwrites a part of a file.
    ///
    /// # Errors
    /// The system's.
    fn write(&self, mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }
}

/// The disk as it is.
#[derive(Debug)]
pub(super) struct SystemDisk;

impl Disk for SystemDisk {}
