//! What tests of a host share: a door for operators over a runtime, and a host as a process.
#![allow(clippy::unwrap_used, dead_code, reason = "a helper of tests; not each uses all of it")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quixos_host::{HttpClient, KeyHash, OperatorDoor};
use quixos_runtime::{Clock, Runtime};
use quixos_shell::HostCommands;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The token of operators.
pub(crate) const TOKEN: &str = "a token of operators";
/// The key of the tenant.
pub(crate) const KEY: &str = "what a program says";

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Serves operators of a runtime, on a thread that ends when the door is closed.
pub(crate) fn door(runtime: &Runtime, clock: Arc<dyn Clock>) -> (OperatorDoor, String) {
    let commands = HostCommands::new(runtime.clone(), clock);
    let door = OperatorDoor::new(runtime.clone(), KeyHash::of(TOKEN), Arc::new(commands));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = door.clone();
    std::thread::spawn(move || {
        let tasks = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tasks.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            served.serve(listener).await.unwrap();
        });
    });
    (door, url)
}

/// A folder with a config, and a store once there is one.
pub(crate) struct Place(TempDir);

/// A config whose model talks slowly, so that there is time to do something meanwhile.
const CONFIG: &str = r#"
[listen]
address = "127.0.0.1:0"

[engine]
stop_secs = 2

[operator]
listen = "127.0.0.1:0"
token_env = "OPERATOR_TOKEN"

[tenants.t]
key_env = "TENANT_KEY"

[tokens]
secret_env = "TOKEN_SECRET"

[[providers]]
kind = "scripted"
models = ["demo"]
script = "script.json"

[[agents]]
name = "talker"
model = "demo"
worker = "echo"
stream = true
"#;

impl Place {
    /// A config with a model that takes some time for each word.
    pub(crate) fn new(pace_ms: u64, words: usize) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.write("quixos.toml", CONFIG);
        let say = "word ".repeat(words);
        let script = json!({ "pace_ms": pace_ms, "lines": [{ "say": say.trim() }] });
        place.write("script.json", &script.to_string());
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Returns a command with all secrets in its environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("quixos"));
        command
            .current_dir(self.0.path())
            .args(arguments)
            .env("OPERATOR_TOKEN", TOKEN)
            .env("QUIXOS_OPERATOR_TOKEN", TOKEN)
            .env("TENANT_KEY", KEY)
            .env("TOKEN_SECRET", "s".repeat(40))
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::from(self.command(arguments).output().unwrap())
    }

    /// Starts the host of the config.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Serving {
        let arguments = [&["serve", "--json"], arguments].concat();
        let mut command = self.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Ok(said) = serde_json::from_str(&line) else {
            panic!(
                "it does not serve: {}",
                String::from_utf8_lossy(&child.wait_with_output().unwrap().stderr)
            )
        };
        Serving { child, said }
    }
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) exit: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            exit: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    #[track_caller]
    pub(crate) fn ends(self, exit: quixos_shell::Exit) -> Self {
        assert_eq!(self.exit, Some(i32::from(exit.number())), "{}\n{}", self.out, self.err);
        self
    }

    /// The answers, one a line.
    #[track_caller]
    pub(crate) fn json(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A host that serves.
pub(crate) struct Serving {
    child: Child,
    /// What it said when it began.
    pub(crate) said: Value,
}

impl Serving {
    pub(crate) fn url(&self) -> &str {
        self.said["address"].as_str().unwrap()
    }

    pub(crate) fn operator(&self) -> &str {
        self.said["operator"].as_str().unwrap()
    }

    /// Sends the process a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Waits until the process has ended.
    pub(crate) fn ended(mut self) -> Run {
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut run = Run { exit: None, out: String::new(), err: String::new() };
        run.exit = self.child.wait().unwrap().code();
        let mut said = self.child.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut said, &mut run.err).unwrap();
        run
    }

    /// Asks the host as the tenant.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> reqwest::Response {
        let request = client().post(format!("{}{path}", self.url())).bearer_auth(KEY);
        request.body(body.to_string()).send().await.unwrap()
    }

    /// Asks the host as the tenant.
    pub(crate) async fn get(&self, path: &str) -> reqwest::Response {
        client().get(format!("{}{path}", self.url())).bearer_auth(KEY).send().await.unwrap()
    }

    /// Says something in a session, as a turn of its own.
    pub(crate) async fn say(&self, session: &str, turn: &str) -> reqwest::Response {
        let message = json!({ "role": "user", "content": "Talk." });
        let payload = json!({ "type": "client.message", "message": message });
        let identity = json!({ "id": "ann" });
        let body = json!({
            "agent_id": "talker",
            "identity": identity,
            "session_id": session,
            "turn_id": turn,
            "payload": payload,
        });
        self.post("/api/machine/sessions/submit", &body).await
    }

    /// Opens the stream of a turn.
    pub(crate) async fn stream(&self, session: &str, turn: &str) -> reqwest::Response {
        let path = format!("/api/machine/sessions/{session}/events/stream");
        self.get(&format!("{path}?after_seq=0&turn_id={turn}")).await
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a client.
pub(crate) fn client() -> reqwest::Client {
    HttpClient::new(HttpClient::CONNECT_TIMEOUT).unwrap().inner().clone()
}
