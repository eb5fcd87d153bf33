//! The same in a store of a thousand requests and of a million: what an operation costs, memory,
//! room on the disk, and how long it takes to open, after a clean stop and after a kill, until the
//! first request is claimed.
//!
//! The store grows in steps of ten. Each part runs in a process of its own (`child.rs`), so that its
//! memory is its own, and so that it can be killed.

use quixos_bench::{CLAIM_AFTER_KILL, MEMORY_AFTER_KILL, Quantity, Scenario, Unit};

use super::{as_value, cost, plain};
use crate::child::{Grown, Opened, grow, kill_under_load, open};
use crate::driver::{Bench, say};
use crate::failure::Failure;
use crate::process;

/// How many requests the smallest store has.
const SMALLEST: u64 = 1_000;

pub(super) async fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let folder = bench.scratch()?;
    let store = folder.path();
    let largest = bench.arguments.scale();
    let probes = bench.arguments.either(20, 150);
    let steps = std::iter::successors(Some(SMALLEST), |size| Some(size * 10));
    for size in steps.take_while(|size| *size < largest).chain([largest]) {
        say(&format!("  {size} requests"));
        let grown = grow(store, size, probes).await?;
        add_grown(bench, size, &grown);
        let bytes = as_value(process::on_disk(store)?) / as_value(grown.requests);
        add(bench, "room on the disk, a request", Unit::Bytes, size, bytes);
        let opened = open(store).await?;
        add(
            bench,
            "open after a clean stop, to the first claim",
            Unit::Seconds,
            size,
            opened.claimed,
        );
        add(
            bench,
            "memory for that, after a clean stop",
            Unit::Bytes,
            size,
            as_value(opened.memory),
        );
        kill_under_load(store).await?;
        let Opened { opened, claimed, memory } = open(store).await?;
        add(bench, "open after a kill, the store alone", Unit::Seconds, size, opened);
        add(bench, CLAIM_AFTER_KILL, Unit::Seconds, size, claimed);
        add(bench, MEMORY_AFTER_KILL, Unit::Bytes, size, as_value(memory));
    }
    Ok(())
}

fn add_grown(bench: &mut Bench<'_>, size: u64, grown: &Grown) {
    for (operation, micros) in &grown.costs {
        let quantity: Quantity = cost(Scenario::Scale, operation);
        bench.report.add_figure(quantity, size, *micros);
    }
    let lives = "lives of requests, durable, 64 callers";
    add(bench, lives, Unit::PerSecond, size, grown.lives_per_second);
    add(bench, "p99 of those", Unit::Micros, size, grown.lives_p99);
    add(bench, "greatest memory while it grows", Unit::Bytes, size, as_value(grown.memory));
}

fn add(bench: &mut Bench<'_>, what: &str, unit: Unit, size: u64, value: f64) {
    bench.report.add_figure(plain(Scenario::Scale, what, unit), size, value);
}
