//! `/operator/changes`: one event (SSE) for each committed call, once it is durable, in order.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::Query;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::response::sse::{Event, Sse};
use axum::routing::get;
use axum_extra::extract::WithRejection;
use chrono::SecondsFormat;
use futures_util::stream;
use quixos_runtime::{Feed, HistoryEntry, Runtime, reference_text};
use serde::{Deserialize, Serialize};

use super::{Inside, Shared};
use crate::agent::{keep_alive, streamed};
use crate::error::ApiError;
use crate::farewell::with_farewell;

/// The header that a reader sends who comes back.
const LAST_EVENT_ID: &str = "last-event-id";

/// Where to begin.
#[derive(Deserialize)]
struct ChangesQuery {
    /// The commit behind which to begin; 0 is before the first. Omitted: what comes from now on.
    after: Option<String>,
}

/// A committed call.
#[derive(Serialize)]
struct Change {
    commit: u64,
    /// When, in RFC 3339.
    at: String,
    /// Who.
    actor: String,
    /// What: the interface and the member, as the history shows it.
    operation: String,
    /// On which object.
    receiver: String,
    /// The objects that it changed.
    objects: Vec<String>,
}

pub(super) fn routes() -> Router<Arc<Inside>> {
    Router::new().route("/operator/changes", get(changes))
}

async fn changes(
    inside: Shared,
    headers: HeaderMap,
    WithRejection(Query(query), _): WithRejection<Query<ChangesQuery>, ApiError>,
) -> Result<impl IntoResponse, ApiError> {
    let last = headers.get(LAST_EVENT_ID).map(|it| it.to_str().unwrap_or_default().to_owned());
    let durable = inside.runtime.durable();
    let after = match last.or(query.after) {
        Some(text) => text.parse().map_err(|_| {
            ApiError::malformed(format!("`after` is the number of a commit, not `{text}`"))
        })?,
        None => durable,
    };
    if after > durable {
        // Another store, or one that was restored: what the reader knows is not this.
        return Err(ApiError::invalid(format!("the history has {durable} commits, not {after}")));
    }
    let feed = inside.runtime.feed(after);
    let events = stream::unfold((inside.runtime.clone(), feed), next);
    let stopping = inside.stopping.clone();
    let events = Sse::new(with_farewell(events, stopping)).keep_alive(keep_alive());
    Ok(streamed(events.into_response()))
}

type Position = (Runtime, Feed);

async fn next((runtime, mut feed): Position) -> Option<(Result<Event, Infallible>, Position)> {
    let entry = match feed.next().await {
        Ok(entry) => entry?,
        Err(error) => {
            tracing::error!(%error, "the history could not be read");
            return None;
        }
    };
    let event = Event::default().id(entry.commit.to_string()).event("change");
    let event = event.json_data(change(&runtime, &entry)).ok()?;
    Some((Ok(event), (runtime, feed)))
}

fn change(runtime: &Runtime, entry: &HistoryEntry) -> Change {
    let definitions = runtime.definitions();
    Change {
        commit: entry.commit,
        at: entry.instant.to_rfc3339_opts(SecondsFormat::Millis, true),
        actor: entry.actor.clone(),
        operation: entry.action.text(definitions),
        receiver: reference_text(definitions, entry.receiver),
        objects: entry.touched.iter().map(|it| reference_text(definitions, it.object)).collect(),
    }
}
