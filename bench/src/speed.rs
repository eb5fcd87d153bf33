//! How fast something was in one round.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How fast something was in one round.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Speed {
    /// How often it was done.
    pub operations: u64,
    /// How long all of it took, from the first call to the last answer.
    pub seconds: f64,
    /// How long one took, in the middle, in microseconds.
    pub p50_micros: f64,
    /// How long the slowest hundredth took at least.
    pub p99_micros: f64,
    /// What one took of the processors, all threads together, the system's work for them included.
    pub cpu_micros: f64,
}

impl Speed {
    /// Sums up how long each operation took, and all of them together, on the clock and of the
    /// processors.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
    pub fn new(mut each: Vec<Duration>, all: Duration, cpu: Duration) -> Self {
        each.sort_unstable();
        let operations = each.len() as u64;
        let micros = |percent| percentile(&each, percent).as_secs_f64() * 1e6;
        Self {
            operations,
            seconds: all.as_secs_f64(),
            p50_micros: micros(50),
            p99_micros: micros(99),
            cpu_micros: cpu.as_secs_f64() * 1e6 / (operations.max(1) as f64),
        }
    }

    /// Returns how many were done in a second.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
    pub fn per_second(&self) -> f64 {
        self.operations as f64 / self.seconds
    }
}

/// Returns the least of the sorted values that so many hundredths do not exceed; zero of none.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// Returns the value in the middle; of an even number, the mean of the two there.
#[must_use]
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some(f64::midpoint(sorted[middle - 1], upper)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_there() {
        let each = (1..=200).map(Duration::from_micros).rev().collect();
        let speed = Speed::new(each, Duration::from_secs(4), Duration::from_micros(600));
        assert_eq!((speed.p50_micros.round(), speed.p99_micros.round()), (100.0, 198.0));
        assert_eq!((speed.per_second().round(), speed.cpu_micros.round()), (50.0, 3.0));
        let one =
            Speed::new(vec![Duration::from_micros(7)], Duration::from_secs(1), Duration::ZERO);
        assert_eq!((one.p50_micros.round(), one.p99_micros.round()), (7.0, 7.0));
        let none = Speed::new(Vec::new(), Duration::from_secs(1), Duration::ZERO);
        assert_eq!((none.p99_micros.to_bits(), none.cpu_micros.to_bits()), (0, 0));
    }

    #[test]
    fn one_bad_round_does_not_move_the_median_far() {
        assert_eq!(median([3.0, 1000.0, 1.0]), Some(3.0));
        assert_eq!(median([4.0, 2.0]), Some(3.0));
        assert_eq!(median([]), None);
    }
}
