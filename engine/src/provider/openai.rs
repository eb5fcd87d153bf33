//! Chat Completions: the provider that gave the form its name, and every server that speaks it.

use async_trait::async_trait;
use quixos_protocol::{Format, LlmRequest, LlmResponse};
use reqwest::header::{AUTHORIZATION, HeaderMap};

use super::call::Call;
use super::{Api, Provider, ProviderError};
use crate::http::HttpClient;
use crate::live::Sink;

/// A server of Chat Completions.
#[derive(Clone, Debug)]
pub struct OpenAi {
    client: HttpClient,
    api: Api,
}

impl OpenAi {
    /// The address of the provider itself.
    pub const BASE_URL: &'static str = "https://api.openai.com/v1";

    /// Returns the provider behind an API. Its address ends where `/chat/completions` begins.
    #[must_use]
    pub fn new(client: HttpClient, api: Api) -> Self {
        Self { client, api }
    }
}

#[async_trait]
impl Provider for OpenAi {
    async fn complete(
        &self,
        request: &LlmRequest,
        stream: bool,
        sink: &Sink,
    ) -> Result<LlmResponse, ProviderError> {
        let opening = self.api.opening("Bearer ").map(|key| (AUTHORIZATION, key));
        let call = Call {
            client: &self.client,
            api: &self.api,
            format: Format::Openai,
            path: &["chat", "completions"],
            headers: HeaderMap::from_iter(opening),
        };
        call.make(request, stream, sink).await
    }
}
