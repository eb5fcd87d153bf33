//! The file operations that decide whether an answer is true, apart from sled's own.
//!
//! They stand behind a trait for one reason: a test can make the n-th of them fail.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

/// How much of a file is read at once.
const READ_BYTES: usize = 1 << 20;

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

    /// Reads all of a file, and keeps nothing of it.
    ///
    /// # Errors
    /// The system's.
    fn read_through(&self, mut file: &File) -> io::Result<()> {
        file.seek(SeekFrom::Start(0))?;
        let mut file = BufReader::with_capacity(READ_BYTES, file);
        io::copy(&mut file, &mut io::sink()).map(drop)
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
