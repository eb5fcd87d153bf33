//! What a disk may hold after the power is cut, and what a store then says.
//!
//! A store is photographed again and again while callers work on it: its files as they are, and how
//! far the runtime had told that it is durable. From each photograph and the next, images are made
//! of what a disk may hold in between: what was there at the first for sure, since it was synced,
//! and of what was written after it nothing, a beginning, any sectors, a torn sector, or zeros where
//! the file has grown (`disk/image.rs`). Each image must open, with every acknowledged call, and
//! hold exactly what the model holds at some commit from there on.
//!
//! Of a disk that loses what it said was synced no more can be asked than this: the store says
//! `corrupt`, or holds exactly what it held at some earlier commit.
//!
//! That what is told is synced before is seen from outside, in a trace of the system calls
//! (`disk/trace.rs`).

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../package/tests/model/answer.rs"]
mod answer;
mod disk;
#[allow(dead_code, reason = "what is not compared here, the package's own test compares")]
#[path = "../package/tests/model/plain/mod.rs"]
mod plain;
mod replay;
#[path = "../package/tests/model/step.rs"]
mod step;
#[path = "../package/tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use quixos_runtime::store::{OpenError, SledOptions, SledStore};
use quixos_runtime::{CallError, blocking};

use crate::disk::{Cut, Image, Large, Recorded, Shot, Trace, record};
use crate::replay::{Observed, Random, lay_ground, seeded, setting};
use crate::support::World;

/// Set for the process whose system calls are traced: the store's folder.
const TRACED: &str = "QUIXOS_POWER_CHILD";

fn open(folder: &Path) -> Result<World, OpenError> {
    let options = SledOptions { free_space_floor: 0, ..SledOptions::default() };
    SledStore::open(folder, options).map(|store| World::over(Arc::new(store)))
}

/// What an image turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Found {
    /// Exactly what was held at a commit.
    Whole(u64),
    Corrupt,
}

/// Opens an image and holds it to the states that there were.
async fn look(folder: &Path, recorded: &Recorded) -> Found {
    let world = match open(folder) {
        Ok(world) => world,
        Err(OpenError::Corrupt { .. }) => return Found::Corrupt,
        Err(error) => panic!("{error}"),
    };
    let read = world.runtime.read(|it| Ok((it.commit(), Observed::read(it)?))).await;
    let report = world.runtime.verify().await;
    drop(world.close());
    let (Ok((commit, observed)), Ok(report)) = (read.clone(), report.clone()) else {
        let is_corrupt = |error: &CallError| error.code() == "corrupt";
        assert!(read.as_ref().err().is_none_or(is_corrupt), "{read:?}");
        assert!(report.as_ref().err().is_none_or(is_corrupt), "{report:?}");
        return Found::Corrupt;
    };
    assert!(report.is_clean(), "{:#?}", report.findings);
    // Before the ground was laid there is no model to ask.
    if let Some(place) = commit.checked_sub(recorded.ground) {
        let expected = &recorded.states[usize::try_from(place).unwrap()];
        observed.assert_is(expected, &format!("at commit {commit}"));
    }
    Found::Whole(commit)
}

#[test]
fn what_was_acknowledged_outlives_power_cuts() {
    let seed = seeded("power", 1);
    let images = setting("QUIXOS_IMAGES", 90);
    let recorded = record(seed);
    let mut random = Random::new(seed);
    let mut found: BTreeMap<(Cut, &str), u64> = BTreeMap::new();
    for number in 0..images {
        let at = random.index(recorded.shots.len() - 1);
        let (last, next) = (&recorded.shots[at], &recorded.shots[at + 1]);
        let cut = Cut::ALL[usize::try_from(number).unwrap() % Cut::ALL.len()];
        let image = Image::between(last, next, cut, &mut random);
        let folder = image.lay_down();
        let what = blocking(look(folder.path(), &recorded));
        let is_more = matches!(what, Found::Whole(commit) if commit > last.durable);
        match what {
            Found::Whole(commit) => {
                assert!(commit >= last.durable, "image {number}, {cut:?}: {commit} < {last:?}");
            }
            Found::Corrupt => panic!("image {number}, {cut:?}, of {last:?}: corrupt"),
        }
        let word = if is_more { "with more" } else { "as synced" };
        *found.entry((cut, word)).or_default() += 1;
    }
    println!("{images} images of {} photographs: {found:?}", recorded.shots.len());
}

/// A process is killed with something unsynced in its files, the next finds it there, and the power
/// goes while that one opens. (That it syncs what it finds before it writes, the trace shows.)
#[test]
fn a_power_cut_while_a_killed_store_opens_loses_nothing() {
    let seed = seeded("power", 1);
    let recorded = record(seed);
    let mut random = Random::new(seed);
    for number in 0..setting("QUIXOS_IMAGES", 90) / 6 {
        let killed = &recorded.shots[random.index(recorded.shots.len())];
        let folder = killed.lay_down();
        drop(open(folder.path()).unwrap().close());
        let opened = Shot::take(folder.path(), killed.durable);
        let cut = Cut::ALL[usize::try_from(number).unwrap() % Cut::ALL.len()];
        let folder = Image::while_opening(killed, &opened, cut, &mut random).lay_down();
        match blocking(look(folder.path(), &recorded)) {
            Found::Whole(commit) => assert!(commit >= killed.durable, "{commit} of {killed:?}"),
            Found::Corrupt => panic!("image {number}, {cut:?}, of {killed:?}: corrupt"),
        }
    }
}

/// A disk that lies: what was synced is cut off, zeroed or spoilt. A second after the last answer
/// the store knows what it must have, and says so when it has not.
#[test]
fn a_disk_that_lies_is_found_out_or_shows_an_earlier_state() {
    let seed = seeded("power", 1);
    let recorded = record(seed);
    let mut random = Random::new(seed);
    let mut found: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for number in 0..setting("QUIXOS_IMAGES", 90) / 6 {
        let is_at_work = number % 2 == 0;
        let shot = if is_at_work {
            &recorded.shots[random.index(recorded.shots.len())]
        } else {
            &recorded.at_rest
        };
        let folder = Image::of_a_liar(shot, &mut random).lay_down();
        let word = match blocking(look(folder.path(), &recorded)) {
            Found::Corrupt => "corrupt",
            Found::Whole(commit) if commit >= shot.durable => "everything",
            Found::Whole(commit) => {
                assert!(is_at_work, "{commit} is there, and {} was told", shot.durable);
                "an earlier state"
            }
        };
        *found.entry((if is_at_work { "at work" } else { "at rest" }, word)).or_default() += 1;
    }
    println!("of a disk that lies: {found:?}");
}

/// Batches that fill several segments of sled's log, and some on their way to the disk together.
#[test]
fn what_is_large_is_whole_after_power_cuts() {
    let seed = seeded("power", 1);
    let mut random = Random::new(seed);
    let images = setting("QUIXOS_IMAGES", 90) / 3;
    let mut found: BTreeMap<(Cut, &str), u64> = BTreeMap::new();
    let mut number = 0;
    while number < images {
        let large = Large::record(&mut random);
        for pair in large.shots.windows(2) {
            let (last, next) = (&pair[0], &pair[1]);
            let cut = random.pick(&Cut::ALL);
            let image = Image::between(last, next, cut, &mut random).lay_down();
            let word = match large.look(image.path()) {
                Ok(version) if version >= next.durable => "whole",
                other => panic!("image {number}, {cut:?}, of {last:?}: {other:?}"),
            };
            *found.entry((cut, word)).or_default() += 1;
            number += 1;
        }
    }
    println!("{number} images of large batches: {found:?}");
}

#[test]
fn each_answer_comes_after_the_sync_of_what_was_written() {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        println!("skipped: there is no `strace` here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("trace");
    let traced = Command::new("strace")
        .args([
            "-f",
            "-y",
            "-s",
            "64",
            "-e",
            "trace=write,pwrite64,fsync,fdatasync,ftruncate,fallocate,openat,mkdir,rename",
        ])
        .arg("-o")
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "a_traced_process", "--nocapture", "--test-threads=1"])
        .env(TRACED, folder.path().join("store"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    if !traced.success() && !std::fs::read_to_string(&log).is_ok_and(|log| log.contains("told")) {
        println!("skipped: `strace` may not trace here");
        return;
    }
    let trace = Trace::read(&std::fs::read_to_string(log).unwrap());
    let answers = trace.check(&folder.path().join("store"));
    println!("{answers} answers, each after a sync of all that was written before it");
    assert!(answers > 10);
}

/// Is traced; runs as a test and does nothing when it is not.
#[test]
fn a_traced_process() {
    let Some(folder) = std::env::var_os(TRACED) else { return };
    let folder = Path::new(&folder);
    blocking(async {
        for _ in 0..2 {
            disk::tell("opening");
            let world = open(folder).unwrap();
            disk::tell("open");
            lay_ground(&world).await;
            for _ in 0..10 {
                world.workspace().await;
                disk::tell("told");
            }
            drop(world.close());
        }
    });
}
