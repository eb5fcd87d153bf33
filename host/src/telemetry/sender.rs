//! How spans get to a collector: by the client that everything goes out by.

use std::fmt;

use async_trait::async_trait;
use axum::body::Bytes;
use axum::http::{Request, Response};
use opentelemetry_http::HttpError;
use quixos_engine::http::HttpClient;
use tokio::runtime::Handle;

/// Sends on a runtime of tokio, whoever waits for it: spans are exported on a thread of their own.
pub(super) struct Sender {
    client: HttpClient,
    runtime: Handle,
}

impl Sender {
    pub(super) fn new(client: HttpClient) -> Self {
        Self { client, runtime: Handle::current() }
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender")
    }
}

#[async_trait]
impl opentelemetry_http::HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move { client.send(request).await });
        Ok(sent.await??)
    }
}
