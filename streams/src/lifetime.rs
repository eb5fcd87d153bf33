//! When a stream is over: at an instant, or so long after it was read or written last.
//!
//! A read that would write each time would make of every reader a writer. So a read within an
//! eighth of the time behind the last that was written down is not, and a stream lasts an eighth
//! longer: it is never over before nobody used it for the time that it was given.

use chrono::{DateTime, Utc};
use quixos_runtime::CallError;

use crate::instant;
use crate::streams::{StreamConfig, StreamData};

/// Returns when a stream is over if nobody uses it; nothing if it never is.
pub(crate) fn end(
    config: &StreamConfig,
    data: &StreamData,
) -> Result<Option<DateTime<Utc>>, CallError> {
    if let Some(at) = &config.expires_at {
        return instant::stored(at).map(Some);
    }
    let Some(millis) = config.ttl.map(|ttl| ttl.saturating_mul(1000)) else { return Ok(None) };
    let touched = instant::stored(&data.touched_at)?;
    Ok(instant::after(touched, millis.saturating_add(slack(millis))))
}

/// Tells whether a stream is over.
pub(crate) fn is_over(
    config: &StreamConfig,
    data: &StreamData,
    now: DateTime<Utc>,
) -> Result<bool, CallError> {
    Ok(data.deleted || end(config, data)?.is_some_and(|end| end <= now))
}

/// Tells whether a read has to be written down.
pub(crate) fn wants_touch(
    config: &StreamConfig,
    data: &StreamData,
    now: DateTime<Utc>,
) -> Result<bool, CallError> {
    let Some(millis) = config.ttl.map(|ttl| ttl.saturating_mul(1000)) else { return Ok(false) };
    let touched = instant::stored(&data.touched_at)?;
    Ok(instant::after(touched, slack(millis)).is_some_and(|due| due <= now))
}

fn slack(millis: u64) -> u64 {
    millis / 8
}
