//! The threads of an owner: listed, shown, named, put away.

use std::sync::Arc;

use axum::extract::{Path, Query};
use axum::routing::get;
use axum::{Json, Router};
use axum_extra::extract::WithRejection;
use quixos_protocol::{ParseError, parse};
use quixos_runtime::Ref;
use quixos_session::sessions::SessionObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::unread;
use super::body::Body;
use crate::agent::{Page, Problem, Shelved, Thread};
use crate::credential::Client;
use crate::error::ApiError;
use crate::state::{Asker, Shared, State, frontend};
use crate::tokens::Bearer;

/// Threads, or messages, in a page where nobody says how many.
const PAGE: u32 = 50;
/// The most in one page.
const MOST: u32 = 200;
/// Bytes that a title has at most.
const TITLE: usize = 1024;

pub(super) fn routes() -> Router<Arc<State>> {
    Router::new().route("/v1/threads", get(list)).route("/v1/threads/{id}", get(show).patch(change))
}

/// Which threads are asked for.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListQuery {
    /// From where to go on: `next` of the page before. Omitted: the newest.
    after: Option<String>,
    /// How many, 200 at most. Default: 50.
    #[schemars(range(min = 1, max = MOST))]
    limit: Option<u32>,
}

/// A page of threads.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Threads {
    /// The threads, the newest first.
    threads: Vec<Thread>,
    /// From where to go on, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Which messages of a thread are asked for.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ShowQuery {
    /// The message before which they are: `before` of the page behind it. Omitted: the last ones.
    before: Option<String>,
    /// How many, 200 at most. Default: 50.
    #[schemars(range(min = 1, max = MOST))]
    limit: Option<u32>,
}

/// What is to be another way.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ChangeBody {
    /// The title.
    title: Option<String>,
    /// Whether it is put away. No turn begins in a thread that is.
    archived: Option<bool>,
}

async fn list(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, Problem>,
    WithRejection(Query(query), _): WithRejection<Query<ListQuery>, Problem>,
) -> Result<Json<Threads>, Problem> {
    let limit = limit(query.limit)?;
    let (tenant, owner) = (&bearer.tenant, &bearer.identity.id);
    let page = state.engine.threads(tenant, owner, query.after, limit).await?;
    // A page has fewer then; from where to go on is the same.
    let opened = page.threads.into_iter().filter(|thread| bearer.may_use(&thread.agent_id));
    let threads = opened.map(Thread::of).collect();
    Ok(Json(Threads { threads, next: page.next }))
}

async fn show(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, Problem>,
    WithRejection(Path(id), _): WithRejection<Path<String>, Problem>,
    WithRejection(Query(query), _): WithRejection<Query<ShowQuery>, Problem>,
) -> Result<Json<Page>, Problem> {
    let limit = limit(query.limit)?;
    let session = require(&state, &bearer, &id).await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Shelved::new(&state, session).page(query.before.as_deref(), limit).await.map(Json)
}

async fn change(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, Problem>,
    WithRejection(Path(id), _): WithRejection<Path<String>, Problem>,
    body: Result<Body, ApiError>,
) -> Result<Json<Page>, Problem> {
    let Body(body) = body.map_err(|error| unread(&error))?;
    let change: ChangeBody = parse(&body, state.body).map_err(|error| malformed(&error))?;
    if change.title.as_ref().is_some_and(|title| title.len() > TITLE) {
        return Err(Problem::invalid(format!("`/title`: it has {TITLE} bytes at most")));
    }
    let session = require(&state, &bearer, &id).await?;
    let by = frontend(&bearer);
    if let Some(title) = change.title {
        state.engine.rename(by.clone(), &id, title).await?;
    }
    if let Some(archived) = change.archived {
        state.engine.archive(by, &id, archived).await?;
    }
    Shelved::new(&state, session).page(None, 1).await.map(Json)
}

async fn require(state: &State, bearer: &Bearer, id: &str) -> Result<Ref<SessionObject>, Problem> {
    let session = state.visible(&Asker::client(bearer), id).await?;
    session.ok_or_else(|| Problem::no_thread(id))
}

fn limit(asked: Option<u32>) -> Result<u32, Problem> {
    let limit = asked.unwrap_or(PAGE);
    if (1..=MOST).contains(&limit) {
        return Ok(limit);
    }
    Err(Problem::invalid(format!("`limit` is a number from 1 to {MOST}")))
}

fn malformed(error: &ParseError) -> Problem {
    Problem::invalid(error.to_string())
}
