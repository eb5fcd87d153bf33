//! What is measured, one file each. Where systems are compared they do so in `comparison.rs`.

mod comparison;
mod crowd;
mod fan_out;
mod life;
mod operations;
mod scale;
mod sessions;
mod stream;
mod values;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quixos_bench::{Durability, Quantity, Role, Scenario, Unit, median};
use quixos_runtime::store::{SledOptions, SledStore};

use crate::driver::Bench;
use crate::failure::Failure;
use crate::systems::Office;
use crate::work::ITEM_BYTES;

/// Measures a scenario.
pub(crate) async fn measure(scenario: Scenario, bench: &mut Bench<'_>) -> Result<(), Failure> {
    match scenario {
        Scenario::Operations => operations::measure(bench).await,
        Scenario::Life => life::measure(bench).await,
        Scenario::Values => values::measure(bench).await,
        Scenario::Crowd => crowd::measure(bench).await,
        Scenario::Stream => stream::measure(bench).await,
        Scenario::FanOut => fan_out::measure(bench).await,
        Scenario::Scale => scale::measure(bench).await,
        Scenario::Sessions => sessions::measure(bench).await,
    }
}

/// How many callers fill a store.
pub(crate) const FILLERS: usize = 64;

/// Opens a runtime over a store in a folder. Its answers are buffered.
pub(crate) async fn open(folder: &Path, requests: usize) -> Result<Office, Failure> {
    let store = Arc::new(SledStore::open(folder.join("store"), SledOptions::default())?);
    Office::open(store, Durability::Buffered, requests, ITEM_BYTES).await
}

/// What an operation costs, in the middle.
fn cost(scenario: Scenario, what: &str) -> Quantity {
    Quantity { scenario, what: what.to_owned(), unit: Unit::Micros, role: Role::Cost }
}

/// Something to be known.
fn plain(scenario: Scenario, what: &str, unit: Unit) -> Quantity {
    Quantity { scenario, what: what.to_owned(), unit, role: Role::Plain }
}

/// Times one thing after the other.
#[derive(Default)]
struct Stopwatch(Vec<Duration>);

impl Stopwatch {
    /// Times something.
    async fn time<T>(&mut self, work: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let done = work.await;
        self.0.push(began.elapsed());
        done
    }

    /// Returns how long it took in the middle, in microseconds.
    fn micros(self) -> f64 {
        median(self.0.iter().map(|time| time.as_secs_f64() * 1e6)).unwrap_or_default()
    }
}

#[expect(clippy::cast_precision_loss, reason = "what is shown has a few digits")]
fn as_value(count: u64) -> f64 {
    count as f64
}
