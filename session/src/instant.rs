//! Instants as they are stored: RFC 3339 in UTC, in the shortest form that loses nothing.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use quixos_runtime::CallError;

/// Prints an instant.
pub(crate) fn text(instant: DateTime<Utc>) -> String {
    instant.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// Reads an instant that was printed here.
pub(crate) fn parse(text: &str) -> Result<DateTime<Utc>, CallError> {
    DateTime::parse_from_rfc3339(text)
        .map(|instant| instant.to_utc())
        .map_err(|_| CallError::Corrupt { message: format!("`{text}` is stored as an instant") })
}

/// Returns the instant some seconds later, or the last one that there is.
pub(crate) fn after(instant: DateTime<Utc>, seconds: u64) -> DateTime<Utc> {
    i64::try_from(seconds)
        .ok()
        .and_then(TimeDelta::try_seconds)
        .and_then(|delta| instant.checked_add_signed(delta))
        .filter(|later| *later < end())
        .unwrap_or_else(end)
}

/// The last instant that RFC 3339 can write.
fn end() -> DateTime<Utc> {
    DateTime::from_timestamp(253_402_300_799, 0).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_as_the_same_instant() {
        for printed in ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.250Z"] {
            assert_eq!(text(parse(printed).unwrap()), printed);
        }
    }

    #[test]
    fn no_number_of_seconds_leads_past_what_can_be_written() {
        let now = parse("2026-01-31T12:00:00Z").unwrap();
        assert_eq!(text(after(now, 90)), "2026-01-31T12:01:30Z");
        for seconds in [u64::MAX, 1 << 40, 9_000_000_000_000] {
            let last = text(after(now, seconds));
            assert_eq!(last, "9999-12-31T23:59:59Z");
            assert!(parse(&last).is_ok());
        }
    }
}
