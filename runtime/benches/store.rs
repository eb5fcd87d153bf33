//! What the store costs beside sled alone and beside a plain file, as ratios measured in one run.
//!
//! Each row writes the same groups three ways, in turns, so that a slow moment of the disk strikes
//! all alike: appended to a file with `fdatasync`; as a batch of sled's with `flush` and
//! `fdatasync`; and as a batch of the store's. The medians are compared. Then the store's reads are
//! compared with sled's.
//!
//! `cargo bench -p quixos-runtime --bench store`; `QUIXOS_BENCH_FOLDER` names the disk.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]
#![allow(clippy::unwrap_used, reason = "a benchmark stops at whatever goes wrong")]

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::ops::Bound;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use quixos_runtime::store::{
    Batch, Direction, Durability, SledOptions, SledStore, Store, TransactionId,
};

const VALUE_BYTES: usize = 160;
/// Keys written over and over, in the beginning once each.
const KEYS: u64 = 200_000;

fn main() {
    let folder = match std::env::var_os("QUIXOS_BENCH_FOLDER") {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    }
    .unwrap();
    let options = SledOptions { free_space_floor: 0, ..SledOptions::default() };
    let store = SledStore::open(folder.path().join("store"), options).unwrap();
    let sled = RawSled::open(&folder.path().join("sled"));
    let mut file = File::create(folder.path().join("file")).unwrap();
    let mut keys = Keys(1);

    for start in (0..KEYS).step_by(2_000) {
        let writes: Vec<_> = (start..start + 2_000).map(|n| (key(n), Some(value(n)))).collect();
        sled.write(&writes);
        let batch = Batch { writes, ..Batch::default() };
        store.commit(batch, Durability::Durable).unwrap();
    }

    println!("a durable group of      file      sled     store   store/file  store/sled");
    for size in [1, 10, 100, 1_000] {
        let mut times = [const { Vec::new() }; 3];
        for round in 0..200 {
            let writes = keys.writes(size);
            times[0].push(time(|| append(&mut file, &writes)));
            times[1].push(time(|| sled.write(&writes)));
            // What the runtime asks for: an outcome a transaction, of some ten writes each.
            let transactions = (0..size.div_ceil(10) as u64)
                .map(|n| TransactionId::from_parts(round, (size as u128) << 32 | u128::from(n)))
                .collect();
            let batch = Batch { writes, transactions, ..Batch::default() };
            times[2].push(time(|| store.commit(batch, Durability::Durable).unwrap()));
        }
        let [file, sled, store] = times.map(median);
        println!(
            "{size:>5} writes       {:>9}  {:>9}  {:>9}   {:>6.2}      {:>6.2}",
            micros(file),
            micros(sled),
            micros(store),
            store / file,
            store / sled
        );
    }

    println!("\nreading                          sled     store   store/sled");
    let view = store.view().unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        let keys: Vec<_> = (0..1_000).map(|_| key(keys.next())).collect();
        theirs.push(time(|| keys.iter().for_each(|key| drop(black_box(sled.db.get(key))))) / 1e3);
        ours.push(time(|| keys.iter().for_each(|key| drop(black_box(view.get(key))))) / 1e3);
    }
    report("a value", median(theirs), median(ours));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..500 {
        let start = key(keys.next());
        theirs.push(time(|| sled.db.range(&start[..]..).take(100).count()));
        let page =
            || view.range(Bound::Included(&start), Bound::Unbounded, Direction::Forward, 100);
        ours.push(time(page));
    }
    report("a page of 100", median(theirs), median(ours));
}

fn report(what: &str, sled: f64, store: f64) {
    println!("{what:<26} {:>10} {:>9}   {:>6.2}", micros(sled), micros(store), store / sled);
}

/// Returns the seconds that something takes.
fn time<T>(run: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    let _ = black_box(run());
    start.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn micros(seconds: f64) -> String {
    format!("{:.1?}", Duration::from_secs_f64(seconds))
}

type Writes = Vec<(Bytes, Option<Bytes>)>;

/// Draws keys; the same in every run.
struct Keys(u64);

impl Keys {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % KEYS
    }

    fn writes(&mut self, count: usize) -> Writes {
        let mut writes: Writes = Vec::with_capacity(count);
        writes.extend((0..count).map(|_| self.next()).map(|n| (key(n), Some(value(n)))));
        writes.sort();
        writes.dedup_by(|a, b| a.0 == b.0);
        writes
    }
}

fn key(number: u64) -> Bytes {
    Bytes::from(format!("\x07object {number:016x}"))
}

fn value(number: u64) -> Bytes {
    Bytes::from(vec![number as u8; VALUE_BYTES])
}

fn append(file: &mut File, writes: &Writes) {
    let mut bytes = Vec::new();
    for (key, value) in writes {
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(value.as_deref().unwrap_or_default());
    }
    file.write_all(&bytes).unwrap();
    file.sync_data().unwrap();
}

/// sled, used as the store uses it, with nothing around it.
struct RawSled {
    db: sled::Db,
    log: File,
}

impl RawSled {
    fn open(path: &Path) -> RawSled {
        let config = sled::Config::new().path(path).cache_capacity(256 << 20);
        let db = config.segment_size(8 << 20).open().unwrap();
        let log = OpenOptions::new().write(true).open(path.join("db")).unwrap();
        RawSled { db, log }
    }

    fn write(&self, writes: &Writes) {
        let mut batch = sled::Batch::default();
        for (key, value) in writes {
            batch.insert(&key[..], value.as_deref().unwrap_or_default());
        }
        self.db.apply_batch(batch).unwrap();
        self.db.flush().unwrap();
        self.log.sync_data().unwrap();
    }
}
