//! Workers behind a socket of this process: one that does what is proposed and runs the tools, and
//! one that is a model which speaks token by token.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use futures_util::{Stream, StreamExt as _, stream};
use quixos_engine::http::HttpClient;
use quixos_engine::worker::Worker;
use quixos_engine::worker::http::{Endpoint, HttpWorker};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::failure::Failure;

/// A server that is there until it is dropped.
pub(crate) struct EchoServer {
    pub(crate) url: String,
    bytes: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Drop for EchoServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl EchoServer {
    async fn serve(router: Router, bytes: Arc<AtomicU64>) -> Result<Self, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/", listener.local_addr()?);
        let listener = listener.tap_io(|stream| {
            // Tokens are small and are waited for. Where that cannot be said, they are late.
            drop(stream.set_nodelay(true));
        });
        let task = tokio::spawn(async move {
            // It ends with the measurement, and what it says then is of no use to anybody.
            drop(axum::serve(listener, router).await);
        });
        Ok(Self { url, bytes, task })
    }

    /// Serves a worker that does what is proposed, and runs the tools.
    pub(crate) async fn echo() -> Result<Self, Failure> {
        let bytes = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&bytes);
        let decide = move |body: Bytes| {
            let counted = Arc::clone(&counted);
            async move {
                let request = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
                let answer = answer(&request).to_string();
                counted.fetch_add((body.len() + answer.len()) as u64, Ordering::Relaxed);
                Ok::<_, StatusCode>(([(CONTENT_TYPE, "application/json")], answer))
            }
        };
        Self::serve(Router::new().route("/", post(decide)), bytes).await
    }

    /// Returns how many bytes of JSON it was sent and has answered.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Serves a worker that is a model: it says so many tokens in each call, each with the time at
    /// which it says it.
    pub(crate) async fn speaker(mouth: Arc<Mouth>) -> Result<Self, Failure> {
        let decide = move |body: Json<Value>| {
            let mouth = Arc::clone(&mouth);
            async move {
                if is_call(&body) { spoken(mouth) } else { Json(answer(&body)).into_response() }
            }
        };
        Self::serve(Router::new().route("/", post(decide)), Arc::default()).await
    }
}

/// Returns a worker at an address.
pub(crate) fn echo_over_http(url: &str) -> Result<Arc<dyn Worker>, Failure> {
    let endpoint = Endpoint::new(url).map_err(|error| Failure::refused(error.to_string()))?;
    let client = HttpClient::new(HttpClient::CONNECT_TIMEOUT)
        .map_err(|error| Failure::refused(error.to_string()))?;
    Ok(Arc::new(HttpWorker::new(client, endpoint)))
}

/// What is proposed, or the result of a tool.
fn answer(request: &Value) -> Value {
    if request["trigger"]["type"] == "tool.execute" {
        let result = json!({ "type": "tool.result", "result": "12 degrees, and light rain" });
        return json!({ "actions": [result] });
    }
    request["proposed"].clone()
}

fn is_call(request: &Value) -> bool {
    request["trigger"]["type"] == "llm.execute" && request["trigger"]["stream"] == true
}

/// How the speaking worker speaks.
pub(crate) struct Mouth {
    /// What the times of tokens count from.
    pub(crate) began: Instant,
    /// Tokens of a call.
    pub(crate) tokens: u64,
    /// The time between two of them.
    pub(crate) pace: Duration,
    /// Calls that have begun, each of which begins to speak a little after the one before.
    pub(crate) open: AtomicUsize,
    /// How many there will be.
    pub(crate) calls: usize,
    /// Set once all are there.
    pub(crate) go: watch::Sender<bool>,
}

/// The answer to a streaming call.
fn spoken(mouth: Arc<Mouth>) -> Response {
    let number = mouth.open.fetch_add(1, Ordering::SeqCst);
    let share = u32::try_from(mouth.calls.max(1)).unwrap_or(u32::MAX);
    let offset = mouth.pace / share * u32::try_from(number).unwrap_or(0);
    let go = mouth.go.subscribe();
    Sse::new(tokens(mouth, offset, go)).into_response()
}

fn tokens(
    mouth: Arc<Mouth>,
    offset: Duration,
    go: watch::Receiver<bool>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let result = json!({ "actions": [{
        "type": "llm.result",
        "response": { "model": "spoken", "content": "That was all.", "finish_reason": "stop" },
    }]});
    let last = Event::default().event("decision.result").data(result.to_string());
    let (count, pace) = (mouth.tokens, mouth.pace);
    let spoken = stream::unfold((0, go), move |(number, mut go)| {
        let mouth = Arc::clone(&mouth);
        async move {
            if number == count {
                return None;
            }
            if number == 0 {
                // The sender is there as long as its streams are.
                drop(go.wait_for(|go| *go).await);
                tokio::time::sleep(offset).await;
            } else {
                tokio::time::sleep(pace).await;
            }
            let said = mouth.began.elapsed().as_nanos();
            let token = json!({ "text": format!("{said} ") });
            let event = Event::default().event("llm.token.delta").data(token.to_string());
            Some((Ok(event), (number + 1, go)))
        }
    });
    spoken.chain(stream::once(async move { Ok(last) }))
}
