//! What goes over the wire: requests by route, connections, streams.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use chrono::{DateTime, Utc};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::{Names, seconds};
use crate::state::State;

/// What goes over the wire. Clones count the same.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    requests: Family<Asked, Counter>,
    request_seconds: Family<Route, Histogram, fn() -> Histogram>,
    streams: Family<Kind, Gauge>,
    stream_seconds: Histogram,
    connections: Gauge,
    turned_away: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

impl Traffic {
    pub(super) fn new(names: &mut Names) -> Self {
        let help = "Requests over HTTP, by route and status";
        let requests = names.put("http_requests", help, Family::default());
        let by = Family::new_with_constructor(seconds as fn() -> Histogram);
        let help = "How long it took until an answer began";
        let request_seconds = names.put("http_request_seconds", help, by);
        let help = "Streams that are read now";
        let streams = names.put("streams_open", help, Family::default());
        let help =
            "How long after an event of a turn or a session was committed a reader was handed it";
        let stream_seconds = names.put("stream_lag_seconds", help, seconds());
        let help = "Connections that are open";
        let connections = names.put("http_connections", help, Gauge::default());
        let help = "Connections that were turned away since there were too many";
        let turned_away = names.put("http_connections_refused", help, Counter::default());
        Self { requests, request_seconds, streams, stream_seconds, connections, turned_away }
    }

    /// Counts a stream for as long as what is returned lives. Which kind: `events`, say.
    pub(crate) fn stream(&self, kind: &'static str) -> Open {
        Open::new(self.streams.get_or_create_owned(&Kind { kind }))
    }

    /// Counts a connection for as long as what is returned lives.
    pub(crate) fn connection(&self) -> Open {
        Open::new(self.connections.clone())
    }

    pub(crate) fn turned_away(&self) {
        self.turned_away.inc();
    }

    /// Measures how far behind a reader is that is handed an event as it comes.
    pub(crate) fn handed(&self, committed: DateTime<Utc>, now: DateTime<Utc>) {
        let lag = now.signed_duration_since(committed).to_std().unwrap_or_default();
        self.stream_seconds.observe(lag.as_secs_f64());
    }
}

/// Something open that is counted, until it is dropped.
#[derive(Debug)]
pub(crate) struct Open(Gauge);

impl Open {
    fn new(gauge: Gauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Counts a request by the route that takes it: what is no route is one, however it was written.
pub(crate) async fn count(
    state: axum::extract::State<Arc<State>>,
    request: Request,
    next: Next,
) -> Response {
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or("none", MatchedPath::as_str).to_owned();
    let method = known(request.method());
    let begun = Instant::now();
    let response = next.run(request).await;
    let traffic = &state.metrics.traffic;
    let took = begun.elapsed().as_secs_f64();
    traffic.request_seconds.get_or_create(&Route { route: route.clone() }).observe(took);
    let status = response.status().as_u16();
    traffic.requests.get_or_create(&Asked { method, route, status }).inc();
    response
}

/// Returns the name of a method; anybody may make up others than these.
fn known(method: &Method) -> &'static str {
    const KNOWN: [(&Method, &str); 7] = [
        (&Method::GET, "GET"),
        (&Method::POST, "POST"),
        (&Method::PUT, "PUT"),
        (&Method::PATCH, "PATCH"),
        (&Method::DELETE, "DELETE"),
        (&Method::HEAD, "HEAD"),
        (&Method::OPTIONS, "OPTIONS"),
    ];
    KNOWN.iter().find(|(known, _)| *known == method).map_or("other", |(_, name)| name)
}
