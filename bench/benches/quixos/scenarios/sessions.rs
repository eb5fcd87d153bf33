//! Sessions: how many questions to workers and how many turns an engine gets through, what a turn
//! costs in a long session, how fast a token is passed on, what is stored, and what is held in
//! memory.
//!
//! The model and the tools answer at once, so that nothing is measured but the engine, the store
//! and, where it says so, sockets on this machine.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quixos_bench::{SILENT_TURN, Scenario, Unit, median};
use quixos_engine::worker::Worker;
use quixos_runtime::store::MemoryStore;
use tokio::sync::Mutex;

use super::{as_value, cost, plain};
use crate::callers;
use crate::child;
use crate::desk::{Desk, EchoServer, LOOK_UP, Lags, TEN_MESSAGES, Talk, echo_over_http, local};
use crate::driver::{Bench, say};
use crate::failure::Failure;

pub(super) async fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for _ in 0..bench.arguments.rounds() {
        speeds(bench).await?;
    }
    long(bench).await?;
    silent(bench).await?;
    stored(bench).await?;
    idle(bench).await?;
    live(bench).await
}

/// Who answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    InProcess,
    OverHttp,
}

impl Where {
    const BOTH: [Self; 2] = [Self::InProcess, Self::OverHttp];

    fn name(self) -> &'static str {
        match self {
            Self::InProcess => "worker in the process",
            Self::OverHttp => "worker over HTTP",
        }
    }

    /// Returns a worker, and the server that it is behind, if it is behind one.
    async fn worker(self) -> Result<(Arc<dyn Worker>, Option<EchoServer>), Failure> {
        match self {
            Self::InProcess => Ok((local(), None)),
            Self::OverHttp => {
                let server = EchoServer::echo().await?;
                Ok((echo_over_http(&server.url)?, Some(server)))
            }
        }
    }
}

/// How many decisions and how many turns a second, on the disk.
async fn speeds(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for place in Where::BOTH {
        for callers in [1, 64] {
            say(&format!("  callers: {callers}, {}", place.name()));
            let folder = bench.scratch()?;
            let store = quixos_runtime::store::SledStore::open(
                folder.path().join("store"),
                quixos_runtime::store::SledOptions::default(),
            )?;
            let (worker, server) = place.worker().await?;
            let desk = Desk::open(Arc::new(store), worker).await?;
            let count = callers * bench.arguments.either(2, 50);
            let asked = talks(&desk, "asked", callers, count, |talk| Box::pin(talk.ask())).await?;
            let turns = count / 2;
            let said =
                talks(&desk, "said", callers, turns, |talk| Box::pin(talk.say(LOOK_UP))).await?;
            let decisions =
                plain(Scenario::Sessions, &format!("decisions, {}", place.name()), Unit::PerSecond);
            bench.report.add_figure(decisions, callers as u64, asked);
            let what = format!("turns (message, model, tool, answer), {}", place.name());
            let turns = plain(Scenario::Sessions, &what, Unit::PerSecond);
            bench.report.add_figure(turns, callers as u64, said);
            desk.close().await;
            drop(server);
        }
    }
    Ok(())
}

type Doing<'t> = std::pin::Pin<Box<dyn Future<Output = Result<(), Failure>> + Send + 't>>;

/// Has callers talk, each in a session of its own that has begun already; returns how many a second.
async fn talks(
    desk: &Desk,
    name: &str,
    callers: usize,
    count: usize,
    work: impl for<'t> Fn(&'t mut Talk) -> Doing<'t> + Copy + Send + Sync + 'static,
) -> Result<f64, Failure> {
    let talks: Vec<Arc<Mutex<Talk>>> = (0..callers)
        .map(|number| Arc::new(Mutex::new(desk.talk(format!("{name} {number}")))))
        .collect();
    for talk in &talks {
        work(&mut *talk.lock().await).await?;
    }
    let talks = Arc::new(talks);
    let speed = callers::run(callers, 0..count, move |number| {
        let talk = Arc::clone(&talks[number % callers]);
        async move { work(&mut *talk.lock().await).await }
    })
    .await?;
    Ok(speed.per_second())
}

/// How many turns around the one that is looked at are measured.
const AROUND: usize = 5;

/// How long a session is talked in. Its turns take longer with each message, since the worker is sent
/// them all; a session that has not come to its last turn by then is measured at the one before it
/// was left.
const PATIENCE: Duration = Duration::from_secs(45);

/// What a turn costs early and late in one session, without a disk that would hide it. A turn in the
/// middle of its neighbours is measured, so that once is enough.
async fn long(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let (early, late) = (10, bench.arguments.either(30, 1_000));
    for place in Where::BOTH {
        say(&format!("  {late} turns of a session, {}", place.name()));
        let (worker, server) = place.worker().await?;
        let desk = Desk::open(Arc::new(MemoryStore::new()), worker).await?;
        let mut talk = desk.talk("long".to_owned());
        let named = |what: &str| format!("{what}, the n-th of its session, {}", place.name());
        let (mut times, began) = (Vec::new(), Instant::now());
        let mut left = Vec::new();
        for at in [early, late] {
            while times.len() < at + AROUND - 1 && began.elapsed() < PATIENCE {
                times.push(timed(&mut talk).await?);
            }
            // What is written and sent in one turn hardly differs from that in a neighbour of it.
            let stored = desk.stored().await?;
            let sent = server.as_ref().map(EchoServer::bytes);
            times.push(timed(&mut talk).await?);
            let sent = server.as_ref().zip(sent).map(|(server, sent)| server.bytes() - sent);
            left.push((times.len() - AROUND, desk.stored().await?.saturating_sub(stored), sent));
        }
        for (at, stored, sent) in left {
            let quantity = cost(Scenario::Sessions, &named("a turn"));
            bench.report.add_figure(quantity, at as u64, around(&times, at));
            let quantity = plain(Scenario::Sessions, &named("stored by a turn"), Unit::Bytes);
            bench.report.add_figure(quantity, at as u64, as_value(stored));
            if let Some(sent) = sent {
                let what = named("sent to the worker and back in a turn");
                let quantity = plain(Scenario::Sessions, &what, Unit::Bytes);
                bench.report.add_figure(quantity, at as u64, as_value(sent));
            }
        }
        desk.close().await;
        drop(server);
    }
    Ok(())
}

/// Has a turn, and returns how long it took.
async fn timed(talk: &mut Talk) -> Result<Duration, Failure> {
    let began = Instant::now();
    talk.say(LOOK_UP).await?;
    Ok(began.elapsed())
}

/// Returns what the turns around one took in the middle, in microseconds.
fn around(times: &[Duration], at: usize) -> f64 {
    let around = times.iter().skip(at - AROUND).take(2 * AROUND);
    median(around.map(|time| time.as_secs_f64() * 1e6)).unwrap_or_default()
}

/// What a turn costs early and late in a session that has no conversation: what the engine itself
/// takes, apart from what the protocol has it send.
async fn silent(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let (early, late) = (10, bench.arguments.either(30, 1_000));
    let desk = Desk::open(Arc::new(MemoryStore::new()), local()).await?;
    let mut talk = desk.talk("silent".to_owned());
    let mut times = Vec::new();
    for _ in 0..late + AROUND {
        let began = Instant::now();
        talk.ask().await?;
        times.push(began.elapsed());
    }
    for at in [early, late] {
        let quantity = cost(Scenario::Sessions, SILENT_TURN);
        bench.report.add_figure(quantity, at as u64, around(&times, at));
    }
    desk.close().await;
    Ok(())
}

/// What a turn of ten messages leaves behind.
async fn stored(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let desk = Desk::open(Arc::new(MemoryStore::new()), local()).await?;
    let mut talk = desk.talk("stored".to_owned());
    talk.say(TEN_MESSAGES).await?;
    let before = desk.stored().await?;
    talk.say(TEN_MESSAGES).await?;
    let after = desk.stored().await?;
    desk.close().await;
    let quantity = plain(Scenario::Sessions, "stored, a turn of 10 messages", Unit::Bytes);
    bench.report.add_figure(quantity, 10, as_value(after.saturating_sub(before)));
    Ok(())
}

/// What an engine takes of memory that has opened a store with idle sessions.
async fn idle(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for sessions in bench.arguments.either([10, 100], [1_000, 10_000]) {
        say(&format!("  {sessions} idle sessions"));
        let folder = bench.scratch()?;
        child::talk(folder.path(), sessions).await?;
        let memory = child::idle(folder.path()).await?;
        let quantity = plain(Scenario::Sessions, "memory with so many idle sessions", Unit::Bytes);
        bench.report.add_figure(quantity, sessions, as_value(memory));
    }
    Ok(())
}

/// How long a token is on its way, and what the host takes of memory meanwhile.
async fn live(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let tokens = bench.arguments.either(3, 20);
    let pace = Duration::from_millis(bench.arguments.either(100, 1_000));
    for streams in [1, bench.arguments.either(20, 1_000)] {
        say(&format!("  live streams: {streams}"));
        let folder = bench.scratch()?;
        let folder: &Path = folder.path();
        let lags = Lags::of(folder, streams, tokens, pace).await?;
        let at = streams as u64;
        for percent in [50, 99] {
            let what = format!("a token from worker to client, p{percent}, so many streams");
            let quantity = plain(Scenario::Sessions, &what, Unit::Micros);
            bench.report.add_figure(quantity, at, lags.percentile(percent));
        }
        let quantity = plain(Scenario::Sessions, "memory with so many streams", Unit::Bytes);
        bench.report.add_figure(quantity, at, as_value(lags.memory));
    }
    Ok(())
}
