//! A program that embeds the runtime: it opens a store, loads the packages, calls operations
//! through typed clients, and follows a stream.
//!
//! `cargo run --example embed [FOLDER]`; without a folder, the store is in memory.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::env;
use std::error::Error;
use std::sync::Arc;

use chrono::SecondsFormat;
use quixos_package::agent_runtime::{
    Agent, AgentCompletion, AgentDirectory, AgentRequest, AgentRequestClaimInput,
    AgentRequestFinishInput, AgentSubmission, AgentWorkspace, AgentWorkspaceInstallInput,
};
use quixos_package::workspace::{WorkspaceData, WorkspaceObject, WorkspaceObjectInput};
use quixos_runtime::store::{MemoryStore, SledOptions, SledStore, Store};
use quixos_runtime::{Caller, Clock, Runtime, SystemClock};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // A store, and the packages over it. Opening checks and links their definitions.
    let store: Arc<dyn Store> = match env::args().nth(1) {
        Some(folder) => Arc::new(SledStore::open(folder, SledOptions::default())?),
        None => Arc::new(MemoryStore::new()),
    };
    let mut builder = Runtime::builder();
    for package in quixos_package::packages() {
        builder = builder.package(package);
    }
    let runtime = builder.open(store)?;

    // Whoever calls has a session; the name stands in the history of every transaction.
    let session = runtime.session(Caller::operator("embed"));

    // A workspace is where everything begins. Every answer below is on the disk when it is given.
    let data = WorkspaceData { name: "example".into() };
    let workspace = WorkspaceObject::create(&session, &WorkspaceObjectInput { data }).await?;
    let install = AgentWorkspaceInstallInput {
        instructions: "Answer in one sentence.".into(),
        settings: r#"{"limits":{"maxPending":100}}"#.into(),
    };
    let directory = AgentWorkspace::on(&session, workspace).install(&install).await?;
    let agent = AgentDirectory::on(&session, directory)
        .default_agent()
        .await?
        .ok_or("an installed directory has a default agent")?;

    // Someone asks for work. A full queue, say, is an answer, not an error.
    let submission = AgentSubmission {
        text: "What is a durable queue?".into(),
        data: None,
        profile: None,
        response: None,
        source_kind: "user".into(),
        source_label: "example".into(),
        publication: None,
        created_at: now(),
        contexts: Vec::new(),
        related: None,
        retry_of: None,
        root: None,
        causal_depth: 0,
    };
    let admission = Agent::on(&session, agent).request(&submission).await?;
    let Some(request) = admission.request else {
        return Err(format!("not admitted: {:?}", admission.reason).into());
    };

    // A worker takes it: the fence (attempt, generation) is its right to go on with the request.
    let request_client = AgentRequest::on(&session, request);
    let claim = AgentRequestClaimInput {
        attempt: "worker-1".into(),
        expected_generation: 0,
        started_at: now(),
        recover: false,
    };
    let claimed = request_client.claim(&claim).await?;
    assert!(claimed.claimed, "nobody else is here");

    let finish = AgentRequestFinishInput {
        attempt: claim.attempt,
        generation: claimed.generation,
        status: "completed".into(),
        result: Some("One that still knows after a power cut what it was told.".into()),
        raw_output: None,
        usage: None,
        reason: String::new(),
        ended_at: now(),
    };
    assert!(request_client.finish(&finish).await?, "the fence is held");
    assert!(request_client.publish_completion().await?, "it was not published before");

    // Completions are a durable stream: read it from any offset, or follow it live.
    let completions = Agent::on(&session, agent).completions().await?;
    let mut follow = runtime.stream(completions.object(), "events")?.follow(0);
    let event = follow.next().await?.ok_or("the runtime is open")?;
    let completion: AgentCompletion = event.decode()?;
    println!("#{} {} {}", event.offset, completion.request, completion.status);

    // Anything that a definition offers can be called by name and JSON, too.
    let progress =
        session.invoke_json(request.object(), "progress", &serde_json::Value::Null).await?;
    println!("{}", progress.value["result"]);

    runtime.close();
    Ok(())
}

fn now() -> String {
    SystemClock.now().to_rfc3339_opts(SecondsFormat::Millis, true)
}
