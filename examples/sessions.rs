//! A program that runs agents itself: an engine over a store, a worker that is a Rust value, and a
//! conversation with a tool call.
//!
//! `cargo run --example sessions [FOLDER]`; without a folder, the store is in memory. The model
//! follows a script, so that neither a key nor a network is needed: put an
//! `openai::OpenAi` or `anthropic::Anthropic` in its place for another one.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::env;
use std::error::Error;
use std::sync::Arc;

use quixos_engine::provider::scripted::{Script, Scripted};
use quixos_engine::worker::Local;
use quixos_engine::{Engine, Options, Roster};
use quixos_package::agent_runtime::{
    AgentDirectory, AgentDirectoryCreateAgentInput, AgentWorkspace, AgentWorkspaceInstallInput,
};
use quixos_package::workspace::{WorkspaceData, WorkspaceObject, WorkspaceObjectInput};
use quixos_runtime::store::{MemoryStore, SledOptions, SledStore, Store};
use quixos_runtime::{Atom, Caller, Ref, Runtime};
use quixos_session::sessions::{
    Authority, SessionEvent, SessionRegistryObject, SessionRegistryObjectInput,
};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let store: Arc<dyn Store> = match env::args().nth(1) {
        Some(folder) => Arc::new(SledStore::open(folder, SledOptions::default())?),
        None => Arc::new(MemoryStore::new()),
    };
    for line in talk(store).await? {
        println!("{line}");
    }
    Ok(())
}

/// Holds a conversation, and returns what was said in it.
pub(crate) async fn talk(store: Arc<dyn Store>) -> Result<Vec<String>, Box<dyn Error>> {
    // Sessions are a package beside AgentRuntime.
    let packages = quixos_package::packages().into_iter().chain([quixos_session::package()]);
    let builder = packages.fold(Runtime::builder(), |builder, package| builder.package(package));
    let runtime = builder.open(store)?;
    let registry = registry(&runtime).await?;

    // The worker decides. This one does what the engine proposes, and runs a tool that is a Rust
    // function; it may be run twice if the process is killed before its result is stored.
    let worker = Local::new().tool("weather", |input: Value| async move {
        let city = input["city"].as_str().ok_or("which city?")?;
        Ok(json!(format!("12 degrees and light rain in {city}")))
    });
    let script: Script = serde_json::from_value(json!({ "lines": [
        { "when": { "says": "weather" },
          "call": [{ "tool": "weather", "arguments": { "city": "Oslo" } }] },
        { "when": { "answered": "weather" }, "say": "I looked it up: {message}." },
        { "say": "Ask me about the weather." },
    ]}))?;
    let roster = Roster::new()
        .worker("concierge", Arc::new(worker))
        .provider("", Arc::new(Scripted::new(script)));
    let engine = Engine::start(runtime.clone(), registry, roster, Options::default()).await?;

    // The program knows who its caller is. A turn that is submitted again under its id is the same.
    let by =
        Authority { class: "frontend".into(), tenant: "example".into(), owner_id: "ann".into() };
    let input = json!({
        "type": "client.message",
        "agent_id": "concierge",
        "turn_id": "t1",
        "message": { "role": "user", "content": "How is the weather?" },
    });
    let (id, metadata) = ("s1".to_owned(), "{}".to_owned());
    engine.submit_followed(by, id.clone(), metadata, input.to_string(), None).await?;

    // What happens is a durable stream of events, to be read from any offset.
    let session = engine.session(&id).await?.ok_or("the input made the session")?;
    let mut events = runtime.stream(session.object(), "events")?.follow(0);
    let mut said = Vec::new();
    while let Some(event) = events.next().await? {
        let event: SessionEvent = event.decode()?;
        let payload: Value = serde_json::from_str(&event.payload)?;
        match event.r#type.as_str() {
            "message.new" => said.push(line(&payload["message"])),
            "turn.completed" => break,
            _ => {}
        }
    }
    engine.stop().await;
    runtime.close();
    Ok(said)
}

fn line(message: &Value) -> String {
    let role = message["role"].as_str().unwrap_or_default();
    match message["content"].as_str() {
        Some(text) => format!("{role}: {text}"),
        None => format!("{role} calls {}", message["tool_calls"][0]["function"]["name"]),
    }
}

/// Returns the registry of the store's sessions. A new store gets one, and an agent to talk to.
async fn registry(runtime: &Runtime) -> Result<Ref<SessionRegistryObject>, Box<dyn Error>> {
    let there =
        runtime.read(|snapshot| snapshot.objects(SessionRegistryObject::TAG, None, 1)).await?;
    if let Some(&registry) = there.first() {
        return Ok(Ref::checked(registry)?);
    }
    let session = runtime.session(Caller::operator("example"));
    let data = WorkspaceData { name: "example".into() };
    let workspace = WorkspaceObject::create(&session, &WorkspaceObjectInput { data }).await?;
    let install = AgentWorkspaceInstallInput { instructions: String::new(), settings: "{}".into() };
    let directory = AgentWorkspace::on(&session, workspace).install(&install).await?;
    let tool = json!({
        "name": "weather",
        "description": "Tells the weather.",
        "input": { "type": "object", "properties": { "city": { "type": "string" } } },
    });
    let settings = json!({ "session": { "agent": { "model": "scripted", "tools": [tool] } } });
    let concierge = AgentDirectoryCreateAgentInput {
        name: "concierge".into(),
        description: "Knows the weather.".into(),
        instructions: "Answer in one sentence.".into(),
        settings: settings.to_string(),
    };
    AgentDirectory::on(&session, directory).create_agent(&concierge).await?;
    let input = SessionRegistryObjectInput { leases: Vec::new(), directory };
    Ok(SessionRegistryObject::create(&session, &input).await?)
}
