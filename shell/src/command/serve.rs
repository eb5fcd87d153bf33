//! `quixos serve`: sessions over HTTP, as a config file says, or as a demo.

use std::fs;
use std::io::{ErrorKind, IsTerminal as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quixos_host::config::{Faults, Surroundings};
use quixos_host::{
    Bearer, Config, Host, HostError, Identity, KeyHash, OperatorConfig, Telemetry, TelemetryConfig,
};
use quixos_runtime::SystemClock;
use quixos_runtime::store::{MemoryStore, Store};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt};

use crate::cli::Globals;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Format, Output};
use crate::remote::HostCommands;
use crate::{serving, store};

const EXAMPLES: &str = "\
Examples:
  quixos serve --demo                        try a conversation: no file, no key, nothing is kept
  quixos serve                               what ./quixos.toml says
  quixos serve --config /etc/quixos.toml --listen 0.0.0.0:80
  quixos serve --check                       only show what is wrong with ./quixos.toml

`examples/quixos.toml` shows all that a config may say. Ctrl-c or SIGTERM ends it: no turn begins
any more, what runs has the time to end that the config says, and what has not ended goes on at the
next start. A second one ends it at once. RUST_LOG says how much is logged.";

/// How long what does not end by itself is waited for at the very end.
const LAST: Duration = Duration::from_secs(1);

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
    /// How the log is written, to standard error.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    log: LogForm,
    /// Check the config, and serve nothing.
    #[arg(long, conflicts_with = "demo")]
    check: bool,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum LogForm {
    /// For people.
    #[default]
    Text,
    /// An object of JSON a line.
    Json,
}

/// What is served, and what to tell whoever started it.
struct Serving {
    config: Config,
    /// The token of the demo's operator, if it is the demo.
    demo_token: Option<String>,
}

/// Where a host is reached.
struct Addresses {
    clients: SocketAddr,
    operators: Option<SocketAddr>,
}

/// Serves until it is told to stop.
///
/// # Errors
/// When the config has faults, the store cannot be opened, or the address is taken.
pub fn run(args: &Args, globals: &Globals, output: &mut Output) -> Result<Exit, Failure> {
    let path = args.config.as_deref().unwrap_or(Path::new(DEFAULT_CONFIG));
    let Serving { mut config, demo_token } = if args.demo { demo() } else { read(path, output)? };
    if args.check {
        let text = format!("`{}` is good", path.display());
        output.print(&Answer::new(json!({ "ok": true })).line(text))?;
        return Ok(Exit::Good);
    }
    config.address = args.listen.unwrap_or(config.address);
    if !config.durable.may_listen_on(config.address.ip()) {
        let message = format!("streams are open to anybody, and so is {}", config.address);
        return Err(Failure::new(Exit::Refused, message)
            .help("leave `--listen` out, or say `open_to_all = true` in `[durable]`"));
    }
    let folder = globals.chosen_store.clone().or_else(|| config.store.clone());
    let store: Arc<dyn Store> = match &folder {
        Some(folder) => store::engine(folder)?,
        None => Arc::new(MemoryStore::new()),
    };
    config.store.clone_from(&folder);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::new(Exit::Io, format!("cannot start: {error}")))?;
    let served = runtime.block_on(async {
        let telemetry = config.telemetry.as_ref().map(Telemetry::start).transpose();
        let telemetry =
            telemetry.map_err(|error| Failure::new(Exit::Io, format!("cannot trace: {error}")))?;
        log(args.log, telemetry.as_ref(), output);
        let served = serve(config, store, demo_token, output).await;
        if let Some(telemetry) = telemetry
            && let Err(error) = telemetry.stop().await
        {
            output.remark(&error.to_string());
        }
        served
    });
    // Commands of operators that do not end are not waited for.
    runtime.shutdown_timeout(LAST);
    served
}

fn demo() -> Serving {
    // Whoever has neither is not let in, and nobody has: the demo gives out one token of a client,
    // and one of an operator.
    let (key, secret, token) = (random(), random(), random());
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let operator = OperatorConfig { address, token: KeyHash::of(&token) };
    let telemetry = TelemetryConfig::of(None, None, &|name| std::env::var(name).ok());
    let demo = Config::demo(&key, secret.into());
    let config = Config { operator: Some(operator), telemetry, ..demo };
    Serving { config, demo_token: Some(token) }
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
        Ok(config) => Ok(Serving { config, demo_token: None }),
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

fn log(form: LogForm, telemetry: Option<&Telemetry>, output: &Output) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let log = fmt::layer().with_writer(std::io::stderr);
    let log = match form {
        LogForm::Text => {
            log.with_ansi(output.style().colour && std::io::stderr().is_terminal()).boxed()
        }
        LogForm::Json => log.json().flatten_event(true).with_ansi(false).boxed(),
    };
    let subscriber = tracing_subscriber::registry().with(log.with_filter(filter));
    // There is one already where this is not the first to serve in this process; that one stays.
    drop(subscriber.with(telemetry.map(Telemetry::layer)).try_init());
}

async fn serve(
    config: Config,
    store: Arc<dyn Store>,
    demo_token: Option<String>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (grace, folder) = (config.grace, config.store.clone());
    let listener = bind(config.address).await?;
    let operators = match config.operator {
        Some(operator) => Some(bind(operator.address).await?),
        None => None,
    };
    let (stop, mut told) = stop().map_err(|error| Failure::new(Exit::Io, error.to_string()))?;
    let host = Host::open(config, store).await.map_err(failure)?;
    let address = |listener: &TcpListener| {
        listener.local_addr().map_err(|error| Failure::new(Exit::Io, error.to_string()))
    };
    let addresses = Addresses {
        clients: address(&listener)?,
        operators: operators.as_ref().map(address).transpose()?,
    };
    let _note = match (&folder, addresses.operators) {
        (Some(folder), Some(at)) => Some(note(folder, at)?),
        _ => None,
    };
    let commands = HostCommands::new(host.runtime().clone(), Arc::new(SystemClock));
    let door = host.operator(Arc::new(commands)).zip(operators);
    let answer = match demo_token {
        Some(token) => tell_demo(&host, &addresses, &token)?,
        None => tell(&addresses),
    };
    output.print(&answer)?;
    let served = {
        let clients = host.serve(listener, stop);
        let operators = async {
            match door {
                Some((door, listener)) => door.serve(listener).await,
                None => Ok(()),
            }
        };
        let both = async { tokio::try_join!(clients, operators) };
        tokio::pin!(both);
        tokio::select! {
            served = &mut both => served,
            Ok(()) = &mut told => {
                let seconds = grace.as_secs();
                output.remark(&format!(
                    "stopping: what runs has {seconds} s to end; to stop at once, say so again"
                ));
                both.await
            }
        }
    };
    host.close().await;
    served
        .map(|_| Exit::Good)
        .map_err(|error| Failure::new(Exit::Io, format!("cannot serve: {error}")))
}

async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        let failure = Failure::new(Exit::Io, format!("cannot listen on {address}: {error}"));
        if error.kind() == ErrorKind::AddrInUse {
            failure.help("stop what listens there, or name another port")
        } else {
            failure
        }
    })
}

fn note(folder: &Path, operators: SocketAddr) -> Result<serving::Serving, Failure> {
    serving::Serving::note(folder, &format!("http://{operators}"))
        .map_err(|error| Failure::io("write to", folder, &error))
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

fn tell(addresses: &Addresses) -> Answer {
    let url = format!("http://{}", addresses.clients);
    let operators = addresses.operators.map(|address| format!("http://{address}"));
    let answer = Answer::new(json!({ "address": url, "operator": operators }));
    let answer = answer.line(format!("listening on {url}"));
    match operators {
        Some(url) => answer.line(format!("operators come in at {url}")),
        None => answer,
    }
}

fn tell_demo(host: &Host, addresses: &Addresses, token: &str) -> Result<Answer, Failure> {
    let identity = Identity { id: "you".to_owned(), ..Identity::default() };
    let bearer = Bearer { tenant: Config::DEMO_TENANT.to_owned(), identity, agents: None };
    let of_client = host
        .token(&bearer)
        .map_err(|error| Failure::new(Exit::Io, format!("cannot make a token: {error}")))?;
    let url = format!("http://{}", addresses.clients);
    let operators = addresses.operators.map(|address| format!("http://{address}"));
    let header = "-H \"Authorization: Bearer $TOKEN\"";
    let says =
        |text: &str| json!({ "messages": [{ "content": [{ "type": "text", "text": text }] }] });
    let stream = format!("{url}/v1/agents/{}/stream", Config::DEMO_AGENT);
    let lines = [
        format!("curl -sN {header} {stream} -d '{}'", says("How is the weather?")),
        format!("curl -sN {header} {stream} -d '{}'", says("Please book it.")),
        format!("curl -s {header} {url}/v1/threads"),
    ];
    // What stands behind the `#` stays in the browser.
    let page = format!("{url}/#{of_client}");
    let json: Value = json!({
        "address": url,
        "token": of_client,
        "page": page,
        "operator": operators,
        "operator_token": token,
        "try": lines,
    });
    let answer = Answer::new(json)
        .line(format!("listening on {url}; nothing is kept, unless there is a `--store`"))
        .line("")
        .line(format!("in a browser: {page}"))
        .line("")
        .line(format!("export TOKEN={of_client}"));
    let answer = lines.into_iter().fold(answer, Answer::line);
    let answer = answer.line("").line(
        "Say `weather` to see a tool, `book` or `sign` to be asked, `research` to see a sub-agent, \
         `story` for a long reply; ctrl-c ends.",
    );
    Ok(match operators {
        Some(url) => answer
            .line("")
            .line("As an operator, see all of it, in a browser and in a shell:")
            .line(format!("{url}/#token={token}&operator=you"))
            .line(format!("QUIXOS_OPERATOR_TOKEN={token} quixos shell --connect {url}")),
        None => answer,
    })
}

/// Returns what ends when the process is told to stop, and what hears of it. Told twice, the process
/// ends at once: the store is made to be left at any moment.
#[cfg(unix)]
fn stop() -> std::io::Result<(impl Future<Output = ()> + Send + 'static, oneshot::Receiver<()>)> {
    use tokio::signal::unix::{Signal, SignalKind, signal};

    async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let (told, hears) = oneshot::channel();
    let first = async move {
        either(&mut interrupt, &mut terminate).await;
        tokio::spawn(async move {
            either(&mut interrupt, &mut terminate).await;
            std::process::exit(Exit::Interrupted.number().into());
        });
        // Whoever is gone needs not hear it.
        let _ = told.send(());
    };
    Ok((first, hears))
}

/// Returns what ends when the process is told to stop, and what hears of it. Told twice, the process
/// ends at once: the store is made to be left at any moment.
#[cfg(windows)]
fn stop() -> std::io::Result<(impl Future<Output = ()> + Send + 'static, oneshot::Receiver<()>)> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    let (told, hears) = oneshot::channel();
    let first = async move {
        interrupt.recv().await;
        tokio::spawn(async move {
            interrupt.recv().await;
            std::process::exit(Exit::Interrupted.number().into());
        });
        // Whoever is gone needs not hear it.
        let _ = told.send(());
    };
    Ok((first, hears))
}
