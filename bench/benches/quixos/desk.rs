//! Sessions over an engine in this process, and whoever talks in them.
//!
//! The model follows a script and waits for nobody, the worker does what is proposed; so what is
//! measured is the engine and what is below it.

mod streams;
mod worker;

use std::path::Path;
use std::sync::Arc;

use quixos_engine::provider::scripted::{Script, Scripted};
use quixos_engine::worker::{Local, Worker};
use quixos_engine::{Engine, Options, Roster};
use quixos_package::agent_runtime::{
    AgentDirectory, AgentDirectoryCreateAgentInput, AgentWorkspace, AgentWorkspaceInstallInput,
};
use quixos_package::workspace::{WorkspaceData, WorkspaceObject, WorkspaceObjectInput};
use quixos_runtime::store::{SledOptions, SledStore, Store};
use quixos_runtime::{Atom, Caller, Follow, Ref, Runtime};
use quixos_session::sessions::{
    Authority, SessionEvent, SessionRegistryObject, SessionRegistryObjectInput,
};
use serde_json::{Value, json};

use crate::failure::Failure;

pub(crate) use streams::{Lags, Served, be_host};
pub(crate) use worker::{EchoServer, echo_over_http};

/// The agent of all sessions.
pub(crate) const AGENT: &str = "measured";

/// What is said to have one tool called.
pub(crate) const LOOK_UP: &str = "look it up";

/// What is said to have a turn of ten messages.
pub(crate) const TEN_MESSAGES: &str = "look up much";

/// An engine in this process.
pub(crate) struct Desk {
    pub(crate) runtime: Runtime,
    pub(crate) engine: Engine,
}

impl Desk {
    /// Opens an engine over a store in a folder, with a worker in this process.
    pub(crate) async fn in_folder(folder: &Path) -> Result<Self, Failure> {
        let store = SledStore::open(folder.join("store"), SledOptions::default())?;
        Self::open(Arc::new(store), local()).await
    }

    /// Opens an engine over a store.
    pub(crate) async fn open(
        store: Arc<dyn Store>,
        worker: Arc<dyn Worker>,
    ) -> Result<Self, Failure> {
        let packages = quixos_package::packages().into_iter().chain([quixos_session::package()]);
        let builder =
            packages.fold(Runtime::builder(), |builder, package| builder.package(package));
        let runtime = builder.open(store)?;
        let registry = registry(&runtime).await?;
        let roster =
            Roster::new().worker(AGENT, worker).provider("", Arc::new(Scripted::new(script()?)));
        let engine = Engine::start(runtime.clone(), registry, roster, Options::default()).await?;
        Ok(Self { runtime, engine })
    }

    /// Begins to talk in a session of its own.
    pub(crate) fn talk(&self, session: String) -> Talk {
        Talk {
            runtime: self.runtime.clone(),
            engine: self.engine.clone(),
            session,
            events: None,
            turns: 0,
        }
    }

    /// Returns the bytes of all keys and values that are stored.
    pub(crate) async fn stored(&self) -> Result<u64, Failure> {
        let counted = self.runtime.read(|snapshot| {
            let (mut bytes, mut after) = (0, None);
            loop {
                let page = snapshot.entries(after.as_deref(), 1_000)?;
                let Some((last, _)) = page.last().cloned() else { return Ok(bytes) };
                bytes += page.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
                after = Some(last);
            }
        });
        Ok(counted.await? as u64)
    }

    /// Stops, and lets the store go.
    pub(crate) async fn close(self) {
        self.engine.stop().await;
        drop(self.engine);
        self.runtime.close();
    }
}

/// A worker in this process that does what is proposed, and runs the tools.
pub(crate) fn local() -> Arc<dyn Worker> {
    let found = |_: Value| async { Ok(json!("12 degrees, and light rain")) };
    Arc::new(Local::new().tool("look_up", found).tool("compare", found))
}

/// The agent's config: its model, its tools.
fn config() -> Value {
    let input = json!({ "type": "object", "properties": { "what": { "type": "string" } } });
    let tool = |name: &str| json!({ "name": name, "description": "Finds.", "input": input });
    json!({ "model": "scripted", "tools": [tool("look_up"), tool("compare")] })
}

fn script() -> Result<Script, Failure> {
    let call = |tool: &str| json!({ "tool": tool, "arguments": { "what": "the weather in Oslo" } });
    Ok(serde_json::from_value(json!({ "lines": [
        { "when": { "says": LOOK_UP }, "call": [call("look_up")] },
        { "when": { "says": TEN_MESSAGES },
          "call": [call("compare"), call("compare"), call("compare"), call("compare")] },
        { "when": { "answered": "compare" }, "call": [call("look_up"), call("look_up")] },
        { "when": { "answered": "look_up" }, "say": "I looked it up: {message}." },
    ]}))?)
}

/// Finds the registry of a store, or makes it and what it needs.
async fn registry(runtime: &Runtime) -> Result<Ref<SessionRegistryObject>, Failure> {
    let there =
        runtime.read(|snapshot| snapshot.objects(SessionRegistryObject::TAG, None, 1)).await?;
    if let Some(&registry) = there.first() {
        return Ok(Ref::checked(registry)?);
    }
    let session = runtime.session(Caller::operator("bench"));
    let data = WorkspaceData { name: "bench".to_owned() };
    let workspace = WorkspaceObject::create(&session, &WorkspaceObjectInput { data }).await?;
    // As many turns as are begun are to be admitted.
    let settings =
        json!({ "limits": { "maxPending": 1_000_000, "maxOrdinaryPending": 1_000_000 } });
    let install =
        AgentWorkspaceInstallInput { instructions: String::new(), settings: settings.to_string() };
    let directory = AgentWorkspace::on(&session, workspace).install(&install).await?;
    let mut settings = settings;
    settings["session"] = json!({ "agent": config() });
    let create = AgentDirectoryCreateAgentInput {
        name: AGENT.to_owned(),
        description: String::new(),
        instructions: String::new(),
        settings: settings.to_string(),
    };
    AgentDirectory::on(&session, directory).create_agent(&create).await?;
    let input = SessionRegistryObjectInput { leases: Vec::new(), directory };
    Ok(SessionRegistryObject::create(&session, &input).await?)
}

/// Somebody who talks in a session, and waits for the end of each turn.
pub(crate) struct Talk {
    runtime: Runtime,
    engine: Engine,
    session: String,
    events: Option<Follow>,
    turns: u64,
}

impl Talk {
    /// Says something, and waits until the turn is over.
    pub(crate) async fn say(&mut self, text: &str) -> Result<(), Failure> {
        let message = json!({ "role": "user", "content": text });
        self.turn(json!({ "type": "client.message", "message": message })).await
    }

    /// Has the worker asked once, and waits until it has answered.
    pub(crate) async fn ask(&mut self) -> Result<(), Failure> {
        self.turn(json!({ "type": "client.action", "name": "nothing" })).await
    }

    async fn turn(&mut self, mut input: Value) -> Result<(), Failure> {
        self.turns += 1;
        let turn = format!("t{}", self.turns);
        input["agent_id"] = json!(AGENT);
        input["turn_id"] = json!(turn);
        let (session, input) = (self.session.clone(), input.to_string());
        self.engine.submit_followed(owner(), session, "{}".to_owned(), input, None).await?;
        let events = match &mut self.events {
            Some(events) => events,
            None => {
                let found = self.engine.session(&self.session).await?;
                let session = found.ok_or_else(|| Failure::refused("no session was made"))?;
                let stream = self.runtime.stream(session.object(), "events")?;
                self.events.insert(stream.follow(0))
            }
        };
        while let Some(event) = events.next().await? {
            let event: SessionEvent = event.decode()?;
            if event.r#type == "turn.completed" && event.turn.as_ref() == Some(&turn) {
                let payload: Value = serde_json::from_str(&event.payload)?;
                return match payload.get("error") {
                    None => Ok(()),
                    Some(error) => Err(Failure::refused(format!("a turn failed: {error}"))),
                };
            }
        }
        Err(Failure::refused("the runtime was closed in the middle of a turn"))
    }
}

fn owner() -> Authority {
    Authority {
        class: "frontend".to_owned(),
        tenant: "bench".to_owned(),
        owner_id: "bench".to_owned(),
    }
}
