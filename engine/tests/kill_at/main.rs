//! An engine that is killed while something is out: at a decision, a model call, a tool, a child, a
//! pause, a wait, a cancel.
//!
//! The worker and the providers live in the test (`world.rs`) and hold the answer back at which the
//! engine is killed, so that the moment is exact; they count what they are asked. The engine is a
//! process of its own, killed by SIGKILL. Then another one is started on what it left. The turn must
//! end right, each message be there once, the log fold to what is stored, and nothing be asked twice
//! but what was out (`cases.rs`). What was out is read from the store that was left: a kind of call
//! or a trigger that no case is at fails the test.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "the process tells its parent by its output")]

mod cases;
mod reply;
#[path = "../support/mod.rs"]
mod support;
#[path = "../wire/mod.rs"]
mod wire;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use async_trait::async_trait;
use quixos_engine::http::HttpClient;
use quixos_engine::live::Sink;
use quixos_engine::provider::anthropic::Anthropic;
use quixos_engine::provider::openai::OpenAi;
use quixos_engine::provider::scripted::Scripted;
use quixos_engine::provider::{Api, Provider, ProviderError};
use quixos_engine::worker::http::{Endpoint, HttpWorker};
use quixos_engine::worker::{Delivery, DeliveryError, Worker};
use quixos_engine::{Engine, Options, Roster, Settlement};
use quixos_protocol::{CallKind, Handler, LlmRequest, LlmResponse, Trigger};
use quixos_runtime::{Atom as _, Ref, Runtime};
use quixos_session::Reader;
use quixos_session::replay::{Happened, Replay, Stage};
use quixos_session::sessions::{Authority, Session, SessionObject, SessionRegistryObject};
use serde_json::{Value, json};

use cases::{Act, Case, End, Hold, cases};
use reply::USED;
use support::{AGENT, PATIENCE, client, folder, open, said, set_up, view, wait_for};
use world::{ANTHROPIC, OPENAI, World, asked_of_provider, asked_of_worker};

/// Where the process that is killed finds its store, and the world.
const FOLDER: &str = "QUIXOS_KILL_FOLDER";
const URL: &str = "QUIXOS_KILL_URL";
/// What it keeps for itself once it is answered.
const KEPT: &str = "QUIXOS_KILL_KEPT";

const SESSION: &str = "s";

/// Somebody whose answer may come and not be told.
struct Gate<T> {
    inner: T,
    kept: Option<String>,
}

impl<T> Gate<T> {
    async fn pass<A>(&self, what: &str, answer: A) -> A {
        if self.kept.as_deref() == Some(what) {
            println!("kept");
            return std::future::pending().await;
        }
        answer
    }
}

#[async_trait]
impl Worker for Gate<HttpWorker> {
    async fn decide(&self, delivery: Delivery<'_>, sink: &Sink) -> Result<Value, DeliveryError> {
        let what = asked_of_worker(delivery.request);
        let answer = self.inner.decide(delivery, sink).await;
        self.pass(&what, answer).await
    }
}

#[async_trait]
impl<P: Provider> Provider for Gate<P> {
    async fn complete(
        &self,
        request: &LlmRequest,
        stream: bool,
        sink: &Sink,
    ) -> Result<LlmResponse, ProviderError> {
        let reply = self.inner.complete(request, stream, sink).await;
        self.pass(&asked_of_provider(request), reply).await
    }
}

async fn start(runtime: &Runtime, url: &str, kept: Option<String>) -> Engine {
    let http = HttpClient::new(HttpClient::CONNECT_TIMEOUT).unwrap();
    let endpoint = Endpoint::new(&format!("{url}worker")).unwrap();
    let inner = HttpWorker::new(http.clone(), endpoint);
    let worker: Arc<dyn Worker> = Arc::new(Gate { inner, kept: kept.clone() });
    let api = |path: &str| Api::new(&format!("{url}{path}")).unwrap();
    let openai = OpenAi::new(http.clone(), api("openai"));
    let anthropic = Anthropic::new(http, api("anthropic"));
    let roster = Roster::new()
        .worker(AGENT, Arc::clone(&worker))
        .worker(Scripted::RESEARCHER, worker)
        .provider(OPENAI, Arc::new(Gate { inner: openai, kept: kept.clone() }))
        .provider(ANTHROPIC, Arc::new(Gate { inner: anthropic, kept }));
    let options = Options { id: "one".to_owned(), ..Options::default() };
    let registry = registry(runtime).await;
    Engine::start(runtime.clone(), registry, roster, options).await.unwrap()
}

async fn registry(runtime: &Runtime) -> Ref<SessionRegistryObject> {
    let found = runtime.read(|snapshot| snapshot.objects(SessionRegistryObject::TAG, None, 1));
    Ref::from_object(found.await.unwrap()[0]).unwrap()
}

/// Does what is done while an engine lives.
async fn perform(engine: &Engine, act: &Act) {
    match act {
        Act::Submit(input) => {
            let (session, metadata) = (SESSION.to_owned(), "{}".to_owned());
            engine.submit(client(), session, metadata, input.to_string()).await.unwrap();
        }
        Act::Until(kind, times) => {
            let started = tokio::time::Instant::now();
            loop {
                let log = log(engine, SESSION).await;
                if log.iter().filter(|event| event.kind == *kind).count() >= *times {
                    return;
                }
                assert!(started.elapsed() < PATIENCE, "never {times} times {kind}: {log:#?}");
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
        Act::Cancel(turn) => {
            engine.cancel(client(), SESSION, Some(turn.clone())).await.unwrap();
        }
        Act::Settle { by, tool, result } => {
            let view = view(engine, SESSION).await;
            let is_it = |call: &&Value| call["name"].as_str() == tool.as_deref();
            let call = view["calls"].as_array().unwrap().iter().find(is_it).unwrap();
            let call = call["id"].as_str().unwrap().to_owned();
            let by = Authority { class: by.clone(), ..client() };
            let settlement = Settlement::Result(result.clone());
            engine.settle(by, SESSION, call, None, settlement).await.unwrap();
        }
        Act::Held => {}
    }
}

async fn log(engine: &Engine, session: &str) -> Vec<Happened> {
    let Some(session) = engine.session(session).await.unwrap() else { return Vec::new() };
    let session = Session::on(engine.caller(), session);
    let events = session.events(0, usize::MAX).await.unwrap();
    events.iter().map(|event| Happened::read(event).unwrap()).collect()
}

/// The life of the process that is killed: it does what it is told, line by line. Does nothing when
/// it is run as a test among others.
#[test]
fn life() {
    let (Ok(home), Ok(url)) = (env::var(FOLDER), env::var(URL)) else { return };
    let threads = tokio::runtime::Runtime::new().unwrap();
    threads.block_on(async {
        let runtime = open(folder(Path::new(&home)));
        let engine = start(&runtime, &url, env::var(KEPT).ok()).await;
        let mut heard = engine.listen(SESSION);
        tokio::spawn(async move {
            while heard.recv().await.is_ok() {
                println!("heard");
            }
        });
        let mut acts = std::io::stdin().lines();
        while let Some(Ok(line)) = tokio::task::block_in_place(|| acts.next()) {
            perform(&engine, &serde_json::from_str(&line).unwrap()).await;
            println!("did");
        }
    });
}

/// A process that is going to be killed.
struct Victim {
    process: Child,
    says: Receiver<String>,
}

impl Victim {
    fn spawn(home: &Path, world: &World, kept: Option<&str>) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "life", "--nocapture"]);
        command.env(FOLDER, home).env(URL, &world.url).stdin(Stdio::piped());
        if let Some(kept) = kept {
            command.env(KEPT, kept);
        }
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (tell, says) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        Self { process, says }
    }

    fn hears(&self, word: &str) {
        // The harness has the beginning of the first line.
        while !self.says.recv_timeout(PATIENCE).unwrap().ends_with(word) {}
    }

    fn perform(&mut self, act: &Act) {
        let line = serde_json::to_string(act).unwrap();
        writeln!(self.process.stdin.as_mut().unwrap(), "{line}").unwrap();
        self.hears("did");
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// What was out when an engine was killed, in words.
type Struck = BTreeSet<String>;

fn strike(case: &Case) -> Struck {
    let home = tempfile::tempdir().unwrap();
    let threads =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let world = threads.block_on(async {
        let runtime = open(folder(home.path()));
        set_up(&runtime).await;
        runtime.close();
        World::start(case.clone()).await
    });
    let kept = case.held.filter(|_| case.hold == Hold::Answered);
    let mut victim = Victim::spawn(home.path(), &world, kept);
    for act in &case.first {
        match act {
            Act::Held if kept.is_some() => victim.hears("kept"),
            Act::Held => {
                world.held();
                let is_model = case.held.is_some_and(|what| what.starts_with("model"));
                if is_model && case.stream && case.hold == Hold::Halfway {
                    victim.hears("heard");
                }
            }
            Act::Submit(_) | Act::Until(..) | Act::Cancel(_) | Act::Settle { .. } => {
                victim.perform(act);
            }
        }
    }
    victim.kill();
    threads.block_on(recover(case, home.path(), &world))
}

/// Starts another engine on what was left, and looks at what it comes to.
async fn recover(case: &Case, home: &Path, world: &World) -> Struck {
    let runtime = open(folder(home));
    let struck = out(&runtime).await;
    let engine = start(&runtime, &world.url, None).await;
    for act in &case.then {
        perform(&engine, act).await;
    }
    let is_over = |view: &Value| match case.end {
        End::Done => view["turn_id"].is_null() && view["status"] == "done",
        End::Cancelled => view["turn_id"].is_null(),
    };
    let view = wait_for(&engine, SESSION, "over", is_over).await;
    engine.at_rest().await;
    assert_eq!(said(&view), case.said, "{view:#}");
    let nodes = view["message_tree"]["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), case.said.len(), "a message twice, or a branch: {view:#}");

    let (counts, faults) = world.asked();
    let expected = |what: &String| {
        let other = case.not_once.iter().find(|(name, _)| name == what);
        other.map_or(1, |&(_, times)| times)
    };
    let expected: BTreeMap<_, _> =
        counts.keys().map(|what| (what.clone(), expected(what))).collect();
    assert_eq!(counts, expected, "how often each thing was asked");
    for (what, _) in &case.not_once {
        assert!(counts.contains_key(*what), "nobody was asked for {what}: {counts:?}");
    }
    assert_eq!(faults, Vec::<String>::new());

    let log = log(&engine, SESSION).await;
    let count = |kind: &str| log.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("turn.started"), count("turn.completed")), (1, 1), "{log:#?}");
    let used = view["usage"]["usage"]
        .as_object()
        .map_or(0, |usage| usage.values().filter_map(Value::as_u64).sum::<u64>());
    let replies = count("llm.call.completed") as u64;
    assert_eq!(used, USED * replies, "each reply is paid once: {view:#}");
    fold(&runtime).await;
    engine.stop().await;
    let report = runtime.verify().await.unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    runtime.close();
    struck
}

async fn sessions(runtime: &Runtime) -> Vec<Ref<SessionObject>> {
    let found = runtime.read(|snapshot| snapshot.objects(SessionObject::TAG, None, 9)).await;
    found.unwrap().into_iter().map(|object| Ref::from_object(object).unwrap()).collect()
}

async fn stored(runtime: &Runtime, session: Ref<SessionObject>) -> Replay {
    let stored = runtime.read(move |snapshot| Replay::stored(&Reader::on(snapshot, session)));
    stored.await.unwrap()
}

/// Checks that each session's log, folded anew, comes to what is stored.
async fn fold(runtime: &Runtime) {
    let caller = runtime.session(quixos_runtime::Caller::operator("test"));
    for session in sessions(runtime).await {
        let events = Session::on(&caller, session).events(0, usize::MAX).await.unwrap();
        let events: Vec<_> = events.iter().map(|event| Happened::read(event).unwrap()).collect();
        let folded = Replay::of(&events).unwrap();
        assert_eq!(folded.difference(&stored(runtime, session).await), None);
        assert!(folded.decisions.is_empty() && folded.calls.is_empty(), "left: {folded:#?}");
    }
}

/// Returns what was out in the store that a killed engine has left.
async fn out(runtime: &Runtime) -> Struck {
    let mut struck = Struck::new();
    for session in sessions(runtime).await {
        let left = stored(runtime, session).await;
        for decision in left.decisions.values().filter(|decision| decision.stage == Stage::Runs) {
            struck.insert(decision.kind.clone());
        }
        for call in left.calls.values() {
            let stage = match call.stage {
                Stage::Runs => "out",
                Stage::Waits => "waiting",
            };
            struck.insert(format!("{} of the {}, {stage}", call.kind, call.handler));
        }
        if !left.interrupts.is_empty() {
            struck.insert("an interrupt".to_owned());
        }
    }
    struck
}

/// Returns all that must have been out in one case or another. A new kind of call does not compile.
fn all() -> Struck {
    let mut all: Struck = Trigger::KINDS.iter().map(|&kind| kind.to_owned()).collect();
    all.insert("an interrupt".to_owned());
    for kind in [CallKind::ToolCall, CallKind::LlmCall, CallKind::SubAgent] {
        let (name, handlers): (_, &[Handler]) = match kind {
            CallKind::ToolCall => ("tool_call", &[Handler::Worker, Handler::Client]),
            CallKind::LlmCall => ("llm_call", &[Handler::Server, Handler::Worker]),
            CallKind::SubAgent => ("sub_agent", &[Handler::Server]),
        };
        for handler in handlers {
            let handler = json!(handler);
            all.insert(format!("{name} of the {}, out", handler.as_str().unwrap()));
        }
    }
    all.insert("llm_call of the server, waiting".to_owned());
    all.insert("tool_call of the worker, waiting".to_owned());
    all
}

/// `QUIXOS_ONLY` runs the cases whose names have this text in them.
#[test]
fn nothing_is_lost_and_nothing_done_twice_whenever_it_is_killed() {
    let only = env::var("QUIXOS_ONLY").ok();
    let mut cases = cases();
    cases.retain(|case| only.as_ref().is_none_or(|only| case.name.contains(only)));
    let count = cases.len();
    let left = Mutex::new(cases);
    let (struck, failed) = (Mutex::new(Struck::new()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(case) = left.lock().unwrap().pop() else { return };
                    match catch_unwind(AssertUnwindSafe(|| strike(&case))) {
                        Ok(seen) => struck.lock().unwrap().extend(seen),
                        Err(_) => failed.lock().unwrap().push(case.name),
                    }
                }
            });
        }
    });
    let (struck, failed) = (struck.into_inner().unwrap(), failed.into_inner().unwrap());
    println!("{count} moments, killed at each; out were: {struck:#?}");
    assert!(failed.is_empty(), "not as it should be: {failed:#?}");
    if only.is_none() {
        let missing: Vec<_> = all().difference(&struck).cloned().collect();
        assert!(missing.is_empty(), "no case is at: {missing:?}");
    }
}
