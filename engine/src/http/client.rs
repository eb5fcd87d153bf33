//! The client that everything goes out by.

use std::error::Error;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::redirect::Policy;

use super::tls;

/// How long an unused connection is kept: less than the five seconds after which common servers
/// close theirs, so that nothing is sent into a connection that is being closed.
const KEEP: Duration = Duration::from_secs(4);

/// How long [`HttpClient::send`] waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of an answer that it takes.
const ANSWER_BYTES: usize = 1 << 20;

/// Connections to workers and providers. Clones share them.
#[derive(Clone, Debug)]
pub struct HttpClient(reqwest::Client);

impl HttpClient {
    /// How long a connection may take to be made where nobody says otherwise.
    pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

    /// Returns a client without connections.
    ///
    /// It follows no redirect: what is sent is signed or bears a key, and is for one host alone.
    ///
    /// # Errors
    ///
    /// TLS is not to be had.
    pub fn new(connect_timeout: Duration) -> Result<Self, ClientError> {
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::config()?)
            .redirect(Policy::none())
            .connect_timeout(connect_timeout)
            .pool_idle_timeout(KEEP)
            .tcp_nodelay(true)
            .user_agent(concat!("quixos/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self(client))
    }

    /// Returns the client below, for whoever speaks otherwise than the engine does.
    #[must_use]
    pub fn inner(&self) -> &reqwest::Client {
        &self.0
    }

    /// Sends a request that is neither a decision nor a model call, and returns its answer.
    ///
    /// # Errors
    ///
    /// There is none within ten seconds, or it has more than 1 MiB.
    pub async fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, SendError> {
        let sent = tokio::time::timeout(PATIENCE, self.answered(request)).await;
        sent.map_err(|_| SendError::Late)?
    }

    async fn answered(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, SendError> {
        let failed = |error| SendError::Failed(describe(error));
        let request = reqwest::Request::try_from(request).map_err(failed)?;
        let mut response = self.0.execute(request).await.map_err(failed)?;
        let (mut answer, _) = http::Response::new(()).into_parts();
        answer.status = response.status();
        answer.headers = std::mem::take(response.headers_mut());
        let mut body = BytesMut::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            if body.len() + piece.len() > ANSWER_BYTES {
                return Err(SendError::TooLarge);
            }
            body.extend_from_slice(&piece);
        }
        Ok(http::Response::from_parts(answer, body.freeze()))
    }

    pub(crate) fn post(&self, url: reqwest::Url) -> reqwest::RequestBuilder {
        self.0.post(url)
    }
}

/// Why something that was sent has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// It was not sent, or not answered.
    #[error("{0}")]
    Failed(String),
    /// The answer took too long.
    #[error("no answer came in time")]
    Late,
    /// The answer is too large.
    #[error("the answer is too large")]
    TooLarge,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[from] rustls::Error),
    /// The client cannot be made.
    #[error("the HTTP client cannot be made")]
    Client(#[from] reqwest::Error),
}

/// Returns what went wrong, with its causes and without the address, which may have a secret in it.
pub(crate) fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
