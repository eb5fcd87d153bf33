//! Making a store, and opening one so that what was acknowledged is there or its absence noticed.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use super::SledOptions;
use super::cache::Cache;
use super::disk::Disk;
use super::engine::{Engine, Failure};
use super::error::OpenError;
use super::folder::{Contents, Folder, sync_folder};
use super::lane::{Lane, Opened};
use super::long::LongValues;
use super::progress::Progress;
use super::{left, record, writing};
use crate::store::Version;

/// Takes the folder, and opens or makes the store in it.
pub(super) fn open(
    path: &Path,
    options: &SledOptions,
    disk: Arc<dyn Disk>,
) -> Result<Lane, OpenError> {
    let (folder, contents) = Folder::claim(path)?;
    let (engine, progress, newest) = match contents {
        Contents::New => make(&folder, options, disk.as_ref())?,
        Contents::Store => recover(&folder, options, disk.as_ref())?,
    };
    let long = LongValues::find(&engine).map_err(|failure| unopened(&folder, failure))?;
    let cache = Cache::new(options.recent_bytes);
    let free_space_floor = options.free_space_floor;
    Ok(Lane::start(Opened {
        engine,
        cache,
        folder,
        disk,
        progress,
        long,
        newest,
        free_space_floor,
    }))
}

/// Makes an empty store. Until [`Folder::finish`] it is none, and is made again.
fn make(
    folder: &Folder,
    options: &SledOptions,
    disk: &dyn Disk,
) -> Result<(Engine, Progress, Version), OpenError> {
    let engine = open_engine(folder, options)?;
    let written = engine.apply(writing::first()).and_then(|()| engine.flush());
    written.map_err(|failure| unopened(folder, failure))?;
    disk.sync(engine.log()).map_err(OpenError::io(folder.path()))?;
    let progress = Progress::create(&folder.progress(), disk);
    let progress = progress.map_err(OpenError::io(&folder.progress()))?;
    folder.finish()?;
    Ok((engine, progress, 0))
}

/// Opens a store and sees that it does not end before what it has acknowledged.
fn recover(
    folder: &Folder,
    options: &SledOptions,
    disk: &dyn Disk,
) -> Result<(Engine, Progress, Version), OpenError> {
    let corrupt = |reason: &str| OpenError::corrupt(folder.path(), reason);
    let progress = match Progress::open(&folder.progress()) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        opened => opened.map_err(OpenError::io(&folder.progress()))?,
    };
    let Some(mut progress) = progress else {
        return Err(corrupt(
            "its file `progress` is missing or damaged, so that loss would not show",
        ));
    };
    // sled would make a new log without a word.
    let log = Engine::left_log(&folder.data()).map_err(OpenError::io(&folder.data()))?;
    let Some(log) = log else {
        return Err(corrupt("sled's files are missing"));
    };
    // A process that was killed leaves what it wrote in the system's memory. sled syncs a snapshot
    // of what it finds, and what it found only where the last segment has room left; were the power
    // cut then, the log could end before its snapshot, and sled would refuse it for good.
    disk.sync(&log).map_err(OpenError::io(&folder.data()))?;
    left::read_before(disk, &log, &folder.data()).map_err(OpenError::io(&folder.data()))?;
    drop(log);
    let engine = open_engine(folder, options)?;
    let newest = engine.get(record::NEWEST).map_err(|failure| unopened(folder, failure))?;
    let Some(newest) = newest else {
        return Err(corrupt("the number of the newest batch is missing"));
    };
    let newest = record::read_number(record::NEWEST, &newest);
    let newest = newest.map_err(|damaged| corrupt(&damaged.to_string()))?;
    let recorded = progress.recorded();
    if newest < recorded {
        return Err(corrupt(&format!(
            "acknowledged data is missing: it ends with batch {newest}, \
             and batch {recorded} was written"
        )));
    }
    // sled may have mended the end of its log.
    engine.flush().map_err(|failure| unopened(folder, failure))?;
    disk.sync(engine.log()).map_err(OpenError::io(folder.path()))?;
    sync_folder(&folder.data()).map_err(OpenError::io(&folder.data()))?;
    progress.record(newest, disk).map_err(OpenError::io(&folder.progress()))?;
    Ok((engine, progress, newest))
}

fn open_engine(folder: &Folder, options: &SledOptions) -> Result<Engine, OpenError> {
    Engine::open(&folder.data(), options.cache_bytes).map_err(|failure| unopened(folder, failure))
}

fn unopened(folder: &Folder, failure: Failure) -> OpenError {
    match failure {
        Failure::Io(reason) => OpenError::io(folder.path())(io::Error::other(reason)),
        Failure::Corrupt(reason) => OpenError::corrupt(folder.path(), reason),
    }
}
