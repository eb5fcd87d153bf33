//! Messages: the provider that gave the form its name, and every server that speaks it.

use async_trait::async_trait;
use quixos_protocol::{Format, LlmRequest, LlmResponse};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::call::Call;
use super::{Api, Provider, ProviderError};
use crate::http::HttpClient;
use crate::live::Sink;

const KEY: HeaderName = HeaderName::from_static("x-api-key");
const VERSION: HeaderName = HeaderName::from_static("anthropic-version");

/// A server of Messages.
#[derive(Clone, Debug)]
pub struct Anthropic {
    client: HttpClient,
    api: Api,
}

impl Anthropic {
    /// The address of the provider itself.
    pub const BASE_URL: &'static str = "https://api.anthropic.com";

    /// Returns the provider behind an API. Its address ends where `/v1/messages` begins.
    #[must_use]
    pub fn new(client: HttpClient, api: Api) -> Self {
        Self { client, api }
    }
}

#[async_trait]
impl Provider for Anthropic {
    async fn complete(
        &self,
        request: &LlmRequest,
        stream: bool,
        sink: &Sink,
    ) -> Result<LlmResponse, ProviderError> {
        let mut headers = HeaderMap::new();
        // The version of the form, unless the API is set to another one.
        if !self.api.headers.contains_key(VERSION) {
            headers.insert(VERSION, HeaderValue::from_static("2023-06-01"));
        }
        headers.extend(self.api.opening("").map(|key| (KEY, key)));
        let call = Call {
            client: &self.client,
            api: &self.api,
            format: Format::Anthropic,
            path: &["v1", "messages"],
            headers,
        };
        call.make(request, stream, sink).await
    }
}
