//! The door for public streams: the Durable Streams protocol, as it is published.
//!
//! A stream is an object of `quixos_streams`, which has all rules of it; here requests are read,
//! its refusals become statuses, and readers wait. Who asks has a space of streams of their own
//! (`space.rs`). Below `objects/`, a program reads any stream of the runtime in the same way.

mod body;
mod cursor;
mod failure;
mod frames;
mod headers;
mod live;
mod objects;
mod page;
mod query;
mod read;
mod space;
mod write;

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderValue, Method, header};
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::get;
use quixos_runtime::{Ref, Session};
use quixos_session::sessions::SessionRegistryObject;
use quixos_streams::Refusal;
use quixos_streams::streams::{StreamObject, StreamRegistry, StreamRegistryObject};
use tokio::sync::Semaphore;
use tower_http::cors::{Any, CorsLayer};

use crate::config::Durable;
use crate::durable::failure::Failure;
use crate::routes::shared;
use crate::state::State;

/// What all routes of this door share.
pub(crate) struct Door {
    registry: Ref<StreamRegistryObject>,
    sessions: Ref<SessionRegistryObject>,
    config: Durable,
    /// Readers that may still begin to wait.
    readers: Arc<Semaphore>,
}

impl Door {
    pub(crate) fn new(
        registry: Ref<StreamRegistryObject>,
        sessions: Ref<SessionRegistryObject>,
        config: Durable,
    ) -> Self {
        let readers = Arc::new(Semaphore::new(config.readers));
        Self { registry, sessions, config, readers }
    }
}

/// Where the routes are.
const PREFIX: &str = "/v1/stream/";

/// Returns the routes. Pages of other hosts may use them: a token is sent along with each request
/// and never by itself.
pub(crate) fn routes() -> Router<Arc<State>> {
    let cors = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::HEAD, Method::PUT, Method::POST, Method::DELETE])
        .allow_headers(headers::ALLOWED)
        .expose_headers(headers::EXPOSED);
    let methods = get(read::read)
        .head(read::look)
        .put(write::create)
        .post(write::append)
        .delete(write::delete);
    shared(Router::new().route("/v1/stream/{*path}", methods), cors).layer(map_response(guarded))
}

/// Says what keeps a browser from taking content for something else.
async fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(headers::RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    response
}

/// Finds a stream by its key.
async fn find(state: &State, by: &Session, key: &str) -> Result<Ref<StreamObject>, Failure> {
    let found = StreamRegistry::on(by, state.durable.registry).streams_at(key).await?;
    found.first().copied().ok_or_else(|| Refusal::Absent.into())
}
