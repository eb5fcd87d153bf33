//! An engine over a store in memory or in a folder, with the demo's agents, and what a client does.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(dead_code, reason = "each test uses what it needs")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quixos_engine::provider::scripted::Scripted;
use quixos_engine::worker::Local;
use quixos_engine::{Engine, EngineError, Options, Roster, Submitted};
use quixos_package::agent_runtime::{
    AgentDirectory, AgentDirectoryCreateAgentInput, AgentWorkspace, AgentWorkspaceInstallInput,
};
use quixos_package::workspace::{WorkspaceData, WorkspaceObject, WorkspaceObjectInput};
use quixos_protocol::{AgentConfig, RetryPolicy};
use quixos_runtime::store::{MemoryStore, SledOptions, SledStore, Store};
use quixos_runtime::{Caller, Ref, Runtime};
use quixos_session::sessions::{Authority, SessionRegistryObject, SessionRegistryObjectInput};
use serde_json::{Value, json};

/// The longest that anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const AGENT: &str = "concierge";

pub(crate) fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

pub(crate) fn folder(path: &Path) -> Arc<dyn Store> {
    Arc::new(SledStore::open(path, SledOptions::default()).unwrap())
}

/// Loads the packages over a store.
pub(crate) fn open(store: Arc<dyn Store>) -> Runtime {
    let mut builder = Runtime::builder();
    for package in quixos_package::packages() {
        builder = builder.package(package);
    }
    builder.package(quixos_session::package()).open(store).unwrap()
}

/// Makes the demo's agents.
pub(crate) async fn set_up(runtime: &Runtime) -> Ref<SessionRegistryObject> {
    let session = runtime.session(Caller::operator("test"));
    let data = WorkspaceData { name: "home".to_owned() };
    let workspace =
        WorkspaceObject::create(&session, &WorkspaceObjectInput { data }).await.unwrap();
    let install =
        AgentWorkspaceInstallInput { instructions: String::new(), settings: "{}".to_owned() };
    let directory = AgentWorkspace::on(&session, workspace).install(&install).await.unwrap();
    let agents =
        [(AGENT, Scripted::demo_agent()), (Scripted::RESEARCHER, Scripted::demo_researcher())];
    for (name, config) in agents {
        let create = create(name, &config);
        AgentDirectory::on(&session, directory).create_agent(&create).await.unwrap();
    }
    let input = SessionRegistryObjectInput { leases: Vec::new(), directory };
    SessionRegistryObject::create(&session, &input).await.unwrap()
}

/// Tries that outlast a test in which the engine is killed again and again: each counts as one.
const RETRY: RetryPolicy = RetryPolicy {
    timeout_secs: Some(60),
    max_retries: 1_000,
    backoff_base_secs: 0,
    backoff_max_secs: 0,
};

fn create(name: &str, config: &AgentConfig) -> AgentDirectoryCreateAgentInput {
    let config = AgentConfig { retry: Some(RETRY), ..config.clone() };
    AgentDirectoryCreateAgentInput {
        name: name.to_owned(),
        description: String::new(),
        instructions: String::new(),
        settings: json!({"session": {"agent": config}}).to_string(),
    }
}

/// Who decides and who runs models, in the demo.
pub(crate) fn roster() -> Roster {
    let worker = Local::new().tool(Scripted::WEATHER, |input: Value| async move {
        Ok(json!(format!("rain in {}", input["city"].as_str().unwrap_or("nowhere"))))
    });
    let worker = Arc::new(worker);
    Roster::new()
        .worker(AGENT, Arc::clone(&worker) as _)
        .worker(Scripted::RESEARCHER, worker)
        .provider("", Arc::new(Scripted::demo()))
}

pub(crate) async fn start(
    runtime: &Runtime,
    registry: Ref<SessionRegistryObject>,
    id: &str,
) -> Engine {
    let options = Options { id: id.to_owned(), ..Options::default() };
    Engine::start(runtime.clone(), registry, roster(), options).await.unwrap()
}

pub(crate) fn client() -> Authority {
    Authority {
        class: "frontend".to_owned(),
        tenant: "default".to_owned(),
        owner_id: "ann".to_owned(),
    }
}

/// Says something in a session.
pub(crate) async fn say(
    engine: &Engine,
    session: &str,
    turn: &str,
    text: &str,
) -> Result<Submitted, EngineError> {
    let input = json!({
        "type": "client.message",
        "agent_id": AGENT,
        "turn_id": turn,
        "message": {"role": "user", "content": text},
    });
    let (session, input) = (session.to_owned(), input.to_string());
    engine.submit(client(), session, "{}".to_owned(), input).await
}

pub(crate) async fn view(engine: &Engine, session: &str) -> Value {
    serde_json::from_str(&engine.view(session).await.unwrap()).unwrap()
}

/// Looks at a session until it is as it should be.
pub(crate) async fn wait_for(
    engine: &Engine,
    session: &str,
    what: &str,
    is_so: impl Fn(&Value) -> bool,
) -> Value {
    let started = tokio::time::Instant::now();
    loop {
        let view = view(engine, session).await;
        if is_so(&view) {
            return view;
        }
        assert!(started.elapsed() < PATIENCE, "never {what}: {view:#}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) fn is_done(view: &Value) -> bool {
    view["status"] == "done" && view["turn_id"].is_null()
}

/// Returns what was said, each message as `role: text`.
pub(crate) fn said(view: &Value) -> Vec<String> {
    let line = |message: &Value| {
        let role = message["role"].as_str().unwrap_or_default();
        format!("{role}: {}", message["content"].as_str().unwrap_or_default())
    };
    view["messages"].as_array().unwrap().iter().map(line).collect()
}
