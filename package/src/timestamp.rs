//! Times as the definition writes them: text, RFC 3339, in UTC.
//!
//! A time is stored as it was written and compared as the instant that it means, so that
//! `12:00:00Z` and `12:00:00.000Z` are the same moment and neither is rewritten as the other.
//! Only where an operation has no time in its input is one printed here, from the transaction's
//! instant.

use chrono::{DateTime, FixedOffset, SecondsFormat, Timelike as _, Utc};
use quixos_runtime::CallError;

/// Reads a time of an input; `path` is the field that it stands in.
pub(crate) fn parse(path: &str, text: &str) -> Result<DateTime<Utc>, CallError> {
    let instant = utc(path, text)?;
    // The parser takes one in any minute, and keeps it apart from the second behind it. A store's
    // instants are milliseconds since 1970, where the two are the same.
    if instant.nanosecond() >= 1_000_000_000 {
        let message = format!("`{text}` is a leap second, which no instant of a store can be");
        return Err(CallError::invalid(path, message));
    }
    Ok(instant)
}

fn utc(path: &str, text: &str) -> Result<DateTime<Utc>, CallError> {
    let Some(instant) = read(text) else {
        let message = format!("`{text}` is no RFC 3339 time like `2026-01-31T12:00:00Z`");
        return Err(CallError::invalid(path, message));
    };
    // An offset of zero is UTC however it is written; any other would be a second way to say it.
    if instant.offset().local_minus_utc() == 0 {
        Ok(instant.to_utc())
    } else {
        let utc = print(instant.to_utc());
        Err(CallError::invalid(path, format!("`{text}` is not in UTC; it would be `{utc}`")))
    }
}

/// Reads what the grammar of RFC 3339 allows. The parser takes more: a space for the `T`, and a
/// minus that is not ASCII.
fn read(text: &str) -> Option<DateTime<FixedOffset>> {
    let has_form = text.is_ascii() && matches!(text.as_bytes().get(10), Some(b'T' | b't'));
    DateTime::parse_from_rfc3339(text).ok().filter(|_| has_form)
}

/// Reads a time that was checked when it was stored. Leap seconds were once let in.
pub(crate) fn stored(text: &str) -> Result<DateTime<Utc>, CallError> {
    utc("", text)
        .map_err(|_| CallError::Corrupt { message: format!("`{text}` is stored as a time") })
}

/// Prints an instant in the shortest form that loses nothing.
pub(crate) fn print(instant: DateTime<Utc>) -> String {
    instant.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// Moves a stored time to `to`, unless that is the same moment or an earlier one.
pub(crate) fn move_forward(time: &mut String, to: &str) -> Result<(), CallError> {
    if stored(to)? > stored(time)? {
        to.clone_into(time);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_zero_are_utc_and_no_others() {
        for text in ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00+00:00"]
        {
            assert!(parse("at", text).is_ok(), "{text}");
        }
        for text in [
            "",
            "now",
            "2026-01-31",
            "2026-01-31T12:00:00",
            "2026-02-30T12:00:00Z",
            "2026-01-31 12:00:00Z",
            "2026-01-31T12:00:00\u{2212}00:00",
            " 2026-01-31T12:00:00Z",
        ] {
            assert_eq!(parse("at", text).unwrap_err().code(), "invalid", "{text}");
        }
        let elsewhere = parse("at", "2026-01-31T12:00:00+01:00").unwrap_err().to_string();
        assert!(elsewhere.contains("2026-01-31T11:00:00Z"), "{elsewhere}");
    }

    #[test]
    fn leap_seconds_are_refused_and_read_where_they_are_stored() {
        for text in ["2016-12-31T23:59:60Z", "2016-12-31T23:59:60.5Z", "2026-01-31T12:00:60+00:00"]
        {
            let refused = parse("at", text).unwrap_err();
            assert_eq!(refused.code(), "invalid", "{text}");
            assert!(refused.to_string().contains("leap second"), "{refused}");
            assert!(stored(text).is_ok(), "{text}");
        }
        assert!(parse("at", "2016-12-31T23:59:59.999999999Z").is_ok());
    }

    #[test]
    fn a_time_moves_by_instant_and_keeps_its_text() {
        let mut time = "2026-01-31T12:00:00Z".to_owned();
        for same_or_earlier in ["2026-01-31T12:00:00.000Z", "2026-01-31T11:59:59.999Z"] {
            move_forward(&mut time, same_or_earlier).unwrap();
            assert_eq!(time, "2026-01-31T12:00:00Z");
        }
        // Later, though the text sorts before: `.` comes before `Z`.
        move_forward(&mut time, "2026-01-31T12:00:00.001Z").unwrap();
        assert_eq!(time, "2026-01-31T12:00:00.001Z");
    }
}
