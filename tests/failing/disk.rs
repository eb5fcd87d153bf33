//! The file layer of the store on disk, of which one operation fails, or all from one on.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use quixos_runtime::store::Disk;

/// What the store asks of its disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DiskCall {
    Free,
    Read,
    Sync,
    Write,
}

impl DiskCall {
    pub(crate) const ALL: [Self; 4] = [Self::Free, Self::Read, Self::Sync, Self::Write];

    /// Returns the ways in which it can fail.
    pub(crate) fn ways(self) -> &'static [Mishap] {
        match self {
            Self::Free => &[Mishap::Io, Mishap::Full],
            Self::Read => &[Mishap::Io],
            Self::Sync => &[Mishap::Io, Mishap::NoSpace],
            Self::Write => &[Mishap::Io, Mishap::NoSpace, Mishap::Short],
        }
    }
}

/// How an operation fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mishap {
    /// `EIO`, and nothing is done.
    Io,
    /// `ENOSPC`, and nothing is done.
    NoSpace,
    /// Half is written, then there is no room.
    Short,
    /// There is no room, which is an answer and no failure.
    Full,
}

impl Mishap {
    fn error(self) -> io::Error {
        let number = if self == Self::Io { 5 } else { 28 };
        io::Error::from_raw_os_error(number)
    }
}

/// What is to fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DiskFault {
    pub(crate) call: DiskCall,
    /// Which operation of these, from 1.
    pub(crate) nth: u64,
    /// Whether those after it fail too.
    pub(crate) lasts: bool,
    pub(crate) how: Mishap,
}

/// The disk as it is.
#[derive(Debug)]
struct Plain;

impl Disk for Plain {}

/// A disk of which something fails.
#[derive(Debug)]
pub(crate) struct FailingDisk {
    made: [AtomicU64; DiskCall::ALL.len()],
    fault: Option<DiskFault>,
}

impl FailingDisk {
    pub(crate) fn new(fault: Option<DiskFault>) -> Self {
        Self { made: Default::default(), fault }
    }

    /// Returns how often an operation was asked for.
    pub(crate) fn made(&self, call: DiskCall) -> u64 {
        self.made[call as usize].load(Ordering::SeqCst)
    }

    fn met(&self, call: DiskCall) -> Option<Mishap> {
        let number = self.made[call as usize].fetch_add(1, Ordering::SeqCst) + 1;
        let fault = self.fault.filter(|fault| fault.call == call)?;
        (number == fault.nth || fault.lasts && number > fault.nth).then_some(fault.how)
    }
}

impl Disk for FailingDisk {
    fn free(&self, _: &Path) -> io::Result<u64> {
        match self.met(DiskCall::Free) {
            Some(Mishap::Full) => Ok(0),
            Some(how) => Err(how.error()),
            None => Ok(u64::MAX),
        }
    }

    fn read_at(&self, file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        match self.met(DiskCall::Read) {
            Some(how) => Err(how.error()),
            None => Plain.read_at(file, offset, bytes),
        }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        match self.met(DiskCall::Sync) {
            Some(how) => Err(how.error()),
            None => file.sync_data(),
        }
    }

    fn write(&self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self.met(DiskCall::Write) {
            Some(how) => {
                if how == Mishap::Short {
                    file.write_all_at(&bytes[..bytes.len() / 2], offset)?;
                }
                Err(how.error())
            }
            None => file.write_all_at(bytes, offset),
        }
    }
}
