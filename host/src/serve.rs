//! The host as a program uses it: opened over a store, served on a listener, closed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use quixos_engine::http::HttpClient;
use quixos_engine::{Engine, Options};
use quixos_package::agent_runtime::{
    Agent, AgentDirectory, AgentDirectoryCreateAgentInput, AgentDirectoryObject, AgentObject,
    AgentUpdateInput, AgentWorkspace, AgentWorkspaceInstallInput,
};
use quixos_package::workspace::{WorkspaceData, WorkspaceObject, WorkspaceObjectInput};
use quixos_runtime::store::Store;
use quixos_runtime::{
    Atom, CallError, Caller, Clock as _, OpenError, Ref, Runtime, Session, SystemClock,
};
use quixos_session::WrittenSettings;
use quixos_session::sessions::{SessionRegistryObject, SessionRegistryObjectInput};
use quixos_streams::streams::StreamRegistryObject;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::connections;
use crate::durable::Door;
use crate::limits::Limiter;
use crate::metrics::Metrics;
use crate::operator::{Commands, HostRoutes, OperatorConfig, OperatorDoor};
use crate::routes;
use crate::state::State;
use crate::telemetry;
use crate::tokens::{Bearer, TokenError, Tokens};

/// A host: sessions over HTTP.
pub struct Host {
    runtime: Runtime,
    state: Arc<State>,
    operator: Option<OperatorConfig>,
    folder: Option<PathBuf>,
    grace: Duration,
}

/// Why a host does not open.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The store does not.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store can be opened, and cannot be used.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The engine does not start.
    #[error(transparent)]
    Engine(#[from] quixos_engine::EngineError),
    /// Nothing can be sent.
    #[error(transparent)]
    Client(#[from] quixos_engine::http::ClientError),
    /// No token can be made.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// Settings that cannot be written.
    #[error("the settings of the agent `{agent}` cannot be written")]
    Settings {
        /// The agent.
        agent: String,
        /// Why.
        source: serde_json::Error,
    },
}

impl Host {
    /// Opens a host over a store. What the store lacks of what the config says is made: a place
    /// for agents to live in, and the agents; those that are there are set as the config says.
    ///
    /// # Errors
    ///
    /// The store does not open, or was written by other packages.
    pub async fn open(config: Config, store: Arc<dyn Store>) -> Result<Self, HostError> {
        let packages = quixos_package::packages()
            .into_iter()
            .chain([quixos_session::package(), quixos_streams::package()]);
        let metrics = Metrics::new();
        let builder = Runtime::builder().observer(metrics.calls.clone());
        let builder = packages.fold(builder, |builder, package| builder.package(package));
        let runtime = builder.open(store)?;
        let (operator, folder, grace) = (config.operator, config.store.clone(), config.grace);
        match Self::start(config, runtime.clone(), metrics).await {
            Ok(state) => Ok(Self { runtime, state, operator, folder, grace }),
            Err(error) => {
                runtime.close();
                Err(error)
            }
        }
    }

    async fn start(
        config: Config,
        runtime: Runtime,
        metrics: Metrics,
    ) -> Result<Arc<State>, HostError> {
        let roster = config.roster(&HttpClient::new(HttpClient::CONNECT_TIMEOUT)?);
        let session = runtime.session(Caller::operator("host"));
        let (registry, directory) = home(&runtime, &session).await?;
        let mut known = BTreeMap::new();
        for agent in AgentDirectory::on(&session, directory).agents().await? {
            let data = Agent::on(&session, agent).data().await?;
            known.entry(data.name).or_insert((agent, data.settings));
        }
        for agent in &config.agents {
            let settings = WrittenSettings {
                agent: Some(agent.config.clone()),
                decision_retry: agent.decision_retry,
                model_retry: agent.model_retry,
                max_cost: agent.max_cost.clone(),
            };
            let settings = serde_json::to_value(settings)
                .map_err(|source| HostError::Settings { agent: agent.name.clone(), source })?;
            match known.remove(&agent.name) {
                Some((agent, written)) => configure(&session, agent, &written, settings).await?,
                None => create(&session, directory, &agent.name, &settings).await?,
            }
        }
        let options = Options {
            observer: Some(metrics.errands.clone()),
            tracer: Some(telemetry::tracer()),
            ..config.engine
        };
        let engine = Engine::start(runtime.clone(), registry, roster, options).await?;
        let clock = SystemClock;
        let streams = match first::<StreamRegistryObject>(&runtime).await? {
            Some(streams) => streams,
            None => StreamRegistryObject::create(&session).await?,
        };
        Ok(Arc::new(State {
            engine,
            durable: Door::new(streams, registry, config.durable),
            tokens: Tokens::new(&config.tokens)?,
            tenants: config.tenants.into_iter().map(|it| (it.name, it.keys)).collect(),
            directory,
            agents: config.agents.into_iter().map(|agent| agent.name).collect(),
            body: config.limits.body,
            text: config.limits.text,
            limiter: Limiter::new(config.limits.requests, config.limits.streams),
            stream_timeout: config.limits.stream_timeout,
            connections: config.limits.connections,
            begun: clock.now(),
            clock: Arc::new(clock),
            metrics,
            page: config.page,
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
        }))
    }

    /// Returns the routes, for whoever serves them another way.
    pub fn router(&self) -> Router {
        routes::all(Arc::clone(&self.state))
    }

    /// Returns what the host counts (`/metrics`), for whoever serves it to operators another way.
    pub fn figures(&self) -> Router {
        routes::figures(Arc::clone(&self.state))
    }

    /// Returns the engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.state.engine
    }

    /// Issues a client's token, as the route for it does.
    ///
    /// # Errors
    ///
    /// The identity is blank.
    pub fn token(&self, bearer: &Bearer) -> Result<String, TokenError> {
        Ok(self.state.tokens.issue(bearer, None, self.state.now())?.0)
    }

    /// Returns the runtime.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the door for operators, if the config says that there is one. Whoever starts the host
    /// brings the commands, and serves it beside the host, with which it closes.
    #[must_use]
    pub fn operator(&self, commands: Arc<dyn Commands>) -> Option<OperatorDoor> {
        let operator = self.operator?;
        let stopping = self.state.stopping.clone();
        let (runtime, folder) = (self.runtime.clone(), self.folder.clone());
        let open = routes::open(Arc::clone(&self.state));
        let routes = HostRoutes { to_all: open, to_operators: self.figures() };
        Some(OperatorDoor::of_host(runtime, operator.token, commands, folder, routes, stopping))
    }

    /// Serves clients on a listener until a future ends. Then no turn begins any more, and what runs
    /// has the time to end that the config says; then streams end, and what is being asked is
    /// answered.
    ///
    /// # Errors
    ///
    /// Those of the network.
    pub async fn serve(
        &self,
        listener: TcpListener,
        until: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let (state, grace) = (Arc::clone(&self.state), self.grace);
        let drain = tokio::spawn(async move {
            until.await;
            state.draining.cancel();
            if tokio::time::timeout(grace, state.engine.at_rest()).await.is_err() {
                tracing::warn!("what still runs is given up, and goes on at the next start");
            }
            state.stopping.cancel();
        });
        let State { stopping, metrics, connections, .. } = self.state.as_ref();
        let (router, traffic) = (self.router(), Some(metrics.traffic.clone()));
        connections::serve(listener, router, *connections, traffic, stopping.clone()).await;
        drain.abort();
        Ok(())
    }

    /// Stops the engine and closes the store. All that was under way is in it.
    pub async fn close(self) {
        self.state.draining.cancel();
        self.state.stopping.cancel();
        self.state.engine.stop().await;
        self.runtime.close();
    }
}

/// Returns the registry of sessions and the directory of agents, which are made where they are not
/// there. Each is made by one transaction and found again by what it is, so that a start that was
/// broken off is gone on with.
async fn home(
    runtime: &Runtime,
    session: &Session,
) -> Result<(Ref<SessionRegistryObject>, Ref<AgentDirectoryObject>), CallError> {
    if let Some(registry) = first::<SessionRegistryObject>(runtime).await? {
        let directory = quixos_session::sessions::SessionRegistry::on(session, registry);
        return Ok((registry, directory.directory().await?));
    }
    let workspace = match first::<WorkspaceObject>(runtime).await? {
        Some(workspace) => workspace,
        None => {
            let data = WorkspaceData { name: "home".to_owned() };
            WorkspaceObject::create(session, &WorkspaceObjectInput { data }).await?
        }
    };
    let install =
        AgentWorkspaceInstallInput { instructions: String::new(), settings: "{}".to_owned() };
    let directory = AgentWorkspace::on(session, workspace).install(&install).await?;
    let input = SessionRegistryObjectInput { leases: Vec::new(), directory };
    let registry = SessionRegistryObject::create(session, &input).await?;
    Ok((registry, directory))
}

async fn first<A: Atom>(runtime: &Runtime) -> Result<Option<Ref<A>>, CallError> {
    let found = runtime.read(|snapshot| snapshot.objects(A::TAG, None, 1)).await?;
    Ok(found.first().copied().and_then(Ref::from_object))
}

/// Sets what an agent's sessions are run with. The rest of its settings is left as it is.
async fn configure(
    session: &Session,
    agent: Ref<AgentObject>,
    written: &str,
    settings: Value,
) -> Result<(), CallError> {
    let mut known: Map<String, Value> = serde_json::from_str(written)
        .map_err(|error| CallError::Corrupt { message: error.to_string() })?;
    if known.get("session") != Some(&settings) {
        known.insert("session".to_owned(), settings);
        let settings = Some(Value::Object(known).to_string());
        let update = AgentUpdateInput { settings, ..unchanged() };
        Agent::on(session, agent).update(&update).await?;
    }
    Ok(())
}

/// Makes an agent that is not there yet.
async fn create(
    session: &Session,
    directory: Ref<AgentDirectoryObject>,
    name: &str,
    settings: &Value,
) -> Result<(), CallError> {
    let input = AgentDirectoryCreateAgentInput {
        name: name.to_owned(),
        description: String::new(),
        instructions: String::new(),
        settings: json!({ "session": settings }).to_string(),
    };
    AgentDirectory::on(session, directory).create_agent(&input).await?;
    Ok(())
}

fn unchanged() -> AgentUpdateInput {
    AgentUpdateInput { name: None, description: None, enabled: None, settings: None }
}
