//! Does an operation cost more among many of what it touches than among few? One directory with ten
//! requests pending and one with very many; a request with ten items and one with very many; the
//! same with questions, and with completions that are still to be told.
//!
//! The unfavourable case is here, too: questions that all have one key. `ask` looks at each of them,
//! since an answered one among them is the answer, so that it costs more the more there are.

use std::sync::Arc;

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use quixos_bench::{Quantity, Role, Scenario};
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
    /// Those of the round, in all states.
    requests: Vec<Ref<AgentRequestObject>>,
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
        measure_round(bench, &mut crowds).await?;
    }
    Ok(())
}

/// How many times something is done in one store before it is the other's turn. A machine is faster
/// at one time than at another, and both are to have as much of each.
const TURN: usize = 20;

/// Does each operation some times in each store.
async fn measure_round(bench: &mut Bench<'_>, crowds: &mut [Crowd; 2]) -> Result<(), Failure> {
    let many_times = bench.arguments.either(20, 200);
    for crowd in &mut *crowds {
        crowd.begin(many_times).await?;
    }
    for probe in Probe::ALL {
        let times =
            if probe == Probe::AskOfOneKey { bench.arguments.either(2, 10) } else { many_times };
        for crowd in crowds.iter().filter(|_| probe == Probe::Publish) {
            crowd.finish().await?;
        }
        let mut watches = [Stopwatch::default(), Stopwatch::default()];
        for turn in (0..times).step_by(TURN) {
            for (crowd, watch) in crowds.iter_mut().zip(&mut watches) {
                for at in turn..times.min(turn + TURN) {
                    watch.time(crowd.perform(probe, at)).await?;
                }
            }
        }
        for (crowd, watch) in crowds.iter().zip(watches) {
            bench.report.add_figure(probe.quantity(), probe.size(crowd.size), watch.micros());
        }
    }
    for crowd in &*crowds {
        crowd.office.settle().await?;
    }
    Ok(())
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Probe {
    Claim,
    UpsertNew,
    UpsertAgain,
    Ask,
    Publish,
    AskOfOneKey,
}

impl Probe {
    const ALL: [Self; 6] = [
        Self::Claim,
        Self::UpsertNew,
        Self::UpsertAgain,
        Self::Ask,
        Self::Publish,
        Self::AskOfOneKey,
    ];

    fn quantity(self) -> Quantity {
        let cost = |what| cost(Scenario::Crowd, what);
        match self {
            Self::Claim => cost("claim, among pending requests"),
            Self::UpsertNew => cost("upsertItem, new, among items"),
            Self::UpsertAgain => cost("upsertItem, again, among items"),
            Self::Ask => cost("ask, among questions"),
            Self::Publish => cost("publishCompletion, among untold completions"),
            Self::AskOfOneKey => {
                let cost = cost("ask, among questions of the same key");
                Quantity { role: Role::Unfavourable, ..cost }
            }
        }
    }

    /// Returns how many there are of what it is among.
    fn size(self, size: Size) -> u64 {
        match self {
            Self::Claim => size.pending,
            Self::UpsertNew | Self::UpsertAgain => size.items,
            Self::Ask | Self::AskOfOneKey => size.questions,
            Self::Publish => size.untold,
        }
    }
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
        Ok(Self {
            office,
            size,
            request,
            single_minded,
            asked,
            fresh: 0,
            requests: Vec::new(),
            _folder: folder,
        })
    }

    /// Admits requests to be claimed, finished and published in a round, so that as many are
    /// pending after it as before.
    async fn begin(&mut self, times: usize) -> Result<(), Failure> {
        self.requests.clear();
        for _ in 0..times {
            self.requests.push(self.office.admit().await?);
        }
        Ok(())
    }

    /// Finishes the requests of the round.
    async fn finish(&self) -> Result<(), Failure> {
        for request in &self.requests {
            self.office.finish(*request).await?;
        }
        Ok(())
    }

    /// Does something; `at` counts how often in this round.
    async fn perform(&mut self, probe: Probe, at: usize) -> Result<(), Failure> {
        match probe {
            Probe::Claim => self.office.claim(self.requests[at]).await,
            Probe::UpsertNew => {
                let key = format!("new-{}", self.next());
                self.upsert(item(&key, 1)).await
            }
            Probe::UpsertAgain => {
                let version = 1 + self.next();
                self.upsert(item("item-1", version)).await
            }
            Probe::Ask => {
                let key = format!("new-{}", self.next());
                ask(&self.office, self.request, &key, 0).await
            }
            Probe::Publish => self.office.publish(self.requests[at]).await,
            Probe::AskOfOneKey => {
                self.asked += 1;
                ask(&self.office, self.single_minded, work::QUESTION, self.asked - 1).await
            }
        }
    }

    async fn upsert(&self, item: ItemData) -> Result<(), Failure> {
        let on_request = AgentRequest::on(&self.office.session, self.request);
        on_request.upsert_item(&work::upsert(item)).await?;
        Ok(())
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
