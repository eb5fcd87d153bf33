//! A stream as the bytes of an answer: server-sent events, or a line of JSON an event.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;

use super::reader::{Sent, TurnStream};
use crate::farewell::{until_stop, with_farewell};

/// How often a stream shows that it lives when nothing happens.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// What a line of JSON an event is called.
const NDJSON: &str = "application/x-ndjson";
/// Server-sent events.
const EVENT_STREAM: &str = "text/event-stream";
/// Tells a proxy in front of the host to pass on each event as it comes.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// As server-sent events, which have ids.
    Events,
    /// As lines of JSON, which have none: a client that comes back reads from the begin.
    Lines,
}

impl Format {
    /// Returns what a client accepts best: server-sent events, unless it prefers lines.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let (mut events, mut lines) = (0.0, 0.0);
        for range in accepted.flat_map(|value| value.split(',')) {
            let mut parts = range.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(1.0, |weight| {
                weight.parse::<f32>().ok().filter(|it| (0.0..=1.0).contains(it)).unwrap_or(0.0)
            });
            if name.eq_ignore_ascii_case(NDJSON) {
                lines = weight;
            } else if name.eq_ignore_ascii_case(EVENT_STREAM) {
                events = weight;
            }
        }
        if lines > events { Self::Lines } else { Self::Events }
    }
}

/// Answers with a stream.
pub(crate) fn respond(stream: TurnStream, format: Format) -> Response {
    let stopping = stream.stopping();
    streamed(match format {
        Format::Events => {
            let frames = stream::unfold(stream, async |mut stream| {
                let sent = stream.next().await?;
                Some((Ok::<_, Infallible>(frame(&sent)), stream))
            });
            Sse::new(with_farewell(frames, stopping)).keep_alive(keep_alive()).into_response()
        }
        Format::Lines => {
            let lines = stream::unfold(stream, async |mut stream| {
                let line = match tokio::time::timeout(KEEP_ALIVE, stream.next()).await {
                    Ok(sent) => line(&sent?),
                    // An empty line, which readers of lines pass over.
                    Err(_) => Bytes::from_static(b"\n"),
                };
                Some((Ok::<_, Infallible>(line), stream))
            });
            // Lines have no comments: without a terminal event, a stream was cut.
            let lines = until_stop(lines, stopping, None);
            let content = [(CONTENT_TYPE, HeaderValue::from_static(NDJSON))];
            (content, Body::from_stream(lines)).into_response()
        }
    })
}

/// Returns what shows that a stream lives when nothing happens.
pub(crate) fn keep_alive() -> KeepAlive {
    KeepAlive::new().interval(KEEP_ALIVE)
}

/// Lets a stream through to its client as it comes.
pub(crate) fn streamed(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(NO_BUFFERING, HeaderValue::from_static("no"));
    response
}

fn frame(sent: &Sent) -> Event {
    let event = Event::default().event(sent.event.kind()).data(json(sent));
    match sent.id {
        Some(id) => event.id(id.to_string()),
        None => event,
    }
}

fn line(sent: &Sent) -> Bytes {
    let mut line = json(sent);
    line.push('\n');
    line.into()
}

/// Returns an event as JSON. None of its fields can fail to be written.
fn json(sent: &Sent) -> String {
    serde_json::to_string(&sent.event).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper of tests")]

    use super::*;

    #[test]
    fn lines_are_for_those_who_prefer_them() {
        let format = |accept: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(ACCEPT, accept.parse().unwrap());
            }
            Format::of(&headers)
        };
        for accept in [
            None,
            Some("*/*"),
            Some("text/event-stream"),
            Some("application/json"),
            Some("application/x-ndjson, text/event-stream"),
            Some("application/x-ndjson;q=0.5, text/event-stream"),
            Some("application/x-ndjson;q=0"),
        ] {
            assert_eq!(format(accept), Format::Events, "{accept:?}");
        }
        for accept in [
            "application/x-ndjson",
            "Application/X-NDJSON; charset=utf-8",
            "text/event-stream;q=0.5, application/x-ndjson",
            "application/x-ndjson, */*;q=0.1",
        ] {
            assert_eq!(format(Some(accept)), Format::Lines, "{accept}");
        }
    }
}
