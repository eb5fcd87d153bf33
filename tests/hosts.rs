//! Several hosts race for the same requests, by a schedule that a seed repeats.
//!
//! Hosts are state machines: they look for work, claim, write, ask, finish and tell, and take over
//! what another seems to have left. What they send is delayed, lost, sent again; what they are
//! answered too; they crash and come back under other names while what they sent is still on its
//! way; the clock runs; the runtime is closed and opened. After each call that reaches the store:
//!
//! - a call under a generation that is older than a claim is refused, and changes no byte;
//! - generations of a request only grow, each is one attempt's, nothing leaves its end;
//! - each end is made once, and told once.
//!
//! Then everything calms down, and the hosts that are left bring every request to its end within
//! a bounded number of turns; each is on the stream exactly once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "replay/random.rs"]
mod random;
mod simulation;
#[path = "../package/tests/support/mod.rs"]
mod support;

use quixos_runtime::blocking;

use crate::random::{seeded, setting};
use crate::simulation::{Simulation, Totals};

#[test]
fn hosts_that_race_lose_nothing_and_do_nothing_twice() {
    let first = seeded("hosts", 1);
    let trials = setting("QUIXOS_TRIALS", 24);
    let mut totals = Totals::default();
    for seed in first..first + trials {
        println!("seed {seed}");
        blocking(async {
            let mut simulation = Simulation::begin(seed).await;
            simulation.storm().await;
            simulation.calm().await;
            simulation.judge(&mut totals).await;
        });
    }
    println!("{trials} trials: {totals:?}");
    assert!(trials < 10 || totals.happened(), "the storms were too weak: {totals:?}");
}
