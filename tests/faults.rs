//! A store that fails: on the n-th read, write, sync or opening, for every n that there is.
//!
//! A caller asks for all that one asks of a store (`failing/ask.rs`). It is run once to count what the
//! store does of each kind; then again for every n and each way to fail, with that one failing, and
//! with all failing from there on. Nothing panics or hangs. Each thing that is asked is answered, or
//! is refused with the code that is meant for it; who is refused twice is told that the store takes
//! no more writes. On a good disk the store then opens, `verify` finds nothing, and it has what was
//! answered, and of the rest no more than what was asked last, if that was left open. `corrupt` is
//! said where the store says it, and never because a call failed.
//!
//! By default some of every n are tried; `QUIXOS_FAULTS` says how many, or `all`.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[allow(dead_code, reason = "this test asks for states, not for answers")]
#[path = "../package/tests/model/answer.rs"]
mod answer;
mod failing;
#[allow(dead_code, reason = "what is not compared here, the package's own test compares")]
#[path = "../package/tests/model/plain/mod.rs"]
mod plain;
mod replay;
#[allow(dead_code, reason = "this test has steps of its own")]
#[path = "../package/tests/model/step.rs"]
mod step;
#[path = "../package/tests/support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use quixos_runtime::store::{
    CommitError, Disk, MemoryStore, OpenError, SledOptions, SledStore, Store, StoreError,
};

use crate::failing::{
    Ask, DiskCall, DiskFault, FailingDisk, FailingStore, Heard, How, Injected, Limited, Mishap,
    Reference, Refusal, SYSTEM_CALLS, StoreCall, StoreFault, Traced, can_trace, say, within,
};

/// Set for the process whose system calls fail: the store's folder.
const CHILD: &str = "QUIXOS_FAULTS_CHILD";

/// Set for such a process, if sled is to keep nothing in memory: how many of [`Ask::ALL`] it asks.
const FORGETFUL: &str = "QUIXOS_FAULTS_FORGETFUL";

fn options() -> SledOptions {
    SledOptions { free_space_floor: 0, ..SledOptions::default() }
}

fn sled(folder: &Path) -> Result<Arc<dyn Store>, OpenError> {
    Ok(Arc::new(SledStore::open(folder, options())?))
}

/// Returns the numbers up to a count, or so many of them: the first, the last, and some between.
/// `QUIXOS_FAULTS` says how many, or `all`.
fn some_of(count: u64, usual: u64) -> Vec<u64> {
    let most = match std::env::var("QUIXOS_FAULTS") {
        Ok(all) if all == "all" => count,
        Ok(most) => most.parse().unwrap(),
        Err(_) => usual,
    };
    if count <= most {
        return (1..=count).collect();
    }
    (0..most).map(|step| 1 + step * (count - 1) / (most - 1).max(1)).collect()
}

/// What became of runs.
#[derive(Default, Debug)]
struct Totals {
    runs: u64,
    /// Runs in which something was refused.
    met: u64,
    /// Runs that came to their end all the same.
    completed: u64,
    /// Runs after which the store took no more writes.
    stopped: u64,
}

impl Totals {
    fn add(&mut self, heard: &Heard) {
        self.runs += 1;
        self.met += u64::from(!heard.refusals.is_empty());
        self.completed += u64::from(heard.is_complete());
        self.stopped += u64::from(heard.stopped);
    }
}

/// Returns the codes that a failure of the store's trait may be answered with.
fn codes(how: &How) -> &'static [&'static str] {
    match how {
        How::Read(StoreError::Corrupt(_)) => &["corrupt"],
        // A reader takes a newer version; the lane has the newest, and says that it is gone.
        How::Read(StoreError::Expired) => &["unavailable", "storage"],
        How::Read(StoreError::Io(_) | StoreError::Closed(_)) | How::Written(_) | How::InDoubt => {
            &["storage"]
        }
    }
}

/// Tells whether a failure leaves it open what the store holds, so that it must take no more.
fn must_stop(how: &How) -> bool {
    matches!(how, How::InDoubt | How::Written(CommitError::Unknown(_) | CommitError::Poisoned(_)))
}

#[test]
fn every_call_of_the_stores_trait_may_fail() {
    let reference = Arc::new(Reference::record());
    let counted = Arc::new(MemoryStore::new());
    let counting = Arc::new(FailingStore::over(counted, None));
    let same = Arc::clone(&counting);
    let heard = Heard::from(&move || Ok(Arc::clone(&same) as Arc<dyn Store>));
    assert!(heard.is_complete() && heard.refusals.is_empty(), "{heard:#?}");
    for call in StoreCall::ALL {
        let mut totals = Totals::default();
        for nth in some_of(counting.made(call), 4) {
            for (how, lasts) in
                call.ways().into_iter().flat_map(|it| [(it.clone(), false), (it, true)])
            {
                let fault = StoreFault { call, nth, lasts, how };
                let reference = Arc::clone(&reference);
                let heard =
                    within(format!("{fault:?}"), move || a_failing_store(&fault, &reference));
                totals.add(&heard);
            }
        }
        println!("{call:?}, {} calls: {totals:?}", counting.made(call));
    }
}

fn a_failing_store(fault: &StoreFault, reference: &Reference) -> Heard {
    let inner = Arc::new(MemoryStore::new());
    let store = Arc::new(FailingStore::over(Arc::clone(&inner), Some(fault.clone())));
    let heard = Heard::from(&|| Ok(Arc::clone(&store) as Arc<dyn Store>));
    heard.assert_clean(codes(&fault.how));
    let is_met = store.made(fault.call) >= fault.nth;
    let is_opening = heard.refusals.first().is_some_and(Heard::is_of_opening);
    if is_met && must_stop(&fault.how) && !is_opening {
        assert!(heard.stopped, "it goes on after {fault:?}: {heard:#?}");
    } else if !fault.lasts {
        // The lane cannot do without a view; of all else it is enough to ask again.
        let is_over = heard.is_complete() || fault.call == StoreCall::View && heard.stopped;
        assert!(is_over, "it is not enough to ask again after {fault:?}: {heard:#?}");
    }
    reference.check(&heard, &|| Ok(Arc::clone(&inner) as Arc<dyn Store>));
    heard
}

#[test]
fn every_operation_of_the_stores_disk_may_fail() {
    let reference = Arc::new(Reference::record());
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(FailingDisk::new(None));
    let heard = Heard::from(&|| on(folder.path(), &disk));
    assert!(heard.is_complete() && heard.refusals.is_empty(), "{heard:#?}");
    for call in DiskCall::ALL {
        let mut totals = Totals::default();
        for nth in some_of(disk.made(call), 4) {
            for (how, lasts) in call.ways().iter().flat_map(|it| [(*it, false), (*it, true)]) {
                let fault = DiskFault { call, nth, lasts, how };
                let reference = Arc::clone(&reference);
                let heard = within(format!("{fault:?}"), move || a_failing_disk(fault, &reference));
                totals.add(&heard);
            }
        }
        println!("{call:?}, {} operations: {totals:?}", disk.made(call));
    }
}

fn on(folder: &Path, disk: &Arc<FailingDisk>) -> Result<Arc<dyn Store>, OpenError> {
    let options = SledOptions { free_space_floor: 1000, ..options() };
    let disk = Arc::clone(disk) as Arc<dyn Disk>;
    Ok(Arc::new(SledStore::open_on(folder.join("store"), options, disk)?))
}

fn a_failing_disk(fault: DiskFault, reference: &Reference) -> Heard {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(FailingDisk::new(Some(fault)));
    let heard = Heard::from(&|| on(folder.path(), &disk));
    heard.assert_clean(&["storage", "io"]);
    if !heard.is_complete() {
        // A disk that is full is not one that failed: with room, it takes writes again.
        assert!(heard.stopped || fault.how == Mishap::Full, "{heard:#?}");
    }
    reference.check(&heard, &|| sled(&folder.path().join("store")));
    heard
}

#[test]
fn every_system_call_on_the_stores_files_may_fail() {
    if !can_trace() {
        println!("skipped: there is no `strace` here, or it may not trace");
        return;
    }
    let reference = Reference::record();
    let counted = tempfile::tempdir().unwrap();
    let folder = counted.path().join("store");
    let traced = Traced::count(&child(&folder), &folder);
    for (call, errors) in SYSTEM_CALLS {
        let Some(&most) = traced.most.get(call) else { continue };
        let mut totals = Totals::default();
        for nth in some_of(most, 2) {
            for (error, lasts) in errors.iter().flat_map(|it| [(*it, false), (*it, true)]) {
                let fault = Injected { call, error, nth, lasts };
                let whole = tempfile::tempdir().unwrap();
                let folder = whole.path().join("store");
                let heard = traced.meet(&fault, &child(&folder), &folder);
                check_process(heard, &format!("{fault:?}"), &folder, &reference, &mut totals);
            }
        }
        println!("{call}, at most {most} a thread: {totals:?}");
    }
}

/// A bad stretch of the disk: whoever reads sled's log is refused. sled alone would take the log for
/// one that ends there, and clear it.
#[test]
fn a_log_that_cannot_be_read_is_left_as_it_is() {
    if !can_trace() {
        println!("skipped: there is no `strace` here, or it may not trace");
        return;
    }
    let reference = Reference::record();
    let counted = tempfile::tempdir().unwrap();
    let folder = counted.path().join("store");
    let traced = Traced::count(&child(&folder), &folder).of("data/db");
    let fault = Injected { call: "read,pread64", error: "EIO", nth: 1, lasts: true };
    let whole = tempfile::tempdir().unwrap();
    let folder = whole.path().join("store");
    let heard = traced.meet(&fault, &child(&folder), &folder);
    let mut totals = Totals::default();
    check_process(heard, &format!("{fault:?}"), &folder, &reference, &mut totals);
    assert_eq!((totals.met, totals.completed), (1, 0), "the log was read");
}

/// sled reads what it does not keep in memory; a read that fails is no damage. (What it reads while it
/// opens is another matter, see `a_log_that_cannot_be_read_is_left_as_it_is`.)
#[test]
fn every_read_of_a_page_may_fail() {
    if !can_trace() {
        println!("skipped: there is no `strace` here, or it may not trace");
        return;
    }
    let reference = Reference::record();
    let there = Ask::before_again();
    let made = || {
        let whole = tempfile::tempdir().unwrap();
        let folder = whole.path().join("store");
        let heard = Heard::of(there, &|| sled(&folder));
        assert_eq!(heard.done, there.len(), "{heard:#?}");
        (whole, folder)
    };
    let forgetful = |folder: &Path, asks: usize| {
        let mut child = child(folder);
        child.env(FORGETFUL, asks.to_string());
        child
    };
    let count = |asks: usize| {
        let (_whole, folder) = made();
        Traced::count(&forgetful(&folder, asks), &folder).of("data/db")
    };
    let (opening, traced) = (count(1).most["pread64"], count(there.len()));
    let most = traced.most["pread64"];
    let mut totals = Totals::default();
    for nth in some_of(most - opening, 4) {
        for lasts in [false, true] {
            let (_whole, folder) = made();
            let fault = Injected { call: "pread64", error: "EIO", nth: opening + nth, lasts };
            let heard = traced.meet(&fault, &forgetful(&folder, there.len()), &folder);
            if heard.as_ref().is_some_and(|it| it.refusals.iter().any(Heard::is_of_opening)) {
                // This time sled read more while it opened.
                continue;
            }
            // All of it was there before, and is asked again.
            let heard = heard.map(|heard| Heard { done: there.len(), ..heard });
            check_process(heard, &format!("{fault:?}"), &folder, &reference, &mut totals);
        }
    }
    println!("pread64, at most {most} a thread, {opening} of them while opening: {totals:?}");
}

/// As many blocks of 512 bytes as sled writes at once, at the least.
const STEP: u64 = 8;

/// So many of these, and all that is asked before the store is opened again finds room.
const STEPS: u64 = 100;

#[test]
fn a_disk_may_be_full_at_any_length_of_a_file() {
    let reference = Reference::record();
    let mut totals = Totals::default();
    for steps in some_of(STEPS, 6) {
        let whole = tempfile::tempdir().unwrap();
        let folder = whole.path().join("store");
        // Not at the end of what sled writes: the last write is cut short.
        let blocks = steps * STEP - 3;
        let heard = Limited(blocks).meet(&child(&folder));
        check_process(heard, &format!("{blocks} blocks"), &folder, &reference, &mut totals);
    }
    println!("files of at most 5 to {} blocks: {totals:?}", STEPS * STEP - 3);
}

/// Holds what a process heard, and left, to what must be.
fn check_process(
    heard: Option<Heard>,
    fault: &str,
    folder: &Path,
    reference: &Reference,
    totals: &mut Totals,
) {
    let heard = heard.unwrap_or_else(|| panic!("the process ended early: {fault}"));
    heard.assert_clean(&["storage", "io"]);
    // A read that fails stops nothing: it is said each time that it does.
    let is_read = |it: &Refusal| it.message.contains("cannot read the store");
    let is_over = heard.is_complete() || heard.stopped;
    assert!(
        is_over || heard.refusals.iter().all(is_read),
        "it does not say that it stopped: {heard:#?}"
    );
    reference.check(&heard, &|| sled(folder));
    totals.add(&heard);
}

fn child(folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_process_that_meets_faults", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, folder);
    command
}

/// Meets faults; runs as a test and does nothing where there are none.
#[test]
fn a_process_that_meets_faults() {
    let Some(folder) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let Ok(asks) = std::env::var(FORGETFUL) else {
        return say(&Heard::from(&|| sled(&folder)));
    };
    let options = SledOptions { cache_bytes: 0, recent_bytes: 0, ..options() };
    let opening = || Ok(Arc::new(SledStore::open(&folder, options.clone())?) as Arc<dyn Store>);
    say(&Heard::of(&Ask::ALL[..asks.parse().unwrap()], &opening));
}
