//! The events of a session as a stream (SSE): first those that the log has, then those that come.
//!
//! Events are read from the log and from nowhere else, so however slow a reader is, it sees each
//! once and in order, and holds nobody back. What a model says while it says it
//! (`llm.token.delta`) goes in between: without an id, since it is not in the log.

use std::sync::Arc;

use axum::extract::{Path, Query};
use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use axum_extra::extract::WithRejection;
use chrono::{DateTime, SecondsFormat, Utc};
use futures_util::stream;
use quixos_engine::live::Delta;
use quixos_protocol::StreamDelta;
use quixos_runtime::{CallError, Follow, Ref};
use quixos_session::sessions::{SessionEvent, SessionObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::agent::{keep_alive, streamed};
use crate::credential::{Client, Machine};
use crate::error::ApiError;
use crate::farewell::with_farewell;
use crate::limits::Slot;
use crate::metrics::Open;
use crate::state::{Asker, Shared, State};

/// The event that ends a turn.
const TURN_COMPLETED: &str = "turn.completed";
/// The header that a reader sends who comes back.
const LAST_EVENT_ID: &str = "last-event-id";

/// What of a stream is asked for.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct EventsQuery {
    /// Only the events of this turn; the stream ends with it.
    turn_id: Option<String>,
    /// The event behind which to begin; 0 is before the first. Omitted: what comes from now on.
    #[schemars(regex(pattern = "^[0-9]{1,15}$"))]
    after_seq: Option<String>,
}

/// Something that happened in a session.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EventBody {
    session_id: String,
    /// Its place in the log: 1, 2, 3 …
    seq: u64,
    /// When, in RFC 3339.
    occurred_at: String,
    /// The turn that it belongs to, if it belongs to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<String>,
    /// What: its `type`, and what belongs to that.
    payload: Map<String, Value>,
}

/// A piece of what a model says.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeltaBody {
    session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<String>,
    /// The model call.
    call_id: String,
    /// The attempt. Deltas of another attempt are another reply.
    attempt: u32,
    /// Its place among those of this attempt: 0, 1, 2 …
    seq: u64,
    /// What is said.
    delta: StreamDelta,
}

pub(super) async fn of_client(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, ApiError>,
    headers: HeaderMap,
    WithRejection(Path(id), _): WithRejection<Path<String>, ApiError>,
    WithRejection(Query(query), _): WithRejection<Query<EventsQuery>, ApiError>,
) -> Result<Response, ApiError> {
    let after = after(&headers, &query)?;
    let slot = state.limiter.open(&bearer)?;
    open(state.0, Asker::client(&bearer), id, query.turn_id, after, Some(slot)).await
}

pub(super) async fn of_machine(
    state: Shared,
    WithRejection(Machine(tenant), _): WithRejection<Machine, ApiError>,
    headers: HeaderMap,
    WithRejection(Path(id), _): WithRejection<Path<String>, ApiError>,
    WithRejection(Query(query), _): WithRejection<Query<EventsQuery>, ApiError>,
) -> Result<Response, ApiError> {
    let after = after(&headers, &query)?;
    open(state.0, Asker::machine(&tenant), id, query.turn_id, after, None).await
}

/// Returns how many events the reader has, if it says so. What it had last counts more than what it
/// asked for first.
fn after(headers: &HeaderMap, query: &EventsQuery) -> Result<Option<u64>, ApiError> {
    let number = |name: &str, text: &str| {
        text.parse().map_err(|_| ApiError::malformed(format!("`{name}` is not a number: `{text}`")))
    };
    let after = query.after_seq.as_deref().map(|after| number("after_seq", after)).transpose()?;
    match headers.get(LAST_EVENT_ID).filter(|last| !last.is_empty()) {
        Some(last) => number("Last-Event-ID", last.to_str().unwrap_or("?")).map(Some),
        None => Ok(after),
    }
}

async fn open(
    state: Arc<State>,
    asker: Asker,
    id: String,
    turn: Option<String>,
    after: Option<u64>,
    slot: Option<Slot>,
) -> Result<Response, ApiError> {
    // Who listens first and reads then misses nothing in between.
    let deltas = state.engine.listen(&id);
    let session = state.visible(&asker, &id).await?;
    let log = match session {
        Some(session) => Some(follow(&state, session, after).await?),
        None => None,
    };
    let stopping = state.stopping.clone();
    let (opened, open) = (state.now(), state.metrics.traffic.stream("events"));
    let reader = Reader {
        state,
        asker,
        id,
        turn,
        after,
        log,
        deltas: Some(deltas),
        is_over: false,
        opened,
        _open: open,
        _slot: slot,
    };
    let frames = stream::unfold(reader, async |mut reader| {
        let frame = reader.next().await?;
        Some((Ok(frame), reader))
    });
    let frames = with_farewell(frames, stopping);
    Ok(streamed(Sse::new(frames).keep_alive(keep_alive()).into_response()))
}

async fn follow(
    state: &State,
    session: Ref<SessionObject>,
    after: Option<u64>,
) -> Result<Follow, CallError> {
    let events = state.engine.runtime().stream(session.object(), "events")?;
    let from = match after {
        Some(after) => after,
        None => events.len().await?,
    };
    Ok(events.follow(from))
}

/// Somebody who reads a stream.
struct Reader {
    state: Arc<State>,
    asker: Asker,
    id: String,
    turn: Option<String>,
    after: Option<u64>,
    /// The log, once the session is there.
    log: Option<Follow>,
    /// What is said meanwhile, until the engine stops.
    deltas: Option<broadcast::Receiver<Delta>>,
    is_over: bool,
    /// When it began: what was there before is not late.
    opened: DateTime<Utc>,
    /// Counts it.
    _open: Open,
    /// Its place among those of its owner.
    _slot: Option<Slot>,
}

impl Reader {
    /// Returns what the reader sees next; nothing when the stream is over.
    async fn next(&mut self) -> Option<Event> {
        while !self.is_over {
            let Some(log) = &mut self.log else {
                self.appeared().await?;
                continue;
            };
            // Deltas come first: they are said before the log tells of the whole.
            let frame = tokio::select! {
                biased;
                delta = heard(&mut self.deltas) => self.of_delta(&delta),
                event = log.next() => match event {
                    Ok(Some(event)) => {
                        let frame = self.of_event(&event);
                        // What is of another turn is not handed to anybody.
                        if frame.is_some() && event.instant >= self.opened {
                            self.state.metrics.traffic.handed(event.instant, self.state.now());
                        }
                        frame
                    }
                    Ok(None) => return None,
                    Err(error) => {
                        tracing::error!(%error, "the log of a session could not be read");
                        return None;
                    }
                },
            };
            if let Some(frame) = frame {
                return Some(frame);
            }
        }
        None
    }

    /// Waits until the session is there. It may turn out to be another's: then the stream ends.
    async fn appeared(&mut self) -> Option<()> {
        let runtime = self.state.engine.runtime();
        let mut commits = runtime.feed(runtime.durable());
        loop {
            match self.state.visible(&self.asker, &self.id).await {
                Ok(Some(session)) => {
                    // A session that was not there has no event that the reader did not wait for.
                    let after = Some(self.after.unwrap_or(0));
                    self.log = Some(follow(&self.state, session, after).await.ok()?);
                    return Some(());
                }
                Ok(None) => commits.next().await.ok()??,
                Err(_) => return None,
            };
        }
    }

    fn of_event(&mut self, event: &quixos_runtime::Event) -> Option<Event> {
        let seq = event.offset + 1;
        let stored: SessionEvent = match event.decode() {
            Ok(stored) => stored,
            Err(error) => {
                tracing::error!(%error, seq, "an event of a session could not be read");
                self.is_over = true;
                return None;
            }
        };
        if self.turn.is_some() && self.turn != stored.turn {
            return None;
        }
        self.is_over = self.turn.is_some() && stored.r#type == TURN_COMPLETED;
        let mut payload = Map::new();
        payload.insert("type".to_owned(), stored.r#type.clone().into());
        payload.extend(serde_json::from_str::<Map<_, _>>(&stored.payload).unwrap_or_default());
        let body = EventBody {
            session_id: self.id.clone(),
            seq,
            occurred_at: event.instant.to_rfc3339_opts(SecondsFormat::Millis, true),
            turn_id: stored.turn,
            payload,
        };
        Event::default().id(seq.to_string()).event(stored.r#type).json_data(body).ok()
    }

    fn of_delta(&self, delta: &Delta) -> Option<Event> {
        let turn_id = delta.turn.as_deref().map(str::to_owned);
        if self.turn.is_some() && self.turn != turn_id {
            return None;
        }
        let body = DeltaBody {
            session_id: self.id.clone(),
            turn_id,
            call_id: delta.call.as_ref().to_owned(),
            attempt: delta.attempt,
            seq: delta.seq,
            delta: delta.delta.clone(),
        };
        Event::default().event("llm.token.delta").json_data(body).ok()
    }
}

/// Waits for the next delta. A reader that is too slow for some does without them.
async fn heard(deltas: &mut Option<broadcast::Receiver<Delta>>) -> Delta {
    loop {
        let Some(receiver) = deltas else { std::future::pending().await };
        match receiver.recv().await {
            Ok(delta) => return delta,
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => *deltas = None,
        }
    }
}
