//! Does a stream cost more when it is long? Events are appended, pages are read anywhere, and all
//! of it is followed from the first event on.

use std::sync::Arc;
use std::time::Instant;

use quixos_bench::{Scenario, Unit};
use quixos_package::agent_runtime::{AgentCompletion, AgentRequest, EventStream};

use super::{FILLERS, Stopwatch, as_value, cost, open, plain};
use crate::callers;
use crate::driver::{Bench, say};
use crate::failure::Failure;
use crate::systems::Office;

/// How many events are read at once.
const PAGE: usize = 256;

/// How many events there are at first.
const SHORT: u64 = 1_000;

pub(super) async fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let folder = bench.scratch()?;
    let office = Arc::new(open(folder.path(), 0).await?);
    let event = an_event(&office).await?;
    for length in [SHORT, bench.arguments.scale().max(2 * SHORT)] {
        say(&format!("  {length} events"));
        append_up_to(&office, &event, length).await?;
        for _ in 0..bench.arguments.rounds() {
            round(bench, &office, &event, length).await?;
        }
    }
    Ok(())
}

/// Returns an event about a request that is there.
pub(super) async fn an_event(office: &Office) -> Result<AgentCompletion, Failure> {
    let request = office.admit().await?;
    let thread = AgentRequest::on(&office.session, request).thread().await?;
    Ok(AgentCompletion { request, thread, status: "completed".to_owned() })
}

async fn append_up_to(
    office: &Arc<Office>,
    event: &AgentCompletion,
    length: u64,
) -> Result<(), Failure> {
    let there = office.runtime.stream(office.completions.object(), "events")?.len().await?;
    let missing = usize::try_from(length.saturating_sub(there)).unwrap_or(usize::MAX);
    let (filler, event) = (Arc::clone(office), event.clone());
    callers::run(FILLERS, 0..missing, move |_| {
        let (office, event) = (Arc::clone(&filler), event.clone());
        async move {
            EventStream::on(&office.session, office.completions).publish(&event).await?;
            Ok(())
        }
    })
    .await?;
    office.settle().await
}

async fn round(
    bench: &mut Bench<'_>,
    office: &Office,
    event: &AgentCompletion,
    length: u64,
) -> Result<(), Failure> {
    let times: u32 = bench.arguments.either(50, 500);
    let stream = EventStream::on(&office.session, office.completions);
    let mut watch = Stopwatch::default();
    for _ in 0..times {
        watch.time(stream.publish(event)).await?;
    }
    let append = cost(Scenario::Stream, "publish");
    bench.report.add_figure(append, length, watch.micros());

    let handle = office.runtime.stream(office.completions.object(), "events")?;
    let mut watch = Stopwatch::default();
    for step in 0..u64::from(times) {
        // A prime, so that the pages lie all over the stream.
        let from = (step * 104_729) % length;
        watch.time(handle.read(from, PAGE)).await?;
    }
    let page = cost(Scenario::Stream, "a page of 256 events, anywhere");
    bench.report.add_figure(page, length, watch.micros());

    let mut follow = handle.follow(0);
    let began = Instant::now();
    for _ in 0..length {
        follow.next().await?.ok_or_else(|| Failure::refused("the stream has ended"))?;
    }
    let per_second = as_value(length) / began.elapsed().as_secs_f64();
    let followed = plain(Scenario::Stream, "followed from the first event on", Unit::PerSecond);
    bench.report.add_figure(followed, length, per_second);
    Ok(())
}
