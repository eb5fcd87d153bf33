//! Does an operation cost more among many of what it touches than among few? One directory with ten
//! requests pending and one with very many; a request with ten items and one with very many; the
//! same with questions, and with completions that are still to be told.
//!
//! The unfavourable case is here, too: questions that all have one key. `ask` looks at each of them,
//! since an answered one among them is the answer, so that it costs more the more there are.

use std::sync::Arc;

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use quixos_bench::{Quantity, Role, Scenario, Unit};
use quixos_package::agent_runtime::{AgentRequest, AgentRequestObject, ItemData};
use quixos_runtime::Ref;
use tempfile::TempDir;

use super::{FILLERS, Stopwatch, cost, open};
use crate::callers;
use crate::driver::{Bench, say};
use crate::failure::Failure;
use crate::systems::Office;
use crate::work;

/// How many there are of everything.
#[derive(Clone, Copy)]
struct Size {
    pending: u64,
    items: u64,
    questions: u64,
    untold: u64,
}

const FEW: Size = Size { pending: 10, items: 10, questions: 10, untold: 10 };

/// A store with a crowd in it.
struct Crowd {
    office: Arc<Office>,
    size: Size,
    /// Holds the items, and the questions.
    request: Ref<AgentRequestObject>,
    /// Holds questions that all have one key.
    single_minded: Ref<AgentRequestObject>,
    /// How many of those there are.
    asked: u64,
    /// How often something was written here that has to be new each time.
    fresh: u64,
    _folder: TempDir,
}

pub(super) async fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let scale = bench.arguments.scale();
    let many = Size {
        pending: scale.min(100_000),
        items: (scale / 10).min(10_000),
        questions: (scale / 100).min(1_000),
        untold: (scale / 10).min(10_000),
    };
    say("  filling the stores");
    let mut crowds = [Crowd::gather(bench, FEW).await?, Crowd::gather(bench, many).await?];
    for round in 1..=bench.arguments.rounds() {
        say(&format!("  round {round}"));
        for crowd in &mut crowds {
            crowd.measure(bench).await?;
        }
    }
    Ok(())
}

impl Crowd {
    async fn gather(bench: &Bench<'_>, size: Size) -> Result<Self, Failure> {
        let folder = bench.scratch()?;
        let office = Arc::new(open(folder.path(), 0).await?);
        fill(&office, size.pending, |office, _| async move { office.admit().await.map(drop) })
            .await?;
        fill(&office, size.untold, |office, _| async move {
            let request = office.admit_and_claim().await?;
            office.finish(request).await
        })
        .await?;
        let request = office.admit_and_claim().await?;
        fill(&office, size.items, move |office, number| async move {
            let on_request = AgentRequest::on(&office.session, request);
            on_request.upsert_item(&work::upsert(item(&format!("item-{number}"), 1))).await?;
            Ok(())
        })
        .await?;
        fill(&office, size.questions, move |office, number| async move {
            ask(&office, request, &format!("question-{number}"), 0).await
        })
        .await?;
        let single_minded = office.admit_and_claim().await?;
        for asked in 0..size.questions {
            ask(&office, single_minded, work::QUESTION, asked).await?;
        }
        office.settle().await?;
        let asked = size.questions;
        Ok(Self { office, size, request, single_minded, asked, fresh: 0, _folder: folder })
    }

    /// Does each operation some times, and leaves as many pending as there were.
    async fn measure(&mut self, bench: &mut Bench<'_>) -> Result<(), Failure> {
        let times = bench.arguments.either(20, 200);
        let Size { pending, items, questions, untold } = self.size;
        let mut add = |quantity: Quantity, at: u64, watch: Stopwatch| {
            bench.report.add_figure(quantity, at, watch.micros());
        };
        let cost = |what: &str| cost(Scenario::Crowd, what);
        let office = Arc::clone(&self.office);
        let mut requests = Vec::new();
        for _ in 0..times {
            requests.push(office.admit().await?);
        }

        let mut watch = Stopwatch::default();
        for request in &requests {
            watch.time(office.claim(*request)).await?;
        }
        add(cost("claim, among pending requests"), pending, watch);

        let on_request = AgentRequest::on(&office.session, self.request);
        let mut watch = Stopwatch::default();
        for _ in 0..times {
            let input = work::upsert(item(&format!("new-{}", self.next()), 1));
            watch.time(on_request.upsert_item(&input)).await?;
        }
        add(cost("upsertItem, new, among items"), items, watch);

        let mut watch = Stopwatch::default();
        for _ in 0..times {
            let input = work::upsert(item("item-1", 1 + self.next()));
            watch.time(on_request.upsert_item(&input)).await?;
        }
        add(cost("upsertItem, again, among items"), items, watch);

        let mut watch = Stopwatch::default();
        for _ in 0..times {
            let key = format!("new-{}", self.next());
            watch.time(ask(&office, self.request, &key, 0)).await?;
        }
        add(cost("ask, among questions"), questions, watch);

        for request in &requests {
            office.finish(*request).await?;
        }
        let mut watch = Stopwatch::default();
        for request in &requests {
            watch.time(office.publish(*request)).await?;
        }
        add(cost("publishCompletion, among untold completions"), untold, watch);

        let mut watch = Stopwatch::default();
        for _ in 0..bench.arguments.either(2, 10) {
            let asking = ask(&office, self.single_minded, work::QUESTION, self.asked);
            watch.time(asking).await?;
            self.asked += 1;
        }
        let what = "ask, among questions of the same key".to_owned();
        let (scenario, unit, role) = (Scenario::Crowd, Unit::Micros, Role::Unfavourable);
        add(Quantity { scenario, what, unit, role }, questions, watch);
        office.settle().await
    }

    fn next(&mut self) -> u64 {
        self.fresh += 1;
        self.fresh
    }
}

/// Has many callers do something so many times.
async fn fill<F>(
    office: &Arc<Office>,
    times: u64,
    work: impl Fn(Arc<Office>, usize) -> F + Clone + Send + 'static,
) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>> + Send,
{
    let office = Arc::clone(office);
    let times = usize::try_from(times).unwrap_or(usize::MAX);
    callers::run(FILLERS, 0..times, move |number| work(Arc::clone(&office), number)).await?;
    Ok(())
}

fn item(key: &str, version: u64) -> ItemData {
    ItemData { version, ..work::item(key, 1, work::ITEM_BYTES) }
}

/// Asks so many minutes after the beginning; a minute later the question expires.
async fn ask(
    office: &Office,
    request: Ref<AgentRequestObject>,
    key: &str,
    minutes: u64,
) -> Result<(), Failure> {
    let begin = DateTime::<Utc>::UNIX_EPOCH;
    let minutes = i64::try_from(minutes).unwrap_or(i64::MAX);
    let at =
        |minutes| (begin + Duration::minutes(minutes)).to_rfc3339_opts(SecondsFormat::Secs, true);
    let input = work::ask(key, &at(minutes), &at(minutes + 1));
    AgentRequest::on(&office.session, request).ask(&input).await?;
    Ok(())
}
