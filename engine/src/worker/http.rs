//! A worker behind an address.
//!
//! A delivery is one POST of the decision's bytes as they were given, signed if the worker shares a
//! secret with us. The answer is a JSON body, or a stream of events that ends with the answer.
//!
//! | what comes | the delivery |
//! | --- | --- |
//! | no connection, a broken or silent answer, 5xx, a stream without its last frame | may succeed later |
//! | a redirect, 4xx, nothing, no JSON, no decision, an unknown event, too much | will not |
//! | `{"error": …}` with status 200 | fails with what the worker says |

mod answer;
mod frames;
mod signature;

use async_trait::async_trait;
use quixos_protocol::Trigger;
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::{Delivery, DeliveryError, Worker};
use crate::http::{Body, BodyFault, Events, HttpClient, Limits, describe, is_stream};
use crate::live::Sink;

/// Where a worker is, and how it is spoken to.
#[derive(Clone, Debug)]
pub struct Endpoint {
    url: Url,
    secret: Option<SecretString>,
    signature_header: HeaderName,
    limits: Limits,
}

impl Endpoint {
    /// The header that workers of this protocol look for the signature in.
    pub const SIGNATURE_HEADER: &'static str = "x-substructure-signature";

    /// Returns a worker's endpoint at an address, without a secret.
    ///
    /// # Errors
    ///
    /// It is no address of HTTP.
    pub fn new(url: &str) -> Result<Self, EndpointError> {
        let is_http = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        let url = Url::parse(url).ok().filter(is_http).ok_or(EndpointError::Url)?;
        let signature_header = HeaderName::from_static(Self::SIGNATURE_HEADER);
        Ok(Self { url, secret: None, signature_header, limits: Limits::WORKER })
    }

    /// Signs what is sent with a secret. An empty one signs nothing, and is refused.
    ///
    /// # Errors
    ///
    /// The secret is empty.
    pub fn signed(self, secret: SecretString) -> Result<Self, EndpointError> {
        if secret.expose_secret().is_empty() {
            return Err(EndpointError::Secret);
        }
        Ok(Self { secret: Some(secret), ..self })
    }

    /// Puts the signature into another header.
    ///
    /// # Errors
    ///
    /// It is no name of a header.
    pub fn signature_header(self, name: &str) -> Result<Self, EndpointError> {
        let signature_header = name.parse().map_err(|_| EndpointError::Header)?;
        Ok(Self { signature_header, ..self })
    }

    /// Takes other amounts of answers.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
}

/// Why a worker cannot be spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The address.
    #[error("the address of a worker begins with `http://` or `https://` and names a host")]
    Url,
    /// The secret.
    #[error("the secret of a worker is empty")]
    Secret,
    /// The header of the signature.
    #[error("no header can have this name")]
    Header,
}

/// A worker that speaks HTTP.
#[derive(Clone, Debug)]
pub struct HttpWorker {
    client: HttpClient,
    endpoint: Endpoint,
}

impl HttpWorker {
    /// Returns the worker at an endpoint.
    #[must_use]
    pub fn new(client: HttpClient, endpoint: Endpoint) -> Self {
        Self { client, endpoint }
    }

    async fn send(&self, delivery: &Delivery<'_>) -> Result<reqwest::Response, DeliveryError> {
        let body = delivery.body.to_owned();
        let mut request = self
            .client
            .post(self.endpoint.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json");
        // A trace that is no header is not worth a decision.
        if let Ok(trace) = HeaderValue::from_str(delivery.traceparent)
            && !trace.is_empty()
        {
            request = request.header("traceparent", trace);
        }
        if let Some(secret) = &self.endpoint.secret {
            let signature = signature::of(secret, body.as_bytes());
            request = request.header(&self.endpoint.signature_header, signature);
        }
        let sent = request.body(body).send().await;
        sent.map_err(|error| again(format!("the worker cannot be reached: {}", describe(error))))
    }
}

#[async_trait]
impl Worker for HttpWorker {
    async fn decide(&self, delivery: Delivery<'_>, sink: &Sink) -> Result<Value, DeliveryError> {
        let response = self.send(&delivery).await?;
        sink.alive();
        let limits = self.endpoint.limits;
        let status = response.status();
        if !status.is_success() {
            let body = Body::new(response, limits.answer, limits, sink).whole().await;
            return Err(answer::of_status(status, &body.unwrap_or_default()));
        }
        if is_stream(&response) {
            let body = Body::new(response, limits.stream, limits, sink);
            let events = Events::new(body, limits.event);
            return frames::read(events, asked_to_stream(&delivery.request.trigger), sink).await;
        }
        let body = Body::new(response, limits.answer, limits, sink).whole().await;
        answer::of_body(&body.map_err(broken)?)
    }
}

/// Returns in which form deltas may come: none if nobody asked for any.
fn asked_to_stream(trigger: &Trigger) -> Option<frames::Form> {
    match trigger {
        Trigger::LlmExecute(call) if call.stream => Some(frames::Form::of(call.format)),
        Trigger::LlmExecute(_)
        | Trigger::SessionStart
        | Trigger::ClientMessages(_)
        | Trigger::ClientAction(_)
        | Trigger::ToolExecute(_)
        | Trigger::ToolFinished(_)
        | Trigger::LlmFinished(_)
        | Trigger::SubAgentFinished(_)
        | Trigger::InterruptResumed(_) => None,
    }
}

fn again(message: String) -> DeliveryError {
    DeliveryError { message, retryable: true }
}

fn never(message: impl Into<String>) -> DeliveryError {
    DeliveryError { message: message.into(), retryable: false }
}

fn broken(fault: BodyFault) -> DeliveryError {
    let retryable = fault.is_retryable();
    DeliveryError { message: format!("the worker's answer: {fault}"), retryable }
}
