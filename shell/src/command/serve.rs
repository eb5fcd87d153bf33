//! `quixos serve`: sessions over HTTP, as a config file says, or as a demo.

use std::fs;
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quixos_host::config::{Faults, Surroundings};
use quixos_host::{Bearer, Config, Host, HostError, Identity};
use quixos_runtime::store::{MemoryStore, Store};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

use crate::cli::Globals;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Format, Output};
use crate::store;

const EXAMPLES: &str = "\
Examples:
  quixos serve --demo                        try a conversation: no file, no key, nothing is kept
  quixos serve                               what ./quixos.toml says
  quixos serve --config /etc/quixos.toml --listen 0.0.0.0:80
  quixos serve --check                       only show what is wrong with ./quixos.toml

`examples/quixos.toml` shows all that a config may say. Ctrl-c or SIGTERM ends it: what runs is
answered or kept, and goes on at the next start. RUST_LOG says how much is logged.";

/// The config when nobody says.
const DEFAULT_CONFIG: &str = "quixos.toml";

/// The arguments of `serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The config [default: ./quixos.toml].
    #[arg(long, value_name = "FILE", conflicts_with = "demo")]
    config: Option<PathBuf>,
    /// Serve a demo: a model that follows a script, a worker that knows the weather.
    #[arg(long)]
    demo: bool,
    /// Where to listen, whatever the config says; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Check the config, and serve nothing.
    #[arg(long, conflicts_with = "demo")]
    check: bool,
}

/// What is served, and what to tell whoever started it.
struct Serving {
    config: Config,
    /// The demo's token of a client, made once the host is open.
    is_demo: bool,
}

/// Serves until it is told to stop.
///
/// # Errors
/// When the config has faults, the store cannot be opened, or the address is taken.
pub fn run(args: &Args, globals: &Globals, output: &mut Output) -> Result<Exit, Failure> {
    let path = args.config.as_deref().unwrap_or(Path::new(DEFAULT_CONFIG));
    let Serving { mut config, is_demo } = if args.demo { demo() } else { read(path, output)? };
    if args.check {
        let text = format!("`{}` is good", path.display());
        output.print(&Answer::new(json!({ "ok": true })).line(text))?;
        return Ok(Exit::Good);
    }
    config.address = args.listen.unwrap_or(config.address);
    let folder = globals.chosen_store.clone().or_else(|| config.store.clone());
    let store: Arc<dyn Store> = match &folder {
        Some(folder) => store::engine(folder)?,
        None => Arc::new(MemoryStore::new()),
    };
    log(output);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::new(Exit::Io, format!("cannot start: {error}")))?;
    runtime.block_on(serve(config, store, is_demo, output))
}

fn demo() -> Serving {
    // Whoever has neither is not let in, and nobody has: the demo gives out one token.
    let (key, secret) = (random(), random());
    Serving { config: Config::demo(&key, secret.into()), is_demo: true }
}

/// Returns words that nobody guesses.
fn random() -> String {
    format!("{}{}", ulid::Ulid::generate(), ulid::Ulid::generate())
}

fn read(path: &Path, output: &mut Output) -> Result<Serving, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::io("read", path, &error)
            .help("name a config with `--config FILE`, or try `quixos serve --demo`")
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let variable = |name: &str| std::env::var(name).ok();
    match Config::read(&text, Surroundings { folder, variable: &variable }) {
        Ok(config) => Ok(Serving { config, is_demo: false }),
        Err(faults) => Err(show(&faults, path, &text, output)),
    }
}

fn show(faults: &Faults, path: &Path, text: &str, output: &mut Output) -> Failure {
    let name = path.display().to_string();
    let shown = match output.format() {
        Format::Json => output.print(&Answer::new(faults.to_json(&name, text))),
        Format::Text => {
            let rendered = faults.render(&name, text, output.style().colour);
            output.remark(&rendered);
            Ok(())
        }
    };
    shown.err().unwrap_or_else(|| Failure::said(Exit::Findings))
}

fn log(output: &Output) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(output.style().colour && std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // There is one already where this is not the first to serve in this process; that one stays.
    drop(subscriber.try_init());
}

async fn serve(
    config: Config,
    store: Arc<dyn Store>,
    is_demo: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let address = config.address;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| Failure::new(Exit::Io, format!("cannot listen on {address}: {error}")))?;
    let stop = stop().map_err(|error| Failure::new(Exit::Io, error.to_string()))?;
    let host = Host::open(config, store).await.map_err(failure)?;
    let address = listener.local_addr().unwrap_or(address);
    let told = if is_demo { tell_demo(&host, address) } else { Ok(tell(address)) };
    let served = match told.and_then(|answer| output.print(&answer)) {
        Ok(()) => host
            .serve(listener, stop)
            .await
            .map_err(|error| Failure::new(Exit::Io, format!("cannot serve on {address}: {error}"))),
        Err(failure) => Err(failure),
    };
    host.close().await;
    served.map(|()| Exit::Good)
}

fn failure(error: HostError) -> Failure {
    match error {
        HostError::Open(error) => store::open_failure(error),
        HostError::Call(error) => error.into(),
        HostError::Engine(_)
        | HostError::Client(_)
        | HostError::Token(_)
        | HostError::Settings { .. } => Failure::new(Exit::Io, error.to_string()),
    }
}

fn tell(address: SocketAddr) -> Answer {
    let url = format!("http://{address}");
    Answer::new(json!({ "address": url })).line(format!("listening on {url}"))
}

fn tell_demo(host: &Host, address: SocketAddr) -> Result<Answer, Failure> {
    let identity = Identity { id: "you".to_owned(), ..Identity::default() };
    let bearer = Bearer { tenant: Config::DEMO_TENANT.to_owned(), identity };
    let token = host
        .token(&bearer)
        .map_err(|error| Failure::new(Exit::Io, format!("cannot make a token: {error}")))?;
    let url = format!("http://{address}");
    let header = "-H \"Authorization: Bearer $TOKEN\"";
    let input = json!({
        "session_id": "demo",
        "input": {
            "type": "client.message",
            "agent_id": Config::DEMO_AGENT,
            "message": { "role": "user", "content": "How is the weather?" },
        },
    });
    let sessions = format!("{url}/api/client/sessions");
    let lines = [
        format!("curl -sN {header} '{sessions}/demo/events/stream?after_seq=0' &"),
        format!("curl -s {header} {sessions}/input -d '{input}'"),
        format!("curl -s {header} {sessions}/demo"),
    ];
    let json: Value = json!({ "address": url, "token": token, "try": lines });
    let answer = Answer::new(json)
        .line(format!("listening on {url}; nothing is kept, unless there is a `--store`"))
        .line("")
        .line(format!("export TOKEN={token}"));
    let answer = lines.into_iter().fold(answer, Answer::line);
    Ok(answer.line("").line(
        "Say `weather` to see a tool, `book` to be asked, `research` to see a sub-agent; ctrl-c ends.",
    ))
}

/// Returns what ends when the process is told to stop.
#[cfg(unix)]
fn stop() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Returns what ends when the process is told to stop.
#[cfg(windows)]
fn stop() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupt.recv().await;
    })
}
