//! Values that were read of late, so that sled is not asked for the same ones again.
//!
//! As sled does, this shows what is there now and knows no versions; [`SledView`] tells what of it
//! its version may show, in the same way for both. What was not found is kept too. Values longer
//! than [`VALUE_BYTES`] are not kept.
//!
//! What is written is kept too, where keys of its kind are asked for one by one: what was created is
//! soon asked for, and sled, which would be asked else, answers nobody while a batch is applied. The
//! kind of a key is its first byte.
//!
//! Two generations: what is read or written comes into the younger one; when that has its half of
//! the memory, it becomes the older one, and what was not read since then is forgotten.
//!
//! Invariant: while no batch is being applied, what is here is what sled holds. Whoever applies a
//! batch replaces what is here of its keys before he says that it is applied. Whoever reads keeps
//! what he has read only if no batch began to be applied meanwhile, and asks while he holds the
//! lock that the one who applies takes afterward.
//!
//! [`SledView`]: super::view::SledView

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use foldhash::quality::RandomState;

/// The longest value that is kept.
pub(super) const VALUE_BYTES: usize = 4 << 10;

/// What an entry takes besides its key and its value: its place in a map that is half full, and
/// what allocations round up.
const ENTRY_BYTES: usize = 192;

/// Parts under a lock each, so that readers seldom wait for each other, and little is forgotten at
/// once.
const SHARDS: usize = 16;

/// A value, or that there is none.
type Found = Option<Bytes>;

/// What was found under a key.
#[derive(Debug)]
struct Entry {
    key: Box<[u8]>,
    found: Found,
}

/// Entries by the hashes of their keys. Of two keys with the same hash the later one is known.
type Entries = HashMap<u64, Entry, BuildHasherDefault<Hashed>>;

/// What was read of late.
#[derive(Debug)]
pub(super) struct Cache {
    shards: [Mutex<Shard>; SHARDS],
    hashes: RandomState,
    /// The kinds of keys that were asked for.
    asked: [AtomicBool; 1 << 8],
}

#[derive(Debug, Default)]
struct Shard {
    young: Entries,
    young_bytes: usize,
    old: Entries,
    /// What the younger generation may take.
    half: usize,
}

impl Cache {
    /// Makes one that takes no more memory than this; with none it keeps nothing.
    pub(super) fn new(bytes: u64) -> Cache {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let shard = |_| Mutex::new(Shard { half: bytes / SHARDS / 2, ..Shard::default() });
        Cache {
            shards: std::array::from_fn(shard),
            hashes: RandomState::default(),
            asked: std::array::from_fn(|_| AtomicBool::new(false)),
        }
    }

    /// Returns what is under a key, if it is known.
    pub(super) fn get(&self, key: &[u8]) -> Option<Found> {
        if let Some(asked) = self.asked_of(key).filter(|asked| !asked.load(Ordering::Relaxed)) {
            asked.store(true, Ordering::Relaxed);
        }
        let hash = self.hashes.hash_one(key);
        let mut shard = self.shard(hash);
        if let Some(entry) = shard.young.get(&hash) {
            return (*entry.key == *key).then(|| entry.found.clone());
        }
        let entry = shard.take_old(hash, key)?;
        let found = entry.found.clone();
        shard.insert(hash, entry);
        Some(found)
    }

    /// Keeps what was read under a key, if that is still so.
    pub(super) fn keep(&self, key: &[u8], found: &Found, is_so: impl FnOnce() -> bool) {
        let hash = self.hashes.hash_one(key);
        let mut shard = self.shard(hash);
        if is_so() && is_short(found) {
            shard.insert(hash, Entry { key: key.into(), found: copy(found) });
        }
    }

    /// Replaces what is known of a key. What is not known stays so if it is of a kind that nobody
    /// asks for: much is written that nobody reads.
    pub(super) fn replace(&self, key: &[u8], found: &Found) {
        let hash = self.hashes.hash_one(key);
        let mut shard = self.shard(hash);
        let known = shard.take_young(hash, key).or_else(|| shard.take_old(hash, key));
        if !is_short(found) {
            return;
        }
        if let Some(entry) = known {
            shard.insert(hash, Entry { found: copy(found), ..entry });
        } else if self.asked_of(key).is_some_and(|asked| asked.load(Ordering::Relaxed)) {
            shard.insert(hash, Entry { key: key.into(), found: copy(found) });
        }
    }

    fn asked_of(&self, key: &[u8]) -> Option<&AtomicBool> {
        self.asked.get(usize::from(*key.first()?))
    }

    fn shard(&self, hash: u64) -> MutexGuard<'_, Shard> {
        let shard = usize::try_from(hash >> 32).unwrap_or(0) % SHARDS;
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn insert(&mut self, hash: u64, entry: Entry) {
        let bytes = entry.size();
        if bytes > self.half {
            return;
        }
        if self.young_bytes + bytes > self.half {
            self.old = mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        // In one generation only, so that what replaces it leaves nothing behind.
        self.old.remove(&hash);
        self.young_bytes += bytes;
        if let Some(before) = self.young.insert(hash, entry) {
            self.young_bytes -= before.size();
        }
    }

    fn take_young(&mut self, hash: u64, key: &[u8]) -> Option<Entry> {
        let taken = take(&mut self.young, hash, key)?;
        self.young_bytes -= taken.size();
        Some(taken)
    }

    fn take_old(&mut self, hash: u64, key: &[u8]) -> Option<Entry> {
        take(&mut self.old, hash, key)
    }
}

fn take(entries: &mut Entries, hash: u64, key: &[u8]) -> Option<Entry> {
    let is_known = entries.get(&hash).is_some_and(|entry| *entry.key == *key);
    if is_known { entries.remove(&hash) } else { None }
}

impl Entry {
    fn size(&self) -> usize {
        ENTRY_BYTES + self.key.len() + self.found.as_ref().map_or(0, Bytes::len)
    }
}

fn is_short(found: &Found) -> bool {
    found.as_ref().is_none_or(|value| value.len() <= VALUE_BYTES)
}

/// Copies a value, so that it holds no memory but its own.
fn copy(found: &Found) -> Found {
    found.as_deref().map(Bytes::copy_from_slice)
}

/// Takes a hash for what it is.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Entries are found by a `u64`; whatever else is asked for is correct, and slow.
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
