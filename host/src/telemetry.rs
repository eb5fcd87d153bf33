//! Traces: from a client's request to the operations, deliveries and model calls that it leads to,
//! sent to an OpenTelemetry collector (OTLP over HTTP) if one is named.
//!
//! Spans are those of `tracing` in our own crates, at `info` and above. They have ids, names and
//! numbers as attributes, and never a text of a conversation or a secret. Nothing is global: a
//! host's spans go through [`Telemetry::layer`] to its own exporter. Beside what the config says,
//! the exporter minds the standard variables (`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_TRACES_SAMPLER`,
//! `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_BSP_…`).
//!
//! Whether or not spans are exported, a client's `traceparent` is passed on ([`place`]).

mod sender;

use std::sync::Arc;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName};
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use quixos_engine::http::{ClientError, HttpClient};
use quixos_engine::trace::{self, TraceContext, Tracer};
use tracing::{Instrument as _, Level, Span, Subscriber, field, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use self::sender::Sender;

/// What spans are called that our crates make.
const TARGET: &str = "quixos";
/// The variables that name a collector, the one for traces first.
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// The variable that says what a service is called.
const SERVICE: &str = "OTEL_SERVICE_NAME";
/// The variable that turns all of it off.
const DISABLED: &str = "OTEL_SDK_DISABLED";
/// Where a collector takes spans, below its address.
const PATH: &str = "v1/traces";

/// Where spans go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetryConfig {
    /// The address that takes spans: `http://127.0.0.1:4318/v1/traces`.
    pub endpoint: String,
    /// What this host is called there.
    pub service: String,
}

impl TelemetryConfig {
    /// Returns where spans go, by what a file says and by the environment, which counts more; none
    /// if neither names a collector.
    pub fn of(
        collector: Option<String>,
        service: Option<String>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        if variable(DISABLED).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return None;
        }
        let below = |collector: String| format!("{}/{PATH}", collector.trim_end_matches('/'));
        // The one for traces is the whole address.
        let endpoint =
            variable(TRACES_ENDPOINT).or_else(|| variable(ENDPOINT).or(collector).map(below))?;
        let service = variable(SERVICE).or(service).unwrap_or_else(|| "quixos".to_owned());
        Some(Self { endpoint, service })
    }
}

/// Exports spans, until it is stopped.
#[derive(Debug)]
pub struct Telemetry {
    provider: SdkTracerProvider,
}

/// Why spans are not exported.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// Nothing can be sent.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// There is no exporter.
    #[error("spans cannot be exported")]
    Exporter(#[from] opentelemetry_otlp::ExporterBuildError),
    /// The last spans did not get out.
    #[error("the last spans were not exported")]
    Stop(#[source] opentelemetry_sdk::error::OTelSdkError),
}

impl Telemetry {
    /// Starts to export, on the runtime of tokio that this is called in.
    ///
    /// # Errors
    ///
    /// The address is none, or nothing can be sent.
    pub fn start(config: &TelemetryConfig) -> Result<Self, TelemetryError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Sender::new(HttpClient::new(HttpClient::CONNECT_TIMEOUT)?))
            .with_endpoint(&config.endpoint)
            .build()?;
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder()
            .with_service_name(config.service.clone())
            .with_attribute(version)
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource)
            .build();
        Ok(Self { provider })
    }

    /// Returns what takes our spans from a subscriber.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        let ours = filter_fn(|metadata| {
            let is_ours = metadata.target().starts_with(TARGET);
            is_ours && metadata.is_span() && *metadata.level() <= Level::INFO
        });
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(TARGET))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_filter(ours)
    }

    /// Sends what is left, and ends.
    ///
    /// # Errors
    ///
    /// The collector does not take it.
    pub async fn stop(self) -> Result<(), TelemetryError> {
        // It waits for a thread that waits for this runtime.
        let stopped = tokio::task::spawn_blocking(move || self.provider.shutdown()).await;
        stopped.unwrap_or(Ok(())).map_err(TelemetryError::Stop)
    }
}

/// The places of spans, as the exporter knows them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spans;

impl Tracer for Spans {
    fn adopt(&self, span: &Span, parent: TraceContext) {
        let flags = if parent.is_sampled() { TraceFlags::SAMPLED } else { TraceFlags::NOT_SAMPLED };
        let trace = TraceId::from_bytes(parent.trace().to_be_bytes());
        let place = SpanId::from_bytes(parent.span().to_be_bytes());
        let parent = SpanContext::new(trace, place, flags, true, TraceState::NONE);
        // Nobody exports it: then it has no parent to know.
        let _ = span.set_parent(Context::new().with_remote_span_context(parent));
    }

    fn place(&self, span: &Span) -> Option<TraceContext> {
        let context = span.context();
        let span = context.span();
        let context = span.span_context();
        let trace = u128::from_be_bytes(context.trace_id().to_bytes());
        let place = u64::from_be_bytes(context.span_id().to_bytes());
        TraceContext::new(trace, place, context.is_sampled()).ok()
    }
}

/// The header of what vendors add to a place. It is let in and not read.
pub(crate) const STATE_HEADER: HeaderName = HeaderName::from_static("tracestate");

/// Answers a request in a span of its own, below the place that the client says.
pub(crate) async fn place(request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or("none", MatchedPath::as_str);
    let span = info_span!(
        parent: None,
        "request",
        otel.name = %format_args!("{} {route}", request.method()),
        otel.kind = "server",
        otel.status_code = field::Empty,
        http.request.method = %request.method(),
        http.route = route,
        http.response.status_code = field::Empty,
    );
    let said = said(request.headers());
    if let Some(said) = said {
        Spans.adopt(&span, said);
    }
    let place = Spans.place(&span).or(said);
    let response = trace::within(place, next.run(request)).instrument(span.clone()).await;
    span.record("http.response.status_code", response.status().as_u16());
    if response.status().is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    response
}

/// Returns the place that a client says. Two of them say nothing.
fn said(headers: &HeaderMap) -> Option<TraceContext> {
    let mut said = headers.get_all(trace::HEADER).iter();
    let (one, none) = (said.next()?, said.next());
    one.to_str().ok().filter(|_| none.is_none())?.parse().ok()
}

/// Returns the exporter's view of spans, for an engine.
pub(crate) fn tracer() -> Arc<dyn Tracer> {
    Arc::new(Spans)
}
