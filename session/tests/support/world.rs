//! A runtime with AgentRuntime and sessions in it, and agents to talk to.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use quixos_package::agent_runtime::{
    AgentDirectory, AgentDirectoryCreateAgentInput, AgentDirectoryObject, AgentObject,
    AgentWorkspace, AgentWorkspaceInstallInput,
};
use quixos_package::workspace::{WorkspaceData, WorkspaceObject, WorkspaceObjectInput};
use quixos_runtime::store::{MemoryStore, Store};
use quixos_runtime::{CallError, Caller, Clock, ManualClock, Ref, Runtime, SeededIds, Session};
use quixos_session::Refusal;
use quixos_session::sessions::{
    Authority, Outcome, SessionObject, SessionRegistry, SessionRegistryClient,
    SessionRegistryObject, SessionRegistryObjectInput, SessionRegistrySubmitInput,
};
use serde_json::Value;

use super::inputs::{AGENT, OWNER, START, frontend, message};
use super::talk::Talk;

/// A place with agents, and a clock that stands still.
pub(crate) struct World {
    pub(crate) runtime: Runtime,
    pub(crate) session: Session,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) directory: Ref<AgentDirectoryObject>,
    pub(crate) registry: Ref<SessionRegistryObject>,
    store: Arc<dyn Store>,
}

impl World {
    /// Makes a place with one agent whose settings say nothing.
    pub(crate) async fn new() -> Self {
        Self::with("{}").await
    }

    /// Makes a place with one agent that has settings.
    pub(crate) async fn with(settings: &str) -> Self {
        Self::over(Arc::new(MemoryStore::new()), settings).await
    }

    /// Makes a place in a store, with one agent that has settings.
    pub(crate) async fn over(store: Arc<dyn Store>, settings: &str) -> Self {
        let start: DateTime<Utc> = START.parse().unwrap();
        let clock = Arc::new(ManualClock::at(start));
        let runtime = open(&store, &clock);
        let session = runtime.session(Caller::operator(OWNER));
        let data = WorkspaceData { name: "home".to_owned() };
        let input = WorkspaceObjectInput { data };
        let workspace = WorkspaceObject::create(&session, &input).await.unwrap();
        let install =
            AgentWorkspaceInstallInput { instructions: String::new(), settings: "{}".to_owned() };
        let directory = AgentWorkspace::on(&session, workspace).install(&install).await.unwrap();
        let input = SessionRegistryObjectInput { leases: Vec::new(), directory };
        let registry = SessionRegistryObject::create(&session, &input).await.unwrap();
        let world = Self { runtime, session, clock, directory, registry, store };
        world.agent(AGENT, settings).await;
        world
    }

    /// Makes an agent.
    pub(crate) async fn agent(&self, name: &str, settings: &str) -> Ref<AgentObject> {
        let input = AgentDirectoryCreateAgentInput {
            name: name.to_owned(),
            description: String::new(),
            instructions: String::new(),
            settings: settings.to_owned(),
        };
        AgentDirectory::on(&self.session, self.directory).create_agent(&input).await.unwrap()
    }

    pub(crate) fn registry(&self) -> SessionRegistryClient<'_> {
        SessionRegistry::on(&self.session, self.registry)
    }

    /// Submits to a session by its id, as somebody.
    pub(crate) async fn submit(
        &self,
        by: Authority,
        session: &str,
        input: &Value,
    ) -> Result<(Ref<SessionObject>, Outcome), CallError> {
        let input = SessionRegistrySubmitInput {
            by,
            session_id: session.to_owned(),
            metadata: "{}".to_owned(),
            input: input.to_string(),
            followed: false,
            trace: None,
            once: None,
        };
        let output = self.registry().submit(&input).await?;
        Ok((output.session, output.outcome))
    }

    /// Opens a session with its first input, and an engine that drives it.
    pub(crate) async fn open(&self, session: &str, input: &Value) -> Talk<'_> {
        let (session, _) = self.submit(frontend(OWNER), session, input).await.unwrap();
        let talk = Talk::on(self, session);
        talk.take(false).await;
        talk
    }

    /// Opens a session in which a turn `t1` begins with a message, and whose worker has answered
    /// `session.start` with a config.
    pub(crate) async fn talk(&self, config: &Value) -> Talk<'_> {
        let talk = self.open("s1", &message("t1", "Hello")).await;
        talk.answer_next("session.start", &serde_json::json!({ "agent": config })).await;
        talk
    }

    /// Returns a session by its id.
    pub(crate) async fn session(&self, id: &str) -> Option<Talk<'_>> {
        let found = self.registry().sessions_at(id).await.unwrap();
        found.first().map(|&session| Talk::on(self, session))
    }

    /// Moves the clock forward.
    pub(crate) fn wait(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// Closes the store and opens it again.
    pub(crate) fn reopen(&mut self) {
        self.runtime.clone().close();
        let now = self.clock.now();
        self.runtime = open(&self.store, &self.clock);
        self.clock.set(now);
        self.session = self.runtime.session(Caller::operator(OWNER));
    }

    /// Checks every byte and every invariant.
    pub(crate) async fn verify(&self) {
        let report = self.runtime.verify().await.unwrap();
        let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        assert_eq!(findings, Vec::<String>::new());
    }
}

fn open(store: &Arc<dyn Store>, clock: &Arc<ManualClock>) -> Runtime {
    quixos_package::packages()
        .into_iter()
        .chain([quixos_session::package()])
        .fold(Runtime::builder(), |builder, package| builder.package(package))
        .clock(clock.clone())
        .ids(Arc::new(SeededIds::new(7)))
        .open(store.clone())
        .unwrap()
}

/// Returns the refusal of a call that was refused.
pub(crate) fn refusal(error: &CallError) -> Refusal {
    let CallError::Refused { reason } = error else { panic!("not a refusal: {error}") };
    reason.parse().unwrap()
}
