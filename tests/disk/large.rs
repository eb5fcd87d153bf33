//! A store that is written by batches of up to many MiB, what its disk may hold whenever it is about
//! to sync, and what the store held at each version.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use quixos_runtime::store::{Batch, Disk, Durability, OpenError, SledOptions, SledStore, Store};

use super::Shot;
use crate::replay::Random;

/// Keys that batches write.
const KEYS: u8 = 12;

/// How long values are, at most.
const LENGTHS: [usize; 4] = [1 << 10, 100 << 10, 1 << 20, 2 << 20];

/// Batches that a store begins with.
const FIRST: u64 = 3;

/// Of each key, the version that wrote it, and the length of the value.
type State = BTreeMap<u8, (u8, usize)>;

/// A disk that is photographed before each sync.
#[derive(Debug)]
struct Photographed {
    folder: PathBuf,
    /// How far the store had told that it is durable.
    told: AtomicU64,
    shots: Mutex<Vec<Shot>>,
}

impl Photographed {
    fn photograph(&self) {
        let shot = Shot::take(&self.folder, self.told.load(Ordering::SeqCst));
        self.shots.lock().unwrap().push(shot);
    }
}

impl Disk for Photographed {
    fn sync(&self, file: &File) -> io::Result<()> {
        self.photograph();
        file.sync_data()
    }
}

/// Photographs of a store: of it as it was made, and before each sync.
pub(crate) struct Large {
    pub(crate) shots: Vec<Shot>,
    states: Vec<State>,
}

fn options() -> SledOptions {
    SledOptions { free_space_floor: 0, ..SledOptions::default() }
}

/// Returns the value that a version writes.
fn value(version: u8, length: usize) -> Bytes {
    vec![version; length].into()
}

impl Large {
    /// Writes batches, some while others are on their way to the disk.
    pub(crate) fn record(random: &mut Random) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        drop(SledStore::open(&path, options()).unwrap());
        let disk = Arc::new(Photographed {
            folder: path.clone(),
            told: AtomicU64::new(0),
            shots: Mutex::new(Vec::new()),
        });
        let store =
            SledStore::open_on(&path, options(), Arc::clone(&disk) as Arc<dyn Disk>).unwrap();
        disk.photograph();
        let mut states = vec![State::new()];
        let mut waiting = Vec::new();
        for version in 1..=FIRST + random.below(6) {
            let mut state = states.last().unwrap().clone();
            // The first ones are more than a segment, and nobody waits for them.
            let is_first = version <= FIRST;
            let longest = if is_first { 2 << 20 } else { random.pick(&LENGTHS) };
            let writes = write(&mut state, u8::try_from(version).unwrap(), longest, random);
            states.push(state);
            let batch = Batch {
                transactions: Vec::new(),
                read_version: version - 1,
                reads: Vec::new(),
                writes,
            };
            let durability = match !is_first && random.percent(50) {
                true => Durability::Durable,
                false => Durability::Buffered,
            };
            waiting.push(store.submit(batch, durability).unwrap().write().unwrap());
            if !is_first && random.percent(30) {
                for written in waiting.drain(..) {
                    written.wait().unwrap();
                }
                disk.told.store(store.durable(), Ordering::SeqCst);
            }
        }
        // What is left is synced at the end.
        drop(waiting);
        drop(store);
        let shots = std::mem::take(&mut *disk.shots.lock().unwrap());
        Self { shots, states }
    }

    /// Opens what a disk may hold, and returns at which version it is.
    ///
    /// # Errors
    /// What is corrupt.
    pub(crate) fn look(&self, folder: &Path) -> Result<u64, OpenError> {
        let store = SledStore::open(folder, options())?;
        let view = store.view().unwrap();
        let version = view.version();
        for key in 0..KEYS {
            let found = view.get(&[key]).unwrap();
            let expected = self.states[usize::try_from(version).unwrap()].get(&key);
            let expected = expected.map(|(version, length)| value(*version, *length));
            let is_as_written = found == expected;
            assert!(is_as_written, "{key} at {version}: {:?}", found.map(|it| it.len()));
        }
        Ok(version)
    }
}

/// Chooses what a version writes.
fn write(
    state: &mut State,
    version: u8,
    longest: usize,
    random: &mut Random,
) -> Vec<(Bytes, Option<Bytes>)> {
    let share = 10 + random.below(80);
    let mut writes = Vec::new();
    for key in 0..KEYS {
        if !random.percent(share) {
            continue;
        }
        let length = random.index(longest);
        state.insert(key, (version, length));
        writes.push((Bytes::copy_from_slice(&[key]), Some(value(version, length))));
    }
    writes
}
