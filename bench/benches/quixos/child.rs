//! What runs in processes of its own, seen from both ends: the parent's, who starts one and reads
//! its one line of JSON, and the child's.

use std::env;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quixos_bench::Durability;
use quixos_package::agent_runtime::{AgentDirectory, AgentRequest, AgentRequestClaimInput};
use quixos_runtime::store::{self, SledOptions, SledStore};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::arguments::Role;
use crate::callers;
use crate::desk::{Desk, LOOK_UP, Served, be_host};
use crate::failure::Failure;
use crate::process;
use crate::scenarios::{FILLERS, open as open_office};
use crate::systems::Office;
use crate::work::{ATTEMPT, ITEM_BYTES, NOW, Operation};

/// What a store is like that has grown.
#[derive(Serialize, Deserialize)]
pub(crate) struct Grown {
    /// How many requests there are.
    pub(crate) requests: u64,
    /// What each operation costs, in microseconds, in the middle of each round; one caller,
    /// buffered.
    pub(crate) costs: Vec<(String, f64)>,
    pub(crate) lives_per_second: f64,
    pub(crate) lives_p99: f64,
    /// The greatest memory, in bytes.
    pub(crate) memory: u64,
}

/// How opening went, in seconds from the beginning.
#[derive(Serialize, Deserialize)]
pub(crate) struct Opened {
    /// The store is open.
    pub(crate) opened: f64,
    /// A request is claimed.
    pub(crate) claimed: f64,
    /// The greatest memory, in bytes.
    pub(crate) memory: u64,
}

/// Lets a store grow to so many requests.
pub(crate) async fn grow(folder: &Path, requests: u64, probes: usize) -> Result<Grown, Failure> {
    let mut command = role("grow")?;
    command.arg(folder).args([requests.to_string(), probes.to_string()]);
    finished(command).await
}

/// Opens a store, and claims a request.
pub(crate) async fn open(folder: &Path) -> Result<Opened, Failure> {
    let mut command = role("open")?;
    command.arg(folder);
    finished(command).await
}

/// Has a process make a store with so many sessions, in each of which a turn is over.
pub(crate) async fn talk(folder: &Path, sessions: u64) -> Result<(), Failure> {
    let mut command = role("talk")?;
    command.arg(folder).arg(sessions.to_string());
    finished::<serde_json::Value>(command).await.map(drop)
}

/// Opens a store with sessions in a process of its own, and returns the memory of that in bytes once
/// its engine has nothing to do.
pub(crate) async fn idle(folder: &Path) -> Result<u64, Failure> {
    let mut command = role("idle")?;
    command.arg(folder);
    finished(command).await
}

/// A host in a process of its own.
pub(crate) struct HostProcess {
    child: Child,
    pub(crate) served: Served,
}

impl HostProcess {
    /// Starts one over a new store, for a worker at an address.
    pub(crate) async fn start(folder: &Path, worker: &str) -> Result<Self, Failure> {
        let mut command = role("host")?;
        command.arg(folder).arg(worker).stdin(Stdio::piped());
        let mut child = command.spawn()?;
        let served = serde_json::from_str(&line(&mut child).await?)?;
        Ok(Self { child, served })
    }

    /// Returns the number of the process; 0 if it is gone.
    pub(crate) fn id(&self) -> u32 {
        self.child.id().unwrap_or_default()
    }

    /// Lets it end, and waits for that.
    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        drop(self.child.stdin.take());
        let status = self.child.wait().await?;
        if status.success() {
            return Ok(());
        }
        Err(Failure::refused(format!("a host ended with {status}")))
    }
}

/// How long a process works before it is killed.
const LOAD: Duration = Duration::from_secs(2);

/// Has a process write all it can, and kills it.
pub(crate) async fn kill_under_load(folder: &Path) -> Result<(), Failure> {
    let mut command = role("load")?;
    command.arg(folder);
    let mut child = command.spawn()?;
    line(&mut child).await?;
    sleep(LOAD).await;
    child.kill().await?;
    Ok(())
}

fn role(name: &str) -> Result<Command, Failure> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(name).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    Ok(command)
}

async fn finished<T: DeserializeOwned>(mut command: Command) -> Result<T, Failure> {
    let mut child = command.spawn()?;
    let said = line(&mut child).await?;
    let status = child.wait().await?;
    if !status.success() {
        return Err(Failure::refused(format!("a process of the run ended with {status}")));
    }
    Ok(serde_json::from_str(&said)?)
}

async fn line(child: &mut Child) -> Result<String, Failure> {
    let said = child.stdout.take().ok_or_else(|| Failure::refused("a process cannot speak"))?;
    let mut line = String::new();
    BufReader::new(said).read_line(&mut line).await?;
    Ok(line)
}

/// Does what a process was started for.
pub(crate) async fn run(role: &Role) -> Result<(), Failure> {
    match role {
        Role::Grow { folder, requests, probes } => {
            let grown = be_grown(folder, *requests, *probes).await?;
            println!("{}", serde_json::to_string(&grown)?);
            Ok(())
        }
        Role::Open { folder } => {
            let opened = be_opened(folder).await?;
            println!("{}", serde_json::to_string(&opened)?);
            Ok(())
        }
        Role::Talk { folder, sessions } => {
            be_talked(folder, *sessions).await?;
            println!("{{}}");
            Ok(())
        }
        Role::Idle { folder } => {
            println!("{}", be_idle(folder).await?);
            Ok(())
        }
        Role::Host { folder, worker } => be_host(folder, worker).await,
        Role::Load { folder } => {
            let mut office = open_office(folder, 0).await?;
            println!("{{}}");
            loop {
                office = live(office, CHUNK).await?;
            }
        }
    }
}

/// How many talk at once where only the store that comes of it counts.
const TALKERS: usize = 64;

async fn be_talked(folder: &Path, sessions: u64) -> Result<(), Failure> {
    let desk = Arc::new(Desk::in_folder(folder).await?);
    let talking = Arc::clone(&desk);
    let sessions = usize::try_from(sessions).unwrap_or(usize::MAX);
    callers::run(TALKERS, 0..sessions, move |number| {
        let mut talk = talking.talk(format!("s{number}"));
        async move { talk.say(LOOK_UP).await }
    })
    .await?;
    let desk = Arc::into_inner(desk).ok_or_else(|| Failure::refused("a caller is left"))?;
    desk.close().await;
    Ok(())
}

/// How long an engine is given to see that it has nothing to do.
const LOOKING: Duration = Duration::from_secs(2);

async fn be_idle(folder: &Path) -> Result<u64, Failure> {
    let desk = Desk::in_folder(folder).await?;
    sleep(LOOKING).await;
    let memory = process::memory_of(std::process::id());
    desk.close().await;
    Ok(memory)
}

/// How many requests are numbered at once.
const CHUNK: u64 = 10_000;

/// How often each operation's cost is measured, and the time between, since a machine is faster at
/// one time than at another.
const COST_ROUNDS: usize = 7;
const COST_PAUSE: Duration = Duration::from_millis(300);

/// How many lives are measured.
const LIVES_PROBED: usize = 1_000;

/// How many requests are left for others to claim.
const QUEUED: u64 = 100;

async fn be_grown(folder: &Path, size: u64, probes: usize) -> Result<Grown, Failure> {
    let mut office = open_office(folder, 0).await?;
    let mut there = lived(&office).await?;
    if there == 0 {
        for _ in 0..QUEUED {
            office.admit().await?;
        }
    }
    while there < size {
        let more = CHUNK.min(size - there);
        office = live(office, more).await?;
        there += more;
    }
    office.settle().await?;

    let mut costs = Vec::new();
    for round in 0..=COST_ROUNDS {
        office.forget(probes);
        let probed = Arc::new(office);
        for operation in Operation::MOST_USED {
            let prober = Arc::clone(&probed);
            let speed = callers::run(1, 0..probes, move |number| {
                let office = Arc::clone(&prober);
                async move { office.perform(operation, number).await }
            })
            .await?;
            // The first is to wake up what has slept.
            if round > 0 {
                costs.push((operation.name().to_owned(), speed.p50_micros));
            }
        }
        office = reclaimed(probed)?;
        sleep(COST_PAUSE).await;
    }
    office.settle().await?;

    let durable = office.session.with_durability(store::Durability::Durable);
    office.session = durable;
    office.forget(LIVES_PROBED);
    let office = Arc::new(office);
    let speed = lives(&office, LIVES_PROBED).await?;
    let requests = lived(&office).await? + QUEUED;
    drop(office);
    Ok(Grown {
        requests,
        costs,
        lives_per_second: speed.per_second(),
        lives_p99: speed.p99_micros,
        memory: process::greatest_memory(),
    })
}

/// Returns how many requests have lived; each has left its completion.
async fn lived(office: &Office) -> Result<u64, Failure> {
    Ok(office.runtime.stream(office.completions.object(), "events")?.len().await?)
}

/// Has so many requests live, from their admission to their completion.
async fn live(mut office: Office, requests: u64) -> Result<Office, Failure> {
    let requests = usize::try_from(requests).unwrap_or(usize::MAX);
    office.forget(requests);
    let office = Arc::new(office);
    lives(&office, requests).await?;
    reclaimed(office)
}

async fn lives(office: &Arc<Office>, requests: usize) -> Result<quixos_bench::Speed, Failure> {
    let office = Arc::clone(office);
    callers::run(FILLERS, 0..requests, move |number| {
        let office = Arc::clone(&office);
        async move {
            for step in Operation::LIFE {
                office.perform(step, number).await?;
            }
            Ok(())
        }
    })
    .await
}

/// Takes back what callers shared; they are gone.
fn reclaimed(office: Arc<Office>) -> Result<Office, Failure> {
    Arc::into_inner(office).ok_or_else(|| Failure::refused("a caller is left"))
}

async fn be_opened(folder: &Path) -> Result<Opened, Failure> {
    let began = Instant::now();
    let store = Arc::new(SledStore::open(folder.join("store"), SledOptions::default())?);
    let opened = began.elapsed().as_secs_f64();
    let office = Office::open(store, Durability::Durable, 0, ITEM_BYTES).await?;
    claim_first(&office).await?;
    let claimed = began.elapsed().as_secs_f64();
    Ok(Opened { opened, claimed, memory: process::greatest_memory() })
}

/// Claims the first pending request, whoever had it: that is what a host does that was started
/// again.
async fn claim_first(office: &Office) -> Result<(), Failure> {
    let directory = AgentDirectory::on(&office.session, office.directory);
    let pending = directory.pending_page(None, 1).await?;
    let first = *pending.first().ok_or_else(|| Failure::refused("nothing is pending"))?;
    let request = AgentRequest::on(&office.session, first);
    let claim = AgentRequestClaimInput {
        attempt: format!("{ATTEMPT}, started again"),
        expected_generation: request.progress().await?.generation,
        started_at: NOW.to_owned(),
        recover: true,
    };
    crate::failure::done(request.claim(&claim).await?.claimed, "claim")
}
