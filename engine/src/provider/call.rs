//! One call of a model over HTTP, whatever the provider.

use quixos_protocol::native::{self, Stream};
use quixos_protocol::{Format, LlmRequest, LlmResponse};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};

use super::{Api, ProviderError, failure};
use crate::http::{Body, Events, HttpClient, describe, is_stream};
use crate::live::Sink;
use crate::trace::{self, TraceContext};

/// Bytes of a failure's body that are looked at.
const FAILURE_BYTES: usize = 1 << 20;

/// How a provider is called.
pub(super) struct Call<'c> {
    pub(super) client: &'c HttpClient,
    pub(super) api: &'c Api,
    pub(super) format: Format,
    /// Where, below the address of the API.
    pub(super) path: &'c [&'c str],
    /// What opens the API, and what else this provider wants to be told.
    pub(super) headers: HeaderMap,
}

impl Call<'_> {
    /// Makes the call. Without `stream`, a reply that is streamed all the same is not passed on.
    pub(super) async fn make(
        self,
        request: &LlmRequest,
        stream: bool,
        sink: &Sink,
    ) -> Result<LlmResponse, ProviderError> {
        let response = self.send(&self.body(request, stream), sink.trace()).await?;
        sink.alive();
        let limits = self.api.limits;
        let status = response.status();
        let mut reply = if !status.is_success() {
            let headers = response.headers().clone();
            let body = Body::new(response, FAILURE_BYTES, limits, sink).whole().await;
            let body = body.unwrap_or_default();
            let body = self.api.without_key(&String::from_utf8_lossy(&body));
            return Err(failure::of_status(status, &headers, &body));
        } else if is_stream(&response) {
            let body = Body::new(response, limits.stream, limits, sink);
            self.streamed(Events::new(body, limits.event), stream.then_some(sink)).await?
        } else {
            let body = Body::new(response, limits.answer, limits, sink).whole().await;
            let body = body.map_err(|fault| failure::of_body(&fault))?;
            let body = serde_json::from_slice(&body).map_err(|error| failure::no_json(&error))?;
            native::response(self.format, &body)
                .map_err(|error| failure::of_reply(&error, self.api))?
        };
        self.api.prices.charge(self.format, &request.model, &mut reply);
        Ok(reply)
    }

    fn body(&self, request: &LlmRequest, stream: bool) -> Value {
        let mut body = native::request(self.format, request);
        if let Value::Object(fields) = &mut body
            && stream
        {
            fields.insert("stream".to_owned(), true.into());
            if self.format == Format::Openai {
                // Otherwise a stream does not say what it used.
                fields.insert("stream_options".to_owned(), json!({"include_usage": true}));
            }
        }
        body
    }

    async fn send(
        &self,
        body: &Value,
        trace: Option<TraceContext>,
    ) -> Result<reqwest::Response, ProviderError> {
        let mut request = self
            .client
            .post(self.api.url(self.path))
            .headers(self.api.headers.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json");
        if let Some(trace) = trace {
            request = request.header(trace::HEADER, trace.to_string());
        }
        let sent = request.body(body.to_string()).send().await;
        sent.map_err(|error| failure::unreachable(&describe(error)))
    }

    async fn streamed(
        &self,
        mut events: Events<'_>,
        sink: Option<&Sink>,
    ) -> Result<LlmResponse, ProviderError> {
        let mut reply = Stream::new(self.format);
        while !reply.is_over() {
            let event = events.next().await.map_err(|fault| failure::of_body(&fault))?;
            let Some(event) = event else { break };
            let delta = reply.data(&event.data);
            if let (Some(delta), Some(sink)) = (delta, sink) {
                sink.delta(delta);
            }
        }
        reply.finish().map_err(|error| failure::of_reply(&error, self.api))
    }
}
