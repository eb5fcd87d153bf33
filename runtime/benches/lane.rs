//! What a call costs beside the store that it is written to, in one run over a store in memory:
//! the runtime's own work, without a disk's.
//!
//! `cargo bench -p quixos-runtime --bench lane`. Each row is the median of several rounds, a call.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]
#![allow(clippy::unwrap_used, reason = "a benchmark stops at whatever goes wrong")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use quixos_runtime::store::{Batch, Durability, MemoryStore, Store};
use quixos_runtime::{ObjectRef, blocking};
use support::{NOTING, NoteData, SHELVING, Shelf, Step, nested, noting, shelving, step};
use tokio::task::JoinSet;

const ROUNDS: usize = 7;
const CALLS: usize = 2000;
/// Callers at once, where there are many.
const CALLERS: usize = 64;

fn main() {
    let runtime = support::in_memory();
    let shelf = Shelf::new(&runtime);
    let note = shelf.create("n");

    let batch = measure(CALLS, store_alone(4));
    row("the store alone: four keys, one batch a call", batch, batch);
    let waiting = measure(CALLS, || {
        for at in 0..CALLS {
            shelf.play(&[step("say", if at % 2 == 0 { "a" } else { "b" }, None)]).unwrap();
        }
    });
    row("write a state, wait for the answer", waiting, batch);
    let many = measure(CALLS, || many_callers(&shelf, step("say", "many", None)));
    row("write a state, many callers", many, batch);
    let many = measure(CALLS, || many_callers(&shelf, step("key", "k", Some(note))));
    row("nested get and write that moves an inverse, many callers", many, batch);
    let many = measure(CALLS, || many_callers(&shelf, step("create", "new", Some(note))));
    row("create an object with state, edge, inverse; many callers", many, batch);

    // Within one call, so that what is left is dispatch, checks and overlay.
    let inner = nested("nest", &[step("say", "deep", None)]);
    let steps: Vec<Step> = (0..1000).map(|_| inner.clone()).collect();
    let call = measure(1000, || drop(shelf.play(&steps).unwrap()));
    row("a nested call that writes a state", call, batch);
    let steps: Vec<Step> = (0..1000).map(|_| step("mark", "", Some(note))).collect();
    let call = measure(1000, || drop(shelf.play(&steps).unwrap()));
    row("a connect that changes nothing", call, batch);

    let get = measure(CALLS, || {
        for _ in 0..CALLS {
            let get = shelf.session.member_get::<NoteData>(note, NOTING, noting::DATA);
            blocking(get).unwrap();
        }
    });
    row("get a state beside the lane", get, batch);
    let query = measure(CALLS, || {
        for _ in 0..CALLS {
            let call =
                shelf.session.member_call::<_, String>(shelf.shelf, SHELVING, shelving::PEEK, &());
            blocking(call).unwrap();
        }
    });
    row("run a query beside the lane", query, batch);
}

fn row(what: &str, time: Duration, unit: Duration) {
    let ratio = time.as_secs_f64() / unit.as_secs_f64();
    println!("{what:<60} {:>9.2} µs {ratio:>7.1} ×", time.as_secs_f64() * 1e6);
}

/// Returns the median time of one of the `count` calls that a round makes.
fn measure(count: usize, mut round: impl FnMut()) -> Duration {
    round();
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed() / u32::try_from(count).unwrap()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn store_alone(keys: usize) -> impl FnMut() {
    let store = MemoryStore::new();
    let value = Bytes::from_static(&[7; 100]);
    let mut next = 0_u64;
    move || {
        for _ in 0..CALLS {
            let read_version = store.view().unwrap().version();
            let mut writes = Vec::new();
            for _ in 0..keys {
                next += 1;
                let mut key = vec![1; 40];
                key.extend(next.to_be_bytes());
                writes.push((Bytes::from(key), Some(value.clone())));
            }
            let batch = Batch { read_version, writes, ..Batch::default() };
            store.commit(batch, Durability::Durable).unwrap();
        }
    }
}

fn many_callers(shelf: &Shelf, step: Step) {
    let executor = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let steps = Arc::new(vec![step]);
    executor.block_on(async {
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let (shelf, steps) = (shelf.clone(), Arc::clone(&steps));
            callers.spawn(async move {
                for _ in 0..CALLS / CALLERS {
                    let call = shelf.session.member_call::<_, Vec<ObjectRef>>(
                        shelf.shelf,
                        SHELVING,
                        shelving::PLAY,
                        steps.as_ref(),
                    );
                    call.await.unwrap();
                }
            });
        }
        while let Some(caller) = callers.join_next().await {
            caller.unwrap();
        }
    });
}
