//! From a worker's token to the client that reads it: through a host in a process of its own, over
//! sockets on both sides.
//!
//! The worker and the clients are in this process, so that one clock tells the way of a token. It
//! says when it was said.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use quixos_engine::worker::http::Endpoint;
use quixos_host::config::{Agent, WorkerConfig};
use quixos_host::{Bearer, Config, Host, Identity};
use quixos_protocol::AgentConfig;
use quixos_runtime::store::{SledOptions, SledStore};
use reqwest::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, stdin};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::AGENT;
use super::worker::{EchoServer, Mouth};
use crate::child::HostProcess;
use crate::failure::Failure;
use crate::process;

/// The key and the secret of the host that is measured. It listens to this machine alone.
const KEY: &str = "the key of the host that is measured";
const SECRET: &str = "the secret of the host that is measured, and it is long";

/// How long the streams may take to open, or to end.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where a host is, and who may speak to it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Served {
    pub(crate) url: String,
    pub(crate) token: String,
}

/// What came of live streams.
pub(crate) struct Lags {
    /// The way of each token, the shortest first.
    pub(crate) each: Vec<Duration>,
    /// The host's memory while all streams were open.
    pub(crate) memory: u64,
}

impl Lags {
    /// Reads so many streams of so many tokens, a token and a pace apart.
    pub(crate) async fn of(
        folder: &Path,
        streams: usize,
        tokens: u64,
        pace: Duration,
    ) -> Result<Self, Failure> {
        let mouth = Arc::new(Mouth {
            began: Instant::now(),
            tokens,
            pace,
            open: AtomicUsize::new(0),
            calls: streams,
            go: watch::Sender::new(false),
        });
        let worker = EchoServer::speaker(Arc::clone(&mouth)).await?;
        let host = HostProcess::start(folder, &worker.url).await?;
        // The client wants one even where it speaks without TLS. Another round may have been first.
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = Client::new();
        let mut readers = JoinSet::new();
        for number in 0..streams {
            let reader = Reader {
                client: client.clone(),
                served: Served { url: host.served.url.clone(), token: host.served.token.clone() },
                session: format!("s{number}"),
                began: mouth.began,
            };
            readers.spawn(async move { reader.read().await });
        }
        let until = Instant::now() + PATIENCE;
        while mouth.open.load(Ordering::SeqCst) < streams {
            if Instant::now() > until {
                return Err(Failure::refused("not all streams were opened"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let memory = process::memory_of(host.id());
        mouth.go.send_replace(true);
        let mut each = Vec::new();
        while let Some(read) = readers.join_next().await {
            each.extend(read.map_err(|_| Failure::refused("a reader panicked"))??);
        }
        let expected = streams * usize::try_from(tokens).unwrap_or(usize::MAX);
        if each.len() != expected {
            let message = format!("{} of {expected} tokens came to a client", each.len());
            return Err(Failure::refused(message));
        }
        each.sort_unstable();
        host.stop().await?;
        Ok(Self { each, memory })
    }

    /// Returns the way of a token that so many hundredths do not exceed, in microseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.each.len() * percent).div_ceil(100).saturating_sub(1);
        self.each.get(rank).copied().unwrap_or_default().as_secs_f64() * 1e6
    }
}

/// A client that begins a turn and reads it.
struct Reader {
    client: Client,
    served: Served,
    session: String,
    began: Instant,
}

impl Reader {
    /// Returns the way of each token.
    async fn read(self) -> Result<Vec<Duration>, Failure> {
        let Served { url, token } = &self.served;
        let sessions = format!("{url}/api/client/sessions");
        let input = json!({
            "session_id": self.session,
            "input": {
                "type": "client.message",
                "agent_id": AGENT,
                "turn_id": "t1",
                "stream": true,
                "message": { "role": "user", "content": "Speak." },
            },
        });
        // The stream is opened first: what is said before it is heard is in the log alone.
        let path = format!("{sessions}/{}/events/stream?after_seq=0&turn_id=t1", self.session);
        let mut events =
            self.client.get(path).bearer_auth(token).send().await?.error_for_status()?;
        let submit = self.client.post(format!("{sessions}/input")).bearer_auth(token);
        submit.body(input.to_string()).send().await?.error_for_status()?;
        let mut lags = Vec::new();
        let mut unread = Vec::new();
        while let Some(chunk) = events.chunk().await? {
            let now = self.began.elapsed();
            unread.extend_from_slice(&chunk);
            while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = unread.drain(..=end).collect();
                lags.extend(said(&line).into_iter().map(|said| now.saturating_sub(said)));
            }
        }
        Ok(lags)
    }
}

/// Returns when the tokens were said that a line of a stream carries. Of a reader that comes late
/// several may be in one piece.
fn said(line: &[u8]) -> Vec<Duration> {
    let event = line.strip_prefix(b"data:").map(serde_json::from_slice::<Value>);
    let Some(Ok(event)) = event else { return Vec::new() };
    let text = event["delta"]["text"].as_str().unwrap_or_default();
    text.split_whitespace().filter_map(|said| said.parse().ok().map(Duration::from_nanos)).collect()
}

/// Is a host over a store in a folder, whose agent is a worker at an address, until nobody writes to
/// it any more.
pub(crate) async fn be_host(folder: &Path, worker: &str) -> Result<(), Failure> {
    let store = SledStore::open(folder.join("store"), SledOptions::default())?;
    let endpoint = Endpoint::new(worker).map_err(|error| Failure::refused(error.to_string()))?;
    let agent: AgentConfig =
        serde_json::from_value(json!({ "model": "spoken", "handler": "worker", "stream": true }))?;
    let mut config = Config::demo(KEY, SECRET.to_owned().into());
    config.address = SocketAddr::from(([127, 0, 0, 1], 0));
    // All of it is one owner.
    config.limits.requests = 10_000_000;
    config.limits.streams = 1 << 20;
    config.engine.at_once = 4_096;
    config.agents = vec![Agent {
        name: AGENT.to_owned(),
        config: agent,
        worker: WorkerConfig::Http(Box::new(endpoint)),
        decision_retry: None,
        model_retry: None,
        max_cost: None,
    }];
    let refused = |error: &dyn std::fmt::Display| Failure::refused(error.to_string());
    let host = Host::open(config, Arc::new(store)).await.map_err(|error| refused(&error))?;
    let identity = Identity { id: "bench".to_owned(), ..Identity::default() };
    let bearer = Bearer { tenant: Config::DEMO_TENANT.to_owned(), identity, agents: None };
    let token = host.token(&bearer).map_err(|error| refused(&error))?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    println!("{}", serde_json::to_string(&Served { url, token })?);
    let told = async {
        // Whoever started it lets go of it, or is gone.
        drop(stdin().read_to_end(&mut Vec::new()).await);
    };
    host.serve(listener, told).await?;
    host.close().await;
    Ok(())
}
