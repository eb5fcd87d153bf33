//! Where a transaction's instant comes from.
//!
//! An instant has milliseconds, as ids have, so that what is stored is what was seen. Within a
//! store it never goes backward, whatever the clock does: see `lane.rs`.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Returns the present instant.
    fn now(&self) -> DateTime<Utc>;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place where time comes in")]
    fn now(&self) -> DateTime<Utc> {
        SystemTime::now().into()
    }
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Returns a clock that stands at an instant.
    #[must_use]
    pub fn at(instant: DateTime<Utc>) -> Self {
        Self(AtomicI64::new(instant.timestamp_millis()))
    }

    /// Moves it to an instant, forward or backward.
    pub fn set(&self, instant: DateTime<Utc>) {
        self.0.store(instant.timestamp_millis(), Ordering::SeqCst);
    }

    /// Moves it forward.
    pub fn advance(&self, by: Duration) {
        let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Returns the instant of a number of milliseconds since 1970; one that no calendar has becomes
/// the nearest that one has.
#[must_use]
pub(crate) fn from_millis(millis: i64) -> DateTime<Utc> {
    let bounded = millis.clamp(
        DateTime::<Utc>::MIN_UTC.timestamp_millis(),
        DateTime::<Utc>::MAX_UTC.timestamp_millis(),
    );
    DateTime::from_timestamp_millis(bounded).unwrap_or(DateTime::<Utc>::UNIX_EPOCH)
}
