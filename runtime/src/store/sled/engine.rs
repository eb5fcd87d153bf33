//! sled itself: the only code that calls it, and only what is known to be safe in it.
//!
//! One tree; `get`, `range`, `apply_batch` and `flush`. Never `transaction`, never `insert`.
//!
//! sled panics where it finds its files damaged, also on threads of its own, and also when it is
//! dropped. Each call is caught here and reported as [`Failure::Corrupt`]; closing is bounded in
//! time, because sled waits for ever for a thread of its that panicked.
//!
//! Page sizes: a page of more than a quarter of a segment goes to a file of its own that sled never
//! syncs. A leaf holds some 20 records at most and an index 257 keys, so that with 8 MiB segments,
//! records of 32 KiB and keys of 4 KiB no page comes near 2 MiB.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ::sled::{Batch, Config, Db, IVec};

/// What the marker calls this engine.
pub(super) const NAME: &str = "sled 0.34";

/// The length of a piece of sled's log. Fixed when a store is made.
pub(super) const SEGMENT_BYTES: usize = 8 << 20;

/// With less of a cache sled panics.
const LEAST_CACHE_BYTES: u64 = 256;

/// How long closing may take. Everything is on the disk before; what is left is sled's tidying.
const CLOSE_PATIENCE: Duration = Duration::from_secs(10);

/// How often, and how long apart, opening waits for threads of a sled closed in this process just
/// before: they hold its files a moment longer.
const OPEN_TRIES: u32 = 200;
const OPEN_PAUSE: Duration = Duration::from_millis(10);

/// Why sled did not do something.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    Io(String),
    #[error("{0}")]
    Corrupt(String),
}

impl From<::sled::Error> for Failure {
    fn from(error: ::sled::Error) -> Failure {
        match error {
            ::sled::Error::Io(error) => Failure::Io(error.to_string()),
            error @ (::sled::Error::Corruption { .. }
            | ::sled::Error::CollectionNotFound(_)
            | ::sled::Error::Unsupported(_)
            | ::sled::Error::ReportableBug(_)) => Failure::Corrupt(format!("sled: {error}")),
        }
    }
}

/// Calls sled, and makes a failure of a panic.
fn guarded<T>(call: impl FnOnce() -> ::sled::Result<T>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => Ok(result?),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text =
                text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason");
            Err(Failure::Corrupt(format!("sled gave up: {text}")))
        }
    }
}

/// An open sled.
#[derive(Debug)]
pub(super) struct Engine {
    /// `None` only while this is dropped.
    db: Option<Db>,
    /// Our own handle on sled's log. sled's `flush` writes without waiting for the disk, and a
    /// failure to sync is told once to each handle: this one is ours to listen to.
    log: File,
}

impl Engine {
    /// Opens sled's files in a folder, or makes them. Only one process may do so at a time.
    pub(super) fn open(folder: &Path, cache_bytes: u64) -> Result<Engine, Failure> {
        let io = |error: io::Error| Failure::Io(error.to_string());
        remove_unfinished_snapshots(folder).map_err(io)?;
        let open = || {
            let cache_bytes = cache_bytes.max(LEAST_CACHE_BYTES);
            let config = Config::new().path(folder).cache_capacity(cache_bytes);
            // sled's own thread would write into the log beside the batches: see `tail`.
            config.segment_size(SEGMENT_BYTES).flush_every_ms(None).open()
        };
        let mut opened = guarded(open);
        for _ in 1..OPEN_TRIES {
            match &opened {
                Err(Failure::Io(reason)) if reason.contains("could not acquire lock") => {}
                Ok(_) | Err(_) => break,
            }
            thread::sleep(OPEN_PAUSE);
            opened = guarded(open);
        }
        let db = Some(opened?);
        let log = OpenOptions::new().read(true).write(true).open(log_path(folder)).map_err(io)?;
        Ok(Engine { db, log })
    }

    /// Opens the log that sled has left in a folder; none, if sled has not been there.
    pub(super) fn left_log(folder: &Path) -> io::Result<Option<File>> {
        match OpenOptions::new().read(true).write(true).open(log_path(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Returns our handle on the log; what was flushed is durable once this is synced.
    pub(super) fn log(&self) -> &File {
        &self.log
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<IVec>, Failure> {
        guarded(|| self.db().get(key))
    }

    /// Starts to read through a range, from either end. Sees what is written meanwhile.
    pub(super) fn scan(&self, start: Bound<&[u8]>, end: Bound<&[u8]>) -> Scan {
        Scan(self.db().range::<&[u8], _>((start, end)))
    }

    /// Writes a batch into sled's memory, whole also after a kill. Not whole to those who read
    /// meanwhile.
    pub(super) fn apply(&self, batch: Batch) -> Result<(), Failure> {
        guarded(|| self.db().apply_batch(batch))
    }

    /// Hands everything applied to the system. Not yet durable: sync the log.
    ///
    /// Returns by how many bytes the log has grown. When sled fails to write, it forgets to wake who
    /// waits in here; a second call wakes them.
    pub(super) fn flush(&self) -> Result<u64, Failure> {
        guarded(|| self.db().flush()).map(|grown| grown as u64)
    }

    fn db(&self) -> &Db {
        self.db.as_ref().expect("sled is open until this is dropped")
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let db = self.db.take();
        let (closed, wait) = mpsc::channel();
        let close = move || {
            // A panic in here has nobody left to hear of it: all is on the disk already.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(db)));
            let _ = closed.send(());
        };
        if thread::Builder::new().name("sled-close".to_owned()).spawn(close).is_ok() {
            let _ = wait.recv_timeout(CLOSE_PATIENCE);
        }
    }
}

/// A way through a range of sled's.
pub(super) struct Scan(::sled::Iter);

impl Iterator for Scan {
    type Item = Result<(IVec, IVec), Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        guarded(|| self.0.next().transpose()).transpose()
    }
}

impl DoubleEndedIterator for Scan {
    fn next_back(&mut self) -> Option<Self::Item> {
        guarded(|| self.0.next_back().transpose()).transpose()
    }
}

fn log_path(folder: &Path) -> std::path::PathBuf {
    folder.join("db")
}

/// A kill while sled opens can leave a snapshot half written, which sled then takes for a whole one
/// and refuses. It can do without: its log has everything.
fn remove_unfinished_snapshots(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
