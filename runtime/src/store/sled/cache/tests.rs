//! What is kept, what is replaced, and how much of it at most.

use std::hash::BuildHasher;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{Cache, ENTRY_BYTES, Found, SHARDS, VALUE_BYTES};

const BYTES: u64 = 1 << 20;

fn found(value: &str) -> Found {
    Some(value.to_owned().into())
}

#[test]
fn what_is_kept_is_there_until_it_is_replaced() {
    let cache = Cache::new(BYTES);
    assert_eq!(cache.get(b"a"), None);
    cache.keep(b"a", &found("1"), || true);
    cache.keep(b"b", &None, || true);
    assert_eq!(cache.get(b"a"), Some(found("1")));
    assert_eq!(cache.get(b"b"), Some(None), "that nothing was found is known too");
    cache.replace(b"a", &None);
    cache.replace(b"b", &found("2"));
    assert_eq!(cache.get(b"a"), Some(None));
    assert_eq!(cache.get(b"b"), Some(found("2")));
}

#[test]
fn what_is_no_longer_so_is_not_kept() {
    let cache = Cache::new(BYTES);
    cache.keep(b"a", &found("1"), || false);
    assert_eq!(cache.get(b"a"), None);
}

#[test]
fn what_is_written_and_not_read_takes_no_room() {
    let cache = Cache::new(BYTES);
    cache.replace(b"a", &found("1"));
    assert_eq!(cache.get(b"a"), None);
}

#[test]
fn what_is_written_is_kept_where_such_keys_are_asked_for() {
    let cache = Cache::new(BYTES);
    assert_eq!(cache.get(b"ab"), None);
    cache.replace(b"ac", &found("1"));
    cache.replace(b"ad", &None);
    cache.replace(b"bc", &found("1"));
    assert_eq!(cache.get(b"ac"), Some(found("1")));
    assert_eq!(cache.get(b"ad"), Some(None));
    assert_eq!(cache.get(b"bc"), None);
}

#[test]
fn a_replacement_comes_after_what_is_being_kept() {
    let cache = Cache::new(BYTES);
    let (replaced, is_replaced) = mpsc::channel();
    let cache = &cache;
    thread::scope(|scope| {
        cache.keep(b"a", &found("old"), || {
            scope.spawn(move || {
                cache.replace(b"a", &found("new"));
                let _ = replaced.send(());
            });
            // Were it not to wait, it would now come first, and be overwritten by the old.
            is_replaced.recv_timeout(Duration::from_millis(100)).is_err()
        });
    });
    assert_eq!(cache.get(b"a"), Some(found("new")));
}

#[test]
fn long_values_are_not_kept() {
    let cache = Cache::new(BYTES);
    let value = |length: usize| Some(vec![1; length].into());
    cache.keep(b"a", &value(VALUE_BYTES), || true);
    cache.keep(b"b", &value(VALUE_BYTES + 1), || true);
    assert_eq!(cache.get(b"a"), Some(value(VALUE_BYTES)));
    assert_eq!(cache.get(b"b"), None);
    cache.replace(b"a", &value(VALUE_BYTES + 1));
    assert_eq!(cache.get(b"a"), None, "and drive out the short one that they replace");
}

#[test]
fn what_is_kept_twice_is_replaced_once_and_for_all() {
    // Room for one and a half in a generation: the second drives the first into the older one.
    let value = |length: usize| Some(vec![1; length].into());
    let bytes = (ENTRY_BYTES + 1000) * 3 / 2 * 2 * SHARDS;
    let cache = Cache::new(bytes as u64);
    cache.keep(b"a", &value(1000), || true);
    cache.keep(b"a", &value(1000), || true);
    cache.replace(b"a", &value(VALUE_BYTES + 1));
    assert_eq!(cache.get(b"a"), None);
}

#[test]
fn no_more_is_kept_than_there_is_memory_for() {
    let cache = Cache::new(BYTES);
    let key = |number: u32| number.to_be_bytes();
    let all = 0..20_000;
    for number in all.clone() {
        cache.keep(&key(number), &found("value"), || true);
        // Read again and again, and so never among what is forgotten.
        assert_eq!(cache.get(&key(0)), Some(found("value")), "after {number}");
    }
    // Counting reads, which may forget more; it is at most what was there.
    let bytes = all.filter(|number| cache.get(&key(*number)).is_some()).count() * ENTRY_BYTES;
    assert!(bytes > BYTES as usize / 4, "only {bytes} bytes of {BYTES}");
    assert!(bytes <= BYTES as usize, "{bytes} bytes of {BYTES}");
}

/// Makes a cache with room for so many entries, of one kind, in each generation of a shard, and
/// returns it with keys that are all in one shard, and a value for them.
fn with_room_for(entries: usize) -> (Cache, impl Iterator<Item = [u8; 4]>, Found) {
    let value = found("a value");
    let bytes = ENTRY_BYTES + 4 + "a value".len();
    let cache = Cache::new((entries * bytes * 2 * SHARDS) as u64);
    let hashes = cache.hashes.clone();
    let shard_of = move |key: &[u8]| (hashes.hash_one(key) >> 32) as usize % SHARDS;
    let keys = (0_u32..).map(u32::to_be_bytes).filter(move |key| shard_of(key) == 0);
    (cache, keys, value)
}

#[test]
fn an_entry_takes_its_key_and_its_value_and_no_more() {
    let (cache, mut keys, value) = with_room_for(1);
    let (fits, too_long) = (keys.next().unwrap(), keys.next().unwrap());
    cache.keep(&fits, &value, || true);
    cache.keep(&too_long, &found("a value."), || true);
    assert_eq!(cache.get(&fits), Some(value));
    assert_eq!(cache.get(&too_long), None);
}

#[test]
fn a_generation_is_full_when_no_more_fits() {
    let (cache, keys, value) = with_room_for(2);
    let keys: Vec<_> = keys.take(6).collect();
    keys[..2].iter().for_each(|key| cache.keep(key, &value, || true));
    cache.replace(&keys[0], &value);
    for key in &keys[2..4] {
        cache.keep(key, &value, || true);
    }
    for key in &keys[2..4] {
        assert_eq!(cache.get(key), Some(value.clone()), "of the younger generation");
    }
    // The younger one is full, so that the older one is forgotten with the next.
    cache.keep(&keys[4], &value, || true);
    let left = |keys: &[[u8; 4]]| keys.iter().filter(|key| cache.get(&key[..]).is_some()).count();
    assert_eq!((left(&keys[2..5]), left(&keys[..2])), (3, 0));
}

#[test]
fn what_is_kept_again_takes_its_room_once() {
    let (cache, keys, value) = with_room_for(2);
    let keys: Vec<_> = keys.take(4).collect();
    cache.keep(&keys[0], &value, || true);
    keys.iter().for_each(|key| cache.keep(key, &value, || true));
    assert_eq!(cache.get(&keys[0]), Some(value), "only one generation came after its own");
}

#[test]
fn what_is_replaced_takes_its_room_still() {
    let (cache, keys, value) = with_room_for(4);
    let keys: Vec<_> = keys.take(9).collect();
    keys[..4].iter().for_each(|key| cache.keep(key, &value, || true));
    cache.replace(&keys[0], &value);
    keys[4..].iter().for_each(|key| cache.keep(key, &value, || true));
    assert_eq!(cache.get(&keys[0]), None, "two generations came after its own");
    assert_eq!(cache.get(&keys[8]), Some(value));
}

#[test]
fn without_memory_nothing_is_kept() {
    let cache = Cache::new(0);
    cache.keep(b"a", &found("1"), || true);
    assert_eq!(cache.get(b"a"), None);
}
