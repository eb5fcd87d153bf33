//! How far live readers lag behind the commit: all on one stream, and spread over a hundred.
//!
//! A lag is the time from the moment when the publisher is told that the event is on the disk to
//! the moment when a reader has it; readers may well have it first. The next event is published
//! when everyone has the last.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quixos_bench::{Scenario, Unit};
use quixos_package::agent_runtime::{
    Agent, AgentCompletion, AgentDirectory, AgentDirectoryCreateAgentInput, EventStream,
};
use quixos_runtime::store::Durability;
use quixos_runtime::{InterfaceRef, Session};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::stream::an_event;
use super::{as_value, open, plain};
use crate::driver::{Bench, say};
use crate::failure::Failure;
use crate::systems::Office;
use crate::work;

type Stream = InterfaceRef<EventStream<AgentCompletion>>;

/// A reader has an event: its stream, and when.
type Seen = (usize, Instant);

pub(super) async fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    for readers in bench.arguments.either([100, 1_000], [1_000, 10_000]) {
        for streams in [1, 100] {
            say(&format!("  {readers} readers on {streams} streams"));
            fan_out(bench, readers, streams).await?;
        }
    }
    Ok(())
}

async fn fan_out(bench: &mut Bench<'_>, readers: usize, count: usize) -> Result<(), Failure> {
    let folder = bench.scratch()?;
    let office = Arc::new(open(folder.path(), 0).await?);
    let event = an_event(&office).await?;
    let mut streams = Vec::new();
    for number in 0..count {
        streams.push(new_stream(&office, number).await?);
    }
    office.settle().await?;
    let (seen, mut all_seen) = unbounded_channel();
    let mut following = follow_all(&office, &streams, readers, &seen)?;
    let mut lags = Vec::new();
    let began = Instant::now();
    let events = bench.arguments.either(3, 20);
    for _ in 0..events {
        publish_to_all(&office, &streams, &event, readers, &mut all_seen, &mut lags).await?;
    }
    let seconds = began.elapsed().as_secs_f64();
    following.shutdown().await;

    lags.sort_unstable();
    let at = readers as u64;
    let per_second = as_value(lags.len() as u64) / seconds;
    let where_ =
        if count == 1 { "on one stream".to_owned() } else { format!("on {count} streams") };
    let micros = [(50, "p50"), (99, "p99"), (100, "the last")];
    for (percent, name) in micros {
        let quantity = plain(Scenario::FanOut, &format!("lag {where_}, {name}"), Unit::Micros);
        let rank = (lags.len() * percent).div_ceil(100).saturating_sub(1);
        let lag = lags.get(rank).copied().unwrap_or_default();
        bench.report.add_figure(quantity, at, lag.as_secs_f64() * 1e6);
    }
    let told = plain(Scenario::FanOut, &format!("events told {where_}"), Unit::PerSecond);
    bench.report.add_figure(told, at, per_second);
    Ok(())
}

/// Makes an agent, for its stream.
async fn new_stream(office: &Office, number: usize) -> Result<Stream, Failure> {
    let input = AgentDirectoryCreateAgentInput {
        name: format!("agent {number}"),
        description: String::new(),
        instructions: work::INSTRUCTIONS.to_owned(),
        settings: "{}".to_owned(),
    };
    let directory = AgentDirectory::on(&office.session, office.directory);
    let agent = directory.create_agent(&input).await?;
    Ok(Agent::on(&office.session, agent).completions().await?)
}

/// Lets readers follow, spread evenly over the streams.
fn follow_all(
    office: &Office,
    streams: &[Stream],
    readers: usize,
    seen: &UnboundedSender<Seen>,
) -> Result<JoinSet<()>, Failure> {
    let mut following = JoinSet::new();
    for reader in 0..readers {
        let stream = reader % streams.len();
        let mut follow = office.runtime.stream(streams[stream].object(), "events")?.follow(0);
        let seen = seen.clone();
        following.spawn(async move {
            // Who gets no more events has nothing to tell; the round then waits, and says so.
            while let Ok(Some(_)) = follow.next().await {
                if seen.send((stream, Instant::now())).is_err() {
                    return;
                }
            }
        });
    }
    Ok(following)
}

/// How long readers have to get an event.
const PATIENCE: Duration = Duration::from_secs(60);

/// Publishes an event on each stream at once, and waits until every reader has it.
async fn publish_to_all(
    office: &Office,
    streams: &[Stream],
    event: &AgentCompletion,
    readers: usize,
    all_seen: &mut UnboundedReceiver<Seen>,
    lags: &mut Vec<Duration>,
) -> Result<(), Failure> {
    let session = office.session.with_durability(Durability::Durable);
    let mut publishing = JoinSet::new();
    for (number, stream) in streams.iter().enumerate() {
        publishing.spawn(publish(session.clone(), *stream, event.clone(), number));
    }
    let mut told = vec![None; streams.len()];
    while let Some(published) = publishing.join_next().await {
        let (number, at) = published.map_err(|_| Failure::refused("a publisher panicked"))??;
        told[number] = Some(at);
    }
    for _ in 0..readers {
        let next = tokio::time::timeout(PATIENCE, all_seen.recv()).await;
        let next = next.map_err(|_| Failure::refused("a reader did not get an event"))?;
        let (stream, at) = next.ok_or_else(|| Failure::refused("the readers are gone"))?;
        lags.extend(told[stream].map(|told| at.saturating_duration_since(told)));
    }
    Ok(())
}

async fn publish(
    session: Session,
    stream: Stream,
    event: AgentCompletion,
    number: usize,
) -> Result<Seen, Failure> {
    EventStream::on(&session, stream).publish(&event).await?;
    Ok((number, Instant::now()))
}
