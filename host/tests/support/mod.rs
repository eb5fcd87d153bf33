//! A host of the demo on a socket of its own, and somebody who talks to it.
#![allow(clippy::unwrap_used, dead_code, reason = "a helper of tests; not each uses all of it")]

pub(crate) mod promise;
pub(crate) mod shapes;
pub(crate) mod streams;
pub(crate) mod trace;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use quixos_engine::Engine;
use quixos_host::{Bearer, Config, Host, Identity};
use quixos_package::agent_runtime::{Agent, AgentObject, AgentUpdateInput};
use quixos_runtime::store::{MemoryStore, Store};
use quixos_runtime::{Atom as _, Caller, Ref};
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// The key of the demo's tenant.
pub(crate) const KEY: &str = "the key of the demo's tenant";
/// What its tokens are signed with.
pub(crate) const SECRET: &str = "the secret of the demo's tokens, which is long";

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A host, running.
pub(crate) struct Running {
    pub(crate) url: String,
    pub(crate) client: Client,
    stop: CancellationToken,
    served: JoinHandle<()>,
    token: String,
    pub(crate) engine: Engine,
    /// What operators read.
    figures: Router,
}

impl Running {
    /// Starts the demo over a store in memory.
    pub(crate) async fn demo() -> Self {
        Self::over(Arc::new(MemoryStore::new())).await
    }

    /// Starts the demo over a store.
    pub(crate) async fn over(store: Arc<dyn Store>) -> Self {
        Self::with(Config::demo(KEY, SECRET.to_owned().into()), store).await
    }

    /// Starts a host.
    pub(crate) async fn with(config: Config, store: Arc<dyn Store>) -> Self {
        Self::at(SocketAddr::from(([127, 0, 0, 1], 0)), config, store).await
    }

    /// Starts a host at an address.
    pub(crate) async fn at(address: SocketAddr, config: Config, store: Arc<dyn Store>) -> Self {
        Self::asked_at(address, config, store, |_| ()).await.0
    }

    /// Starts a host, and asks it for something before it serves.
    pub(crate) async fn with_token<T>(
        config: Config,
        store: Arc<dyn Store>,
        ask: impl FnOnce(&Host) -> T,
    ) -> (Self, T) {
        Self::asked_at(SocketAddr::from(([127, 0, 0, 1], 0)), config, store, ask).await
    }

    async fn asked_at<T>(
        address: SocketAddr,
        config: Config,
        store: Arc<dyn Store>,
        ask: impl FnOnce(&Host) -> T,
    ) -> (Self, T) {
        // Another test may have been first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let host = Host::open(config, store).await.unwrap();
        let identity = Identity { id: "ann".to_owned(), ..Identity::default() };
        let bearer = Bearer { tenant: Config::DEMO_TENANT.to_owned(), identity, agents: None };
        let token = host.token(&bearer).unwrap();
        let asked = ask(&host);
        let engine = host.engine().clone();
        let figures = host.figures().merge(host.router());
        let listener = TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        let until = stop.clone();
        let served = tokio::spawn(async move {
            host.serve(listener, async move { until.cancelled().await }).await.unwrap();
            host.close().await;
        });
        (Self { url, client: Client::new(), stop, served, token, engine, figures }, asked)
    }

    /// Reads something as an operator.
    pub(crate) async fn figure(&self, path: &str) -> (u16, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = self.figures.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Says that the host is to stop, and goes on.
    pub(crate) fn begin_to_stop(&self) {
        self.stop.cancel();
    }

    /// Stops the host, and waits until its store is closed.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        drop(self.client);
        tokio::time::timeout(PATIENCE, self.served).await.unwrap().unwrap();
    }

    /// Asks something, as somebody.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        credential: Option<&str>,
        body: Option<String>,
    ) -> Response {
        let mut request = self.client.request(method.clone(), format!("{}{path}", self.url));
        if let Some(credential) = credential {
            request = request.bearer_auth(credential);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let response = request.send().await.unwrap();
        promise::kept(&method, path, &response);
        response
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Gets something as Ann.
    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.ask(Method::GET, path, Some(&self.token), None).await).await
    }

    /// Posts something as Ann.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let body = Some(body.to_string());
        answer(self.ask(Method::POST, path, Some(&self.token), body).await).await
    }

    /// Changes something as Ann.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> (u16, Value) {
        let body = Some(body.to_string());
        answer(self.ask(Method::PATCH, path, Some(&self.token), body).await).await
    }

    /// Posts something as the tenant.
    pub(crate) async fn post_as_machine(&self, path: &str, body: &Value) -> (u16, Value) {
        let body = Some(body.to_string());
        answer(self.ask(Method::POST, path, Some(KEY), body).await).await
    }

    /// Says something, as a turn of its own.
    pub(crate) async fn say(&self, session: &str, turn: &str, text: &str) -> (u16, Value) {
        self.post("/api/client/sessions/input", &message(session, turn, text)).await
    }

    /// Returns the events of a turn, deltas among them, once it is over.
    pub(crate) async fn turn(&self, session: &str, turn: &str) -> Vec<Frame> {
        let path =
            format!("/api/client/sessions/{session}/events/stream?after_seq=0&turn_id={turn}");
        let response = self.ask(Method::GET, &path, Some(&self.token), None).await;
        assert_eq!(response.status(), 200);
        let text = tokio::time::timeout(PATIENCE, response.text()).await.unwrap().unwrap();
        frames(&text)
    }

    /// Returns the first frames of a stream, as many as are asked for.
    pub(crate) async fn first(
        &self,
        path: &str,
        last_event_id: Option<u64>,
        count: usize,
    ) -> Vec<Frame> {
        let mut request = self.client.get(format!("{}{path}", self.url)).bearer_auth(&self.token);
        if let Some(last) = last_event_id {
            request = request.header("Last-Event-ID", last);
        }
        let mut response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let mut bytes = Vec::new();
        let read = async {
            loop {
                let complete = String::from_utf8_lossy(&bytes);
                let complete = complete.rsplit_once("\n\n").map_or("", |(whole, _)| whole);
                let found: Vec<_> =
                    frames(complete).into_iter().filter(|it| it.id.is_some()).collect();
                if found.len() >= count {
                    return found[..count].to_vec();
                }
                match response.chunk().await.unwrap() {
                    Some(chunk) => bytes.extend_from_slice(&chunk),
                    None => return found,
                }
            }
        };
        tokio::time::timeout(PATIENCE, read).await.unwrap()
    }
}

/// Returns the address of a host.
pub(crate) fn address(host: &Running) -> SocketAddr {
    host.url.trim_start_matches("http://").parse().unwrap()
}

/// A frame of a stream of events.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) id: Option<u64>,
    pub(crate) event: String,
    pub(crate) data: Value,
}

fn frames(text: &str) -> Vec<Frame> {
    let blocks = text.split("\n\n").filter(|block| block.contains("data:"));
    blocks
        .map(|block| {
            let field = |name: &str| {
                let mut lines = block.lines().filter_map(|line| line.strip_prefix(name));
                lines.next().map(|value| value.trim_start_matches(' ').to_owned())
            };
            Frame {
                id: field("id:").map(|id| id.parse().unwrap()),
                event: field("event:").unwrap(),
                data: serde_json::from_str(&field("data:").unwrap()).unwrap(),
            }
        })
        .collect()
}

/// Returns a message that is submitted.
pub(crate) fn message(session: &str, turn: &str, text: &str) -> Value {
    json!({
        "session_id": session,
        "input": {
            "type": "client.message",
            "agent_id": Config::DEMO_AGENT,
            "turn_id": turn,
            "message": { "role": "user", "content": text },
        },
    })
}

/// Returns the status of an answer, and its JSON.
pub(crate) async fn answer(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// Sets the demo's agent: puts keys into its settings, and enables or disables it.
pub(crate) async fn set_agent(host: &Running, settings: &Value, enabled: bool) {
    let runtime = host.engine.runtime();
    let session = runtime.session(Caller::operator("test"));
    let agents =
        runtime.read(|snapshot| snapshot.objects(AgentObject::TAG, None, 16)).await.unwrap();
    for agent in agents.into_iter().filter_map(Ref::<AgentObject>::from_object) {
        let agent = Agent::on(&session, agent);
        let data = agent.data().await.unwrap();
        if data.name != Config::DEMO_AGENT {
            continue;
        }
        let mut known: Value = serde_json::from_str(&data.settings).unwrap();
        let new = settings.as_object().unwrap().clone();
        known.as_object_mut().unwrap().extend(new);
        let (settings, enabled) = (Some(known.to_string()), Some(enabled));
        let update = AgentUpdateInput { name: None, description: None, enabled, settings };
        agent.update(&update).await.unwrap();
    }
}
