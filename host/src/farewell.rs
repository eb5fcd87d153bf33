//! What a stream of server-sent events ends with when the host stops: that it does, and how soon to
//! come back. What its reader has not seen is told then.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::Event;
use futures_util::{Stream, StreamExt as _, stream};
use tokio_util::sync::CancellationToken;

/// How soon: a host that is started anew is up again by then.
const AGAIN: Duration = Duration::from_secs(1);
/// What readers pass over, and people see.
const WORDS: &str = "the host stops";

/// Returns the end of a stream: nothing, unless the host stops by the time that it is come to.
pub(crate) fn farewell(
    stopping: CancellationToken,
) -> impl Stream<Item = Result<Event, Infallible>> + Send + 'static {
    stream::once(async move { stopping.is_cancelled() })
        .filter(|stops| std::future::ready(*stops))
        .map(|_| Ok(Event::default().comment(WORDS).retry(AGAIN)))
}

/// Returns the same as text, for streams that are written by hand.
pub(crate) fn text() -> String {
    format!(": {WORDS}\nretry: {}\n\n", AGAIN.as_millis())
}
