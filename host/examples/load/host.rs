//! A host in a process of its own: started, measured, killed, started again.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use quixos_engine::worker::http::Endpoint;
use quixos_host::config::WorkerConfig;
use quixos_host::{Bearer, Config, Host, Identity};
use quixos_protocol::RetryPolicy;
use quixos_runtime::store::{SledOptions, SledStore};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

const KEY: &str = "the key of the load's tenant";
const SECRET: &str = "the secret of the load's tokens, long enough";

/// A host that runs.
pub(super) struct Process {
    child: Child,
    folder: TempDir,
    pub(super) address: String,
    pub(super) token: String,
}

impl Process {
    /// Starts a host over a store of its own.
    pub(super) async fn start(options: &[&str]) -> Self {
        Self::over(tempfile::tempdir().unwrap(), options).await
    }

    async fn over(folder: TempDir, options: &[&str]) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("serve")
            .arg(folder.path())
            .args(options)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.next_line().await.unwrap().expect("a host says where it is");
        let token = lines.next_line().await.unwrap().expect("a host gives out a token");
        Self { child, folder, address, token }
    }

    /// Kills it, and starts another over what it left.
    pub(super) async fn again(mut self, options: &[&str]) -> Self {
        self.child.kill().await.unwrap();
        Self::over(self.folder, options).await
    }

    /// Returns how many MiB of memory it has.
    pub(super) fn memory(&self) -> usize {
        self.status("VmRSS:")
    }

    /// Returns how many MiB of memory it had when it had most.
    pub(super) fn peak(&self) -> usize {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> usize {
        let status = format!("/proc/{}/status", self.child.id().unwrap());
        let status = std::fs::read_to_string(status).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with(name));
        let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        number.map_or(0, |kib: usize| kib / 1024)
    }
}

/// Is the host: says where it is, and serves until it is killed.
pub(super) async fn serve(arguments: &[String]) {
    let folder = PathBuf::from(&arguments[0]).join("store");
    let option = |name: &str| {
        let at = arguments.iter().position(|it| it == name)?;
        arguments.get(at + 1).cloned()
    };
    let mut options = SledOptions::default();
    if let Some(room) = option("--room-mib").and_then(|it| it.parse::<u64>().ok()) {
        // The store leaves free all but so much.
        let free = fs4::available_space(&arguments[0]).unwrap();
        options.free_space_floor = free.saturating_sub(room << 20);
    } else {
        options.free_space_floor = 0;
    }
    let store = Arc::new(SledStore::open(folder, options).unwrap());
    let mut config = Config::demo(KEY, SECRET.to_owned().into());
    config.limits.connections.most = 1 << 20;
    // One owner stands for many here.
    config.limits.requests = 10_000_000;
    config.limits.streams = 1 << 20;
    if let Some(seconds) = option("--head-secs").and_then(|it| it.parse().ok()) {
        config.limits.connections.head = Duration::from_secs(seconds);
    }
    if let Some(address) = option("--worker") {
        let endpoint = Endpoint::new(&address).unwrap();
        config.agents[0].worker = WorkerConfig::Http(Box::new(endpoint));
        config.agents[0].decision_retry = Some(RetryPolicy {
            timeout_secs: Some(30),
            max_retries: 20,
            backoff_base_secs: 1,
            backoff_max_secs: 2,
        });
    }
    let host = Host::open(config, store).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let identity = Identity { id: "load".to_owned(), ..Identity::default() };
    let bearer = Bearer { tenant: Config::DEMO_TENANT.to_owned(), identity, agents: None };
    println!("{}", listener.local_addr().unwrap());
    println!("{}", host.token(&bearer).unwrap());
    host.serve(listener, std::future::pending()).await.unwrap();
}
