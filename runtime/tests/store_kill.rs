//! A process under load is killed at any moment, again and again, on the same store.
//!
//! Whatever it had acknowledged is there afterwards, in full, and nothing is there in part: the
//! store is exactly as after the first n batches, and n is no less than what was acknowledged.
//! `QUIXOS_KILLS` says how often; a process is killed while it opens the store as well.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod store_support;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use quixos_runtime::store::{Batch, Durability, Store, Version};
use store_support::{child, child_folder, everything, open};
use tempfile::tempdir;
use ulid::Ulid;

const KEYS: u64 = 60;

type Model = BTreeMap<Bytes, Bytes>;

/// What the batches are made of: many small ones, or fewer with long values among them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    Small,
    Mixed,
}

/// Returns what the n-th batch writes: a few keys of sixty, some deletions, perhaps long values.
fn nth(load: Load, number: Version) -> Batch {
    let mut writes = BTreeMap::new();
    for step in 0..12 {
        let mixed = (number * 31 + step * 7).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let key = Bytes::from(format!("key {:03}", mixed % KEYS));
        let length = match mixed % 16 {
            0 if load == Load::Mixed => 120_000,
            1..4 if load == Load::Mixed => 3_000,
            _ => 20,
        };
        let value = format!("{number:010}").repeat(length / 10);
        writes.insert(key, (!mixed.is_multiple_of(5)).then(|| Bytes::from(value)));
    }
    let transactions = vec![transaction(number)];
    Batch { transactions, writes: writes.into_iter().collect(), ..Batch::default() }
}

fn transaction(number: Version) -> Ulid {
    Ulid::from_parts(number, 0)
}

fn durability(number: Version) -> Durability {
    if number.is_multiple_of(5) { Durability::Buffered } else { Durability::Durable }
}

/// Where the check stands: the store as it must be after some number of batches.
struct Expected {
    load: Load,
    version: Version,
    model: Model,
}

impl Expected {
    fn advance_to(&mut self, version: Version) {
        for number in self.version + 1..=version {
            for (key, value) in nth(self.load, number).writes {
                match value {
                    Some(value) => self.model.insert(key, value),
                    None => self.model.remove(&key),
                };
            }
        }
        self.version = version;
    }
}

#[test]
fn acknowledged_batches_outlive_kills() {
    kill_again_and_again(Load::Mixed, "child_under_mixed_load");
}

#[test]
fn small_acknowledged_batches_outlive_kills() {
    kill_again_and_again(Load::Small, "child_under_small_load");
}

fn kill_again_and_again(load: Load, child: &str) {
    let kills = std::env::var("QUIXOS_KILLS").ok().and_then(|kills| kills.parse().ok());
    let folder = tempdir().unwrap();
    let mut expected = Expected { load, version: 0, model: Model::new() };
    let mut acknowledged = 0;
    for kill in 0..kills.unwrap_or(20u64) {
        // From the middle of opening to some hundred batches later.
        let delay = Duration::from_millis(kill * 53 % 331);
        acknowledged = run_and_kill(child, folder.path(), delay).unwrap_or(acknowledged);
        check(folder.path(), acknowledged, &mut expected);
    }
    assert!(acknowledged > 0, "no process came to write anything");
}

/// Returns the last batch that was acknowledged.
fn run_and_kill(test: &str, folder: &Path, delay: Duration) -> Option<Version> {
    let mut process = child(test, folder).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let killer = thread::spawn(move || {
        thread::sleep(delay);
        process.kill().unwrap();
        process.wait().unwrap();
    });
    let numbers = lines.map_while(Result::ok).filter_map(|line| line.parse().ok());
    let last = numbers.last();
    killer.join().unwrap();
    last
}

fn check(folder: &Path, acknowledged: Version, expected: &mut Expected) {
    let store = open(folder);
    let view = store.view().unwrap();
    let version = view.version();
    assert!(version >= acknowledged, "{acknowledged} acknowledged, {version} there");
    // At least what an earlier check has seen, for that was made durable when the store opened.
    assert!(version >= expected.version);
    expected.advance_to(version);
    assert!(everything(&*view).into_iter().eq(expected.model.clone()), "as after batch {version}");
    for number in [1, version / 2, version].into_iter().filter(|&number| number > 0) {
        let there = (number <= version).then_some(number);
        assert_eq!(store.outcome(transaction(number)), Ok(there));
    }
    assert_eq!(store.outcome(transaction(version + 1)), Ok(None));
}

#[test]
fn child_under_mixed_load() {
    write_until_killed(Load::Mixed);
}

#[test]
fn child_under_small_load() {
    write_until_killed(Load::Small);
}

fn write_until_killed(load: Load) {
    let Some(folder) = child_folder() else { return };
    let store = open(&folder);
    let mut out = std::io::stdout();
    // The harness has printed half a line.
    writeln!(out).unwrap();
    for number in store.view().unwrap().version() + 1.. {
        let durability = durability(number);
        assert_eq!(store.commit(nth(load, number), durability), Ok(number));
        if durability == Durability::Durable {
            writeln!(out, "{number}").unwrap();
            out.flush().unwrap();
        }
    }
}
