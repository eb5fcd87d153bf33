//! The workers of `examples/workers`, each a process of its own, in a conversation with a tool.
//! Where Python or Node is missing, its worker is passed over, and the test says so.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stderr, reason = "what is passed over is said")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use quixos_engine::http::HttpClient;
use quixos_engine::provider::scripted::Scripted;
use quixos_engine::worker::http::{Endpoint, HttpWorker};
use quixos_engine::{Engine, Options, Roster};

mod support;

use support::{AGENT, is_done, memory, open, said, say, set_up, wait_for};

const SECRET: &str = "what the worker and the host share";

/// A process that is ended with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a worker, and returns it with its address; none where what runs it is missing.
fn worker(program: &str, file: &str) -> Option<(Process, String)> {
    let path = format!("{}/../examples/workers/{file}", env!("CARGO_MANIFEST_DIR"));
    let started = Command::new(program)
        .args([&path, "0"])
        .env("WORKER_SECRET", SECRET)
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        eprintln!("{program} is not here: {file} was passed over");
        return None;
    };
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    Some((Process(child), line.trim().to_owned()))
}

async fn talk(program: &str, file: &str, secret: &str, session: &str) -> Option<Vec<String>> {
    let (_process, url) = worker(program, file)?;
    let client = HttpClient::new(Duration::from_secs(5)).unwrap();
    let endpoint = Endpoint::new(&url).unwrap().signed(secret.to_owned().into()).unwrap();
    let roster = Roster::new()
        .worker(AGENT, Arc::new(HttpWorker::new(client, endpoint)))
        .provider("", Arc::new(Scripted::demo()));
    let runtime = open(memory());
    let registry = set_up(&runtime).await;
    let options = Options::default();
    let engine = Engine::start(runtime.clone(), registry, roster, options).await.unwrap();
    say(&engine, session, "t", "How is the weather?").await.unwrap();
    let is_over = |view: &serde_json::Value| is_done(view) || view["turn_id"].is_null();
    let view = wait_for(&engine, session, "over", is_over).await;
    engine.stop().await;
    Some(said(&view))
}

async fn knows_the_weather(program: &str, file: &str) {
    let Some(said) = talk(program, file, SECRET, "s").await else { return };
    assert_eq!(said.last().unwrap(), "assistant: I looked it up: rain in Oslo", "{said:?}");
    let forged = talk(program, file, "another secret, not shared", "s").await.unwrap();
    assert!(forged.is_empty(), "what was not signed was answered: {forged:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worker_in_python_knows_the_weather() {
    knows_the_weather("python3", "worker.py").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worker_in_javascript_knows_the_weather() {
    knows_the_weather("node", "worker.mjs").await;
}
