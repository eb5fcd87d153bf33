//! What a stream of server-sent events ends with when the host stops: that it does, and how soon to
//! come back. What its reader has not seen is told then. A stream that has come to its own end has
//! no more to tell, and ends with that.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::Event;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt as _};
use tokio_util::sync::CancellationToken;

/// How soon: a host that is started anew is up again by then.
const AGAIN: Duration = Duration::from_secs(1);
/// What readers pass over, and people see.
const WORDS: &str = "the host stops";

/// How many items are handed out yet once the host stops, if they are there: an end that is near
/// comes, and whoever is far behind it is told in time, before connections are broken off.
const LEFT: usize = 64;

/// Returns a stream of events up to its end, or up to when the host stops, with the farewell then.
pub(crate) fn with_farewell(
    events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static,
    stopping: CancellationToken,
) -> BoxStream<'static, Result<Event, Infallible>> {
    let farewell = Event::default().comment(WORDS).retry(AGAIN);
    until_stop(events, stopping, Some(Ok(farewell)))
}

/// Returns a stream up to its end, or up to when the host stops, with something behind it then.
///
/// What is there to be sent is sent before it is looked whether the host stops, as far as it is not
/// too much: whoever has the end is not asked to come back.
pub(crate) fn until_stop<T: Send + 'static>(
    items: impl Stream<Item = T> + Send + 'static,
    stopping: CancellationToken,
    last: Option<T>,
) -> BoxStream<'static, T> {
    let going = Some((items.boxed(), stopping, last, LEFT));
    let items = stream::unfold(going, async |going| {
        let (mut items, stopping, last, left) = going?;
        let left = if stopping.is_cancelled() { left.checked_sub(1) } else { Some(left) };
        let Some(left) = left else { return Some((last?, None)) };
        tokio::select! {
            biased;
            item = items.next() => Some((item?, Some((items, stopping, last, left)))),
            () = stopping.cancelled() => Some((last?, None)),
        }
    });
    items.boxed()
}

/// Returns the farewell as text, for streams that are written by hand.
pub(crate) fn text() -> String {
    format!(": {WORDS}\nretry: {}\n\n", AGAIN.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn told(items: impl Stream<Item = u8> + Send + 'static, stops: bool) -> Vec<u8> {
        let stopping = CancellationToken::new();
        if stops {
            stopping.cancel();
        }
        until_stop(items, stopping, Some(9)).collect().await
    }

    #[tokio::test]
    async fn who_has_the_end_is_not_asked_to_come_back() {
        let ended = || stream::iter([1, 2]);
        assert_eq!(told(ended(), false).await, [1, 2]);
        assert_eq!(told(ended(), true).await, [1, 2]);
        assert_eq!(told(ended().chain(stream::pending()), true).await, [1, 2, 9]);
    }

    #[tokio::test]
    async fn who_is_far_behind_is_told_in_time() {
        let endless = told(stream::repeat(1), true).await;
        assert_eq!((endless.len(), endless.last()), (LEFT + 1, Some(&9)));
        let near = told(stream::repeat(1).take(LEFT - 1), true).await;
        assert_eq!(near, [1; LEFT - 1]);
    }
}
