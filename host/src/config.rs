//! What a host is to be: read from `quixos.toml`, and checked as the definitions are, all faults at
//! once, each with its place.
//!
//! `examples/quixos.toml` says what may be written. Secrets are never in the file: it names the
//! variables of the environment that have them.

mod agents;
mod check;
mod durable;
mod fault;
mod providers;
mod section;
mod telemetry;

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quixos_engine::http::HttpClient;
use quixos_engine::provider::anthropic::Anthropic;
use quixos_engine::provider::openai::OpenAi;
use quixos_engine::provider::scripted::Scripted;
use quixos_engine::provider::{Api, Provider};
use quixos_engine::worker::Worker;
use quixos_engine::worker::http::{Endpoint, HttpWorker};
use quixos_engine::{Options, Roster};
use quixos_protocol::{AgentConfig, RetryPolicy};

pub use durable::Durable;
pub use fault::{Code, Fault, Faults};

use crate::connections::ConnectionLimits;
use crate::keys::KeyHash;
use crate::operator::OperatorConfig;
use crate::telemetry::TelemetryConfig;
use crate::tokens::TokenConfig;
use crate::worker::{DemoWorker, EchoWorker};

/// What a host is to be.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens.
    pub address: SocketAddr,
    /// Where its store is; nowhere if it is to be in memory.
    pub store: Option<PathBuf>,
    /// How the engine is.
    pub engine: Options,
    /// Who may use it.
    pub tenants: Vec<Tenant>,
    /// How the tokens of clients are made.
    pub tokens: TokenConfig,
    /// Who may be spoken to.
    pub agents: Vec<Agent>,
    /// Where models run.
    pub providers: Vec<ProviderConfig>,
    /// How public streams are served.
    pub durable: Durable,
    /// How much is taken.
    pub limits: Limits,
    /// Where operators are let in; nowhere if nobody says.
    pub operator: Option<OperatorConfig>,
    /// How long what runs may take to end when the host is told to stop.
    pub grace: Duration,
    /// Where spans go, if they go anywhere.
    pub telemetry: Option<TelemetryConfig>,
    /// Whether the page of the demo is served at `/`.
    pub page: bool,
}

/// Who may use a host: a name, and the hashes of its keys.
#[derive(Clone, Debug)]
pub struct Tenant {
    /// The name.
    pub name: String,
    /// The hashes of the keys, each as good as the others: so one is replaced by another.
    pub keys: Vec<KeyHash>,
}

/// An agent.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The name, which clients say as `agent_id`.
    pub name: String,
    /// What a new session of it is proposed.
    pub config: AgentConfig,
    /// Who decides for it.
    pub worker: WorkerConfig,
    /// How decisions are delivered. Default: the engine's.
    pub decision_retry: Option<RetryPolicy>,
    /// How model calls are tried whose config says nothing. Default: the engine's.
    pub model_retry: Option<RetryPolicy>,
    /// What a session may spend on models: dollars, a decimal.
    pub max_cost: Option<String>,
}

/// Who decides for an agent.
#[derive(Clone, Debug)]
pub enum WorkerConfig {
    /// Nobody: what the engine proposes is done.
    Echo,
    /// The worker of the demo.
    Demo,
    /// An endpoint.
    Http(Box<Endpoint>),
}

/// Where some models run.
#[derive(Clone, Debug)]
pub struct ProviderConfig {
    /// What the names of its models begin with.
    pub models: Vec<String>,
    /// Where.
    pub place: Place,
}

/// Where models run.
#[derive(Clone, Debug)]
pub enum Place {
    /// A server of Chat Completions.
    OpenAi(Box<Api>),
    /// A server of Messages.
    Anthropic(Box<Api>),
    /// Here, by a script.
    Scripted(Box<Scripted>),
}

/// How much is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body: usize,
    /// Bytes of the text of one message of a client.
    pub text: usize,
    /// Requests of one owner in a minute.
    pub requests: u32,
    /// Streams that one owner has open at once.
    pub streams: u32,
    /// How long a stream lasts whose turn makes no progress.
    pub stream_timeout: Duration,
    /// What connections may hold up.
    pub connections: ConnectionLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 4 << 20,
            text: 1 << 20,
            requests: 1200,
            streams: 100,
            stream_timeout: Duration::from_secs(600),
            connections: ConnectionLimits::default(),
        }
    }
}

/// What a config may look at beside its own text.
#[derive(Clone, Copy)]
pub struct Surroundings<'s> {
    /// Where the files are that it names.
    pub folder: &'s Path,
    /// The environment.
    pub variable: &'s dyn Fn(&str) -> Option<String>,
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Config {
    /// How long what runs may take to end when nobody says.
    pub const GRACE: Duration = Duration::from_secs(10);

    /// Where a host listens when nobody says.
    pub const ADDRESS: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);

    /// Reads a config.
    ///
    /// # Errors
    ///
    /// All that is wrong with it.
    pub fn read(text: &str, surroundings: Surroundings<'_>) -> Result<Self, Faults> {
        check::config(text, surroundings)
    }

    /// Returns who works for which agent, and which provider runs which model.
    pub(crate) fn roster(&self, client: &HttpClient) -> Roster {
        let mut roster = Roster::new();
        for agent in &self.agents {
            let worker: Arc<dyn Worker> = match &agent.worker {
                WorkerConfig::Echo => Arc::new(EchoWorker),
                WorkerConfig::Demo => Arc::new(DemoWorker),
                WorkerConfig::Http(endpoint) => {
                    Arc::new(HttpWorker::new(client.clone(), endpoint.as_ref().clone()))
                }
            };
            roster = roster.worker(&agent.name, worker);
        }
        for provider in &self.providers {
            let place: Arc<dyn Provider> = match &provider.place {
                Place::OpenAi(api) => Arc::new(OpenAi::new(client.clone(), api.as_ref().clone())),
                Place::Anthropic(api) => {
                    Arc::new(Anthropic::new(client.clone(), api.as_ref().clone()))
                }
                Place::Scripted(script) => Arc::new(script.as_ref().clone()),
            };
            for prefix in &provider.models {
                roster = roster.provider(prefix, Arc::clone(&place));
            }
        }
        roster
    }
}
