//! `GET` and `HEAD`: what there is of a stream, what comes, and what can be told without reading.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum_extra::extract::WithRejection;
use futures_util::stream;
use quixos_streams::Form;
use quixos_streams::streams::PublicStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::failure::Failure;
use super::live::{Waited, behind};
use super::objects::ObjectStream;
use super::page::{Page, Source};
use super::query::Live;
use super::space::{Asked, OBJECTS, Space};
use super::{cursor, frames, headers};
use crate::agent::streamed;
use crate::error::ApiError;
use crate::farewell;
use crate::limits::Slot;
use crate::metrics::Open;
use crate::state::{Shared, State};
use crate::tokens::Bearer;

/// How long one answer of events goes on. The reader comes back for the next.
const CONNECTION: Duration = Duration::from_secs(60);
/// How often a reader is shown that it is served when nothing happens.
const QUIET: Duration = Duration::from_secs(15);
/// Seconds for which an answer may be kept. It stays true: what is at an offset does not change.
const FRESH: i64 = 60;
/// Where reading begins when nobody says.
const BEGINNING: &str = "-1";
/// The offset of the end, wherever that is.
const NOW: &str = "now";

pub(super) async fn read(
    state: Shared,
    asked: Asked,
    headers: HeaderMap,
    WithRejection(Path(path), _): WithRejection<Path<String>, Failure>,
) -> Result<Response, Failure> {
    let (source, is_private) = open(&state, &headers, &path, &asked.space).await?;
    let Asked { client, query, .. } = asked;
    let offset = query.offset.clone().unwrap_or_else(|| BEGINNING.to_owned());
    let page = source.page(&state, &offset).await?;
    source.touch(&page).await?;
    let reader = Reader { state: state.0, client, source, is_private, own: query.cursor };
    match query.live {
        None => Ok(reader.answer(&page, offset == NOW, None, &headers)),
        Some(Live::LongPoll) => reader.long_poll(page, &headers).await,
        Some(Live::Sse) => reader.events(page),
    }
}

pub(super) async fn look(
    state: Shared,
    asked: Asked,
    headers: HeaderMap,
    WithRejection(Path(path), _): WithRejection<Path<String>, Failure>,
) -> Result<Response, Failure> {
    let (source, _) = open(&state, &headers, &path, &asked.space).await?;
    let mut response = StatusCode::OK.into_response();
    let found = response.headers_mut();
    put(found, header::CACHE_CONTROL, "no-store");
    match &source {
        Source::Public(stream, by) => {
            let look = PublicStream::on(by, *stream).look().await?;
            put(found, header::CONTENT_TYPE, &look.content_type);
            put(found, headers::NEXT_OFFSET, &look.tail);
            if let Some(ttl) = look.ttl {
                put(found, headers::TTL, &ttl.to_string());
            }
            if let Some(at) = &look.expires_at {
                put(found, headers::EXPIRES_AT, at);
            }
            if look.closed {
                put(found, headers::CLOSED, headers::TRUE);
            }
        }
        Source::Object(_) => {
            let page = source.page(&state, NOW).await?;
            put(found, header::CONTENT_TYPE, &page.content_type);
            put(found, headers::NEXT_OFFSET, &page.next);
        }
    }
    Ok(response)
}

/// Finds what is to be read, if it is there for whoever asks, and tells whether it is somebody's.
async fn open(
    state: &State,
    headers: &HeaderMap,
    path: &str,
    space: &Space,
) -> Result<(Source, bool), Failure> {
    if let Some(rest) = path.strip_prefix(OBJECTS).and_then(|rest| rest.strip_prefix('/')) {
        let tenant = state.machine(headers)?;
        return Ok((Source::Object(ObjectStream::open(state, &tenant, rest).await?), true));
    }
    let key = space.key(path)?;
    let by = space.caller(state);
    Ok((Source::Public(super::find(state, &by, &key).await?, by), space.is_private()))
}

/// Somebody who reads.
struct Reader {
    state: Arc<State>,
    /// The client that it is, if it is one.
    client: Option<Bearer>,
    source: Source,
    is_private: bool,
    /// The cursor that it came with.
    own: Option<u64>,
}

impl Reader {
    /// Answers a page; that there is nothing new, if the reader has it already.
    fn answer(
        &self,
        page: &Page,
        is_now: bool,
        cursor: Option<u64>,
        request: &HeaderMap,
    ) -> Response {
        let tag = format!(
            "\"{}:{}:{}{}\"",
            page.of,
            page.start,
            page.next,
            if page.closed { ":c" } else { "" }
        );
        let is_known = !is_now && cursor.is_none() && has(request, &tag);
        let mut response = if is_known {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            body(page).into_response()
        };
        let found = response.headers_mut();
        put(found, header::CONTENT_TYPE, &page.content_type);
        self.places(found, page, cursor);
        if is_now || page.is_empty {
            put(found, header::CACHE_CONTROL, "no-store");
        } else {
            put(found, header::CACHE_CONTROL, &self.keeping(page));
        }
        if !is_now {
            put(found, header::ETAG, &tag);
        }
        response
    }

    /// Says where the reader stands then.
    fn places(&self, found: &mut HeaderMap, page: &Page, cursor: Option<u64>) {
        put(found, headers::NEXT_OFFSET, &page.next);
        if page.up_to_date {
            put(found, headers::UP_TO_DATE, headers::TRUE);
        }
        if page.closed {
            put(found, headers::CLOSED, headers::TRUE);
        }
        if let Some(cursor) = cursor {
            put(found, headers::CURSOR, &cursor.to_string());
        }
        if self.is_private {
            found.append(header::VARY, HeaderValue::from_static("authorization"));
        }
    }

    /// Says for how long an answer may be kept, and by whom.
    fn keeping(&self, page: &Page) -> String {
        let left = page.ends_at.map_or(FRESH, |end| (end - self.state.now()).num_seconds());
        let whose = if self.is_private { "private" } else { "public" };
        let seconds = left.clamp(0, FRESH);
        format!("{whose}, max-age={seconds}, stale-while-revalidate={}", seconds * 5)
    }

    fn cursor(&self, page: &Page) -> u64 {
        cursor::next(self.state.now(), self.own, &page.of)
    }

    /// Answers as soon as there is something, or that there was nothing.
    async fn long_poll(&self, mut page: Page, request: &HeaderMap) -> Result<Response, Failure> {
        let _permit = self.permit()?;
        let until = Instant::now() + self.state.durable.config.long_poll;
        loop {
            let cursor = self.cursor(&page);
            if !page.is_empty {
                return Ok(self.answer(&page, false, Some(cursor), request));
            }
            let is_over = page.up_to_date
                && (page.closed || behind(&self.state, &page, until).await? != Waited::Changed);
            if is_over {
                let mut response = StatusCode::NO_CONTENT.into_response();
                let found = response.headers_mut();
                self.places(found, &page, Some(cursor).filter(|_| !page.closed));
                put(found, header::CACHE_CONTROL, "no-store");
                return Ok(response);
            }
            page = self.source.page(&self.state, &page.next).await?;
        }
    }

    /// Answers with events, for as long as a connection may last.
    fn events(self, page: Page) -> Result<Response, Failure> {
        let permit = self.permit()?;
        let is_binary = page.form == Form::Binary;
        let cursor = self.cursor(&page);
        let open = self.state.metrics.traffic.stream("public");
        let events = Events {
            reader: self,
            page: Some(page),
            cursor,
            is_new: true,
            until: Instant::now() + CONNECTION,
            _permit: permit,
            _open: open,
        };
        let frames = stream::unfold(events, async |mut events| {
            let frames = events.next().await?;
            Some((Ok::<_, Infallible>(frames), events))
        });
        let mut response = Body::from_stream(frames).into_response();
        let found = response.headers_mut();
        put(found, header::CONTENT_TYPE, "text/event-stream");
        if is_binary {
            put(found, headers::SSE_ENCODING, "base64");
        }
        Ok(streamed(response))
    }

    /// Takes one of the places of readers that wait, and one of those of its owner.
    fn permit(&self) -> Result<(OwnedSemaphorePermit, Option<Slot>), ApiError> {
        let slot = self.client.as_ref().map(|it| self.state.limiter.open(it)).transpose()?;
        let places = Arc::clone(&self.state.durable.readers);
        let permit = places.try_acquire_owned().map_err(|_| {
            let error = "there are as many readers that wait as there may be";
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "readers", error)
        })?;
        Ok((permit, slot))
    }
}

/// Somebody who reads events.
struct Events {
    reader: Reader,
    /// The page that the reader is at; none once it has all.
    page: Option<Page>,
    cursor: u64,
    /// Whether the page was not shown.
    is_new: bool,
    until: Instant,
    _permit: (OwnedSemaphorePermit, Option<Slot>),
    /// Counts it.
    _open: Open,
}

impl Events {
    /// Returns what the reader sees next; nothing when it has to come back, or has all.
    async fn next(&mut self) -> Option<String> {
        loop {
            let page = self.page.as_ref()?;
            if std::mem::take(&mut self.is_new) {
                let state = &self.reader.state;
                self.cursor = self.cursor.max(cursor::next(state.now(), None, &page.of));
                let shown = frames::of(page, self.cursor);
                if page.closed {
                    self.page = None;
                }
                return Some(shown);
            }
            if page.up_to_date {
                let quiet = self.until.min(Instant::now() + QUIET);
                match self.told(behind(&self.reader.state, page, quiet).await)? {
                    Waited::Changed => {}
                    Waited::TimedOut if quiet < self.until => {
                        return Some(frames::KEEP_ALIVE.to_owned());
                    }
                    Waited::TimedOut => return None,
                    Waited::Stopping => {
                        self.page = None;
                        return Some(farewell::text());
                    }
                }
            }
            let next = self.reader.source.page(&self.reader.state, &page.next).await;
            let next = self.told(next)?;
            // What was written may be another's, of an object that several share.
            self.is_new = !next.is_empty || next.closed || next.next != page.next;
            self.page = Some(next);
        }
    }

    /// Ends the events where something failed. That what is read is over is no failure; the reader
    /// is told when it comes back.
    fn told<T, E: std::fmt::Debug>(&self, result: Result<T, E>) -> Option<T> {
        result.inspect_err(|error| tracing::debug!(?error, "a live read ends")).ok()
    }
}

/// Returns what is in a page as it is answered at once.
fn body(page: &Page) -> Vec<u8> {
    match page.form {
        Form::Json => [b"[".as_slice(), &page.data, b"]"].concat(),
        Form::Text | Form::Binary => page.data.clone(),
    }
}

/// Tells whether the reader has what a tag is of.
fn has(request: &HeaderMap, tag: &str) -> bool {
    let known = request.get_all(header::IF_NONE_MATCH).iter();
    let known = known.filter_map(|value| value.to_str().ok()).flat_map(|it| it.split(','));
    known.map(|it| it.trim().trim_start_matches("W/")).any(|it| it == tag || it == "*")
}

/// Sets a header. Whatever was a header once can be one again.
pub(super) fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
