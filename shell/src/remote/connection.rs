//! To a host's operator door: where it is, the token, and what it says when it says no.

use std::fs;
use std::path::PathBuf;

use quixos_host::HttpClient;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use serde_json::Value;

use crate::cli::Globals;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// The variable of the environment that has the token.
const TOKEN: &str = "QUIXOS_OPERATOR_TOKEN";

/// To which host, and with which token.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConnectArgs {
    /// Work in the store of a host that serves it, by its operator's address, like
    /// http://127.0.0.1:8081; the token is in QUIXOS_OPERATOR_TOKEN or in a file.
    #[arg(long, value_name = "URL", value_hint = clap::ValueHint::Url)]
    pub connect: Option<String>,
    /// A file with the token, instead of QUIXOS_OPERATOR_TOKEN.
    #[arg(long, value_name = "FILE", requires = "connect")]
    pub token_file: Option<PathBuf>,
}

/// A way to an operator's door.
pub struct Connection {
    http: reqwest::Client,
    base: Url,
    token: HeaderValue,
    operator: HeaderValue,
    pub(super) runtime: tokio::runtime::Runtime,
}

impl ConnectArgs {
    /// Returns the way to the host that is asked for, if one is. Nothing is sent yet.
    ///
    /// # Errors
    /// The address or the token is none.
    pub fn connection(
        &self,
        globals: &Globals,
        output: &mut Output,
    ) -> Result<Option<Connection>, Failure> {
        let Some(url) = &self.connect else { return Ok(None) };
        if globals.chosen_store.is_some() {
            let failure = Failure::usage("`--connect` and `--store` name two stores");
            return Err(failure.help("a host has the store that its config names"));
        }
        let token = match &self.token_file {
            Some(path) => {
                fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?
            }
            None => std::env::var(TOKEN).unwrap_or_default(),
        };
        if token.trim().is_empty() {
            let failure = Failure::usage("there is no token for the host");
            return Err(failure.help(format!("put it into {TOKEN}, or name a `--token-file FILE`")));
        }
        let connection = Connection::new(url, token.trim(), &globals.actor())?;
        if connection.is_open_to_others() {
            output.remark("the token goes over the network unencrypted: use https, or a tunnel");
        }
        Ok(Some(connection))
    }
}

impl Connection {
    /// Returns a way to a host.
    ///
    /// # Errors
    /// The address or the token is none; nothing can be sent.
    pub fn new(url: &str, token: &str, operator: &str) -> Result<Self, Failure> {
        let base = Url::parse(url).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
        let base = base.ok_or_else(|| {
            let failure = Failure::usage(format!("`{url}` is no address of a host"));
            failure.help("it is like `http://127.0.0.1:8081`")
        })?;
        let mut token = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| Failure::usage("the token has letters that no token has"))?;
        token.set_sensitive(true);
        let operator = HeaderValue::from_bytes(operator.as_bytes())
            .map_err(|_| Failure::usage("the name of who acts has letters that no name has"))?;
        let http = HttpClient::new(HttpClient::CONNECT_TIMEOUT)
            .map_err(|error| Failure::new(Exit::Io, error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| Failure::new(Exit::Io, format!("cannot start: {error}")))?;
        Ok(Self { http: http.inner().clone(), base, token, operator, runtime })
    }

    /// Says whether what is sent can be read on its way.
    fn is_open_to_others(&self) -> bool {
        let is_here = match self.base.host_str() {
            Some("localhost" | "[::1]") => true,
            Some(host) => host.starts_with("127."),
            None => false,
        };
        self.base.scheme() == "http" && !is_here
    }

    /// Gets something.
    ///
    /// # Errors
    /// The host is not reached, or says no.
    pub(crate) async fn get(&self, path: &str) -> Result<Response, Failure> {
        self.send(self.http.get(self.url(path))).await
    }

    /// Gets something large, piece by piece, whole or not.
    ///
    /// # Errors
    /// The host is not reached, or says no; what comes is not all; whoever takes it fails.
    pub(crate) fn fetch(
        &self,
        path: &str,
        mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.runtime.block_on(async {
            let mut response = self.get(path).await?;
            loop {
                let piece = response.chunk().await.map_err(|error| {
                    let message = format!("the host went away: {}", causes(&error));
                    Failure::new(Exit::Unavailable, message).help("nothing was kept; try again")
                })?;
                match piece {
                    Some(piece) => take(&piece)?,
                    None => return Ok(()),
                }
            }
        })
    }

    /// Posts something.
    ///
    /// # Errors
    /// The host is not reached, or says no.
    pub(crate) async fn post(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Response, Failure> {
        let body = serde_json::to_vec(body).map_err(|error| Failure::usage(error.to_string()))?;
        let request = self.http.post(self.url(path)).header(CONTENT_TYPE, "application/json");
        self.send(request.body(body)).await
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
        url
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let request = request
            .header(AUTHORIZATION, self.token.clone())
            .header(HeaderName::from_static("x-operator"), self.operator.clone());
        let response = request.send().await.map_err(|error| self.unreached(&error))?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(self.refused(response).await)
        }
    }

    fn unreached(&self, error: &reqwest::Error) -> Failure {
        let failure = Failure::new(
            Exit::Unavailable,
            format!("cannot reach {}: {}", self.base, causes(error)),
        );
        failure.help(
            "see that the host runs, and that this is its operator's address, not its clients'",
        )
    }

    /// Returns what a host's no means here.
    async fn refused(&self, response: Response) -> Failure {
        let status = response.status();
        let body = response.text().await.unwrap_or_default();
        let said: Value = serde_json::from_str(&body).unwrap_or_default();
        let why = said["error"].as_str().unwrap_or("it does not say why").to_owned();
        match status {
            StatusCode::UNAUTHORIZED => {
                let failure = Failure::new(Exit::Capability, "the host does not take this token");
                failure.help(format!(
                    "the host's config says where its `[operator]` token is; put it into {TOKEN}"
                ))
            }
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
                let failure = Failure::new(
                    Exit::Mismatch,
                    format!("{} is not a host's operator door", self.base),
                );
                failure.help("`quixos serve` prints where operators are let in")
            }
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Failure::usage(why),
            StatusCode::PAYLOAD_TOO_LARGE => Failure::new(Exit::Limit, why),
            StatusCode::SERVICE_UNAVAILABLE => {
                let failure = Failure::new(Exit::Unavailable, why);
                failure.help("try again later")
            }
            _ => Failure::new(Exit::Io, format!("the host answers {status}: {why}")),
        }
    }
}

/// What went wrong, with its causes and without the address.
pub(super) fn causes(error: &reqwest::Error) -> String {
    let mut cause = std::error::Error::source(error);
    let mut texts = Vec::new();
    while let Some(error) = cause {
        texts.push(error.to_string());
        cause = error.source();
    }
    // The last one is what the system says.
    texts.pop().unwrap_or_else(|| "it breaks off".to_owned())
}
