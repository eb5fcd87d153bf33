//! The client that everything goes out by.

use std::error::Error;
use std::time::Duration;

use reqwest::redirect::Policy;

use super::tls;

/// How long an unused connection is kept: less than the five seconds after which common servers
/// close theirs, so that nothing is sent into a connection that is being closed.
const KEEP: Duration = Duration::from_secs(4);

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

    pub(crate) fn post(&self, url: reqwest::Url) -> reqwest::RequestBuilder {
        self.0.post(url)
    }
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
