//! `/operator/shell` and `/operator/complete`: the commands of the shell, run in the host.
//!
//! An answer is lines of JSON, each said as soon as it is known: what commands answer, what they
//! ask, why one failed, and at the end what a shell's process would have ended with. Whoever goes
//! away ends what waits; what was done is done.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body as Answer, Bytes};
use axum::extract::Extension;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{BODY, Inside, OperatorName, Shared};
use crate::error::ApiError;
use crate::routes::Body;

/// Lines that may wait for a reader; whoever says more waits, too.
const BACKLOG: usize = 64;
/// Bytes of the name of a shell.
const LONGEST: usize = 128;
/// How often a line shows that the host lives while nothing happens.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The commands of the shell, as a host runs them. Each call has a thread of its own.
pub trait Commands: Send + Sync {
    /// Returns what a shell far away has to know before it begins.
    fn greeting(&self) -> Value;

    /// Runs commands, and says what comes of them, line by line.
    fn run(&self, by: &OperatorName, body: &CommandBody, lines: &Lines);

    /// Returns what may follow where the cursor stands.
    fn complete(&self, by: &OperatorName, body: &CompleteBody) -> Value;
}

/// Commands to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandBody {
    /// The commands, as a script of the shell has them.
    pub text: String,
    /// Whose variables they see and set, by any name; without one, those of nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    /// Whether what would be asked is answered with yes.
    #[serde(default)]
    pub yes: bool,
    /// The byte of the text where to begin, for whoever goes on behind a question.
    #[serde(default)]
    pub from: usize,
    /// Whether what the first of these commands asks is answered with yes.
    #[serde(default)]
    pub confirmed: bool,
    /// How answers are told.
    #[serde(default)]
    pub format: Form,
}

/// How answers are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// As values.
    #[default]
    Json,
    /// As values, each with the text that a person is shown.
    Text,
    /// As values, each with the parts that a shell lays out for a person.
    Blocks,
}

/// A text that is being typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompleteBody {
    /// The text.
    pub text: String,
    /// The byte of it where the cursor stands; without one, the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// Whose variables are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
}

/// Where the lines of an answer are said.
#[derive(Clone, Debug)]
pub struct Lines {
    to: mpsc::Sender<Bytes>,
    over: CancellationToken,
}

/// Nobody listens any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("whoever asked is gone")]
pub struct Gone;

impl Lines {
    /// Says a line, once there is room for it.
    ///
    /// # Errors
    ///
    /// Nobody listens any more.
    pub fn say(&self, line: &impl Serialize) -> Result<(), Gone> {
        let mut bytes = serde_json::to_vec(line).map_err(|_| Gone)?;
        bytes.push(b'\n');
        self.to.blocking_send(bytes.into()).map_err(|_| Gone)
    }

    /// Returns what is cancelled when nobody listens any more, or the host stops.
    #[must_use]
    pub fn over(&self) -> &CancellationToken {
        &self.over
    }
}

pub(super) fn routes() -> Router<Arc<Inside>> {
    Router::new()
        .route("/operator/shell", get(greet).post(run))
        .route("/operator/complete", post(complete))
}

async fn greet(inside: Shared) -> Json<Value> {
    Json(inside.commands.greeting())
}

async fn run(
    inside: Shared,
    Extension(by): Extension<OperatorName>,
    Body(body): Body,
) -> Result<Response, ApiError> {
    let body: CommandBody = quixos_protocol::parse(&body, BODY)?;
    check_shell(body.shell.as_deref())?;
    let place = Arc::clone(&inside.places).try_acquire_owned().map_err(|_| busy())?;
    let (to, lines) = mpsc::channel(BACKLOG);
    let over = inside.stopping.child_token();
    let said = Said { lines, _over: over.clone().drop_guard() };
    let commands = Arc::clone(&inside.commands);
    tokio::task::spawn_blocking(move || {
        commands.run(&by, &body, &Lines { to, over });
        drop(place);
    });
    let lines = stream::unfold(said, Said::next);
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, Answer::from_stream(lines)).into_response())
}

/// What is said of an answer. Once it is dropped, nobody listens.
struct Said {
    lines: mpsc::Receiver<Bytes>,
    _over: DropGuard,
}

impl Said {
    /// Returns the next line; an empty one after a while, which shows a reader that is gone, too.
    async fn next(mut self) -> Option<(Result<Bytes, std::convert::Infallible>, Self)> {
        let line = match timeout(KEEP_ALIVE, self.lines.recv()).await {
            Ok(line) => line?,
            Err(_) => Bytes::from_static(b"\n"),
        };
        Some((Ok(line), self))
    }
}

async fn complete(
    inside: Shared,
    Extension(by): Extension<OperatorName>,
    Body(body): Body,
) -> Result<Json<Value>, ApiError> {
    let body: CompleteBody = quixos_protocol::parse(&body, BODY)?;
    check_shell(body.shell.as_deref())?;
    let place = Arc::clone(&inside.places).try_acquire_owned().map_err(|_| busy())?;
    let commands = Arc::clone(&inside.commands);
    let found = tokio::task::spawn_blocking(move || {
        let found = commands.complete(&by, &body);
        drop(place);
        found
    });
    found.await.map(Json).map_err(|_| {
        let error = "what may follow could not be found out";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", error)
    })
}

/// The name of a shell is kept: it must not be long.
fn check_shell(shell: Option<&str>) -> Result<(), ApiError> {
    match shell {
        Some(shell) if shell.len() > LONGEST => {
            Err(ApiError::invalid(format!("`/shell` has at most {LONGEST} bytes")))
        }
        Some(_) | None => Ok(()),
    }
}

fn busy() -> ApiError {
    let error = "as many commands run as may at once";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", error)
}
