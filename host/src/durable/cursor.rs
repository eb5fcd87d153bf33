//! Cursors of live reads: numbers that grow, so that no cache answers for ever what it had once.

use chrono::{DateTime, Utc};

/// Seconds between two cursors.
const INTERVAL: i64 = 20;
/// When they were counted from: the ninth of October 2024.
const EPOCH: i64 = 1_728_432_000;
/// The most cursors that are passed over, which are an hour.
const JITTER: u64 = 180;

/// Returns the cursor of an answer: that of the moment, or one behind the reader's own.
///
/// How far behind is drawn from who reads what, so that readers of one stream part.
pub(super) fn next(now: DateTime<Utc>, own: Option<u64>, seed: &str) -> u64 {
    let current = u64::try_from((now.timestamp() - EPOCH) / INTERVAL).unwrap_or(0);
    match own {
        Some(own) if own >= current => {
            let [byte, ..] = *blake3::hash(format!("{seed}:{own}").as_bytes()).as_bytes();
            own.saturating_add(1 + u64::from(byte) % JITTER)
        }
        Some(_) | None => current,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper of tests")]

    use super::*;

    #[test]
    fn a_cursor_never_goes_back() {
        let at = |text: &str| DateTime::parse_from_rfc3339(text).unwrap().to_utc();
        let now = at("2024-10-09T00:01:00Z");
        assert_eq!(next(now, None, "s"), 3);
        assert_eq!(next(now, Some(2), "s"), 3);
        for own in [3, 4, 1000, u64::MAX - 1] {
            let found = next(now, Some(own), "s");
            assert!(found > own && found - own <= JITTER, "{own} {found}");
        }
        assert_eq!(next(at("2020-01-01T00:00:00Z"), None, "s"), 0);
    }
}
