//! Many callers at once, and the model afterwards.
//!
//! Callers live the lives of requests and do whatever else there is to do, on the same objects;
//! others read, follow, and move the clock. Then the order in which calls were committed is taken
//! from the history, and the model of the package is taken through it:
//!
//! - each call was answered what the model answers at its place in that order;
//! - a call that was answered before another was asked stands before it;
//! - a call that left nothing in the history, a failure above all, was answered what the model
//!   answers at some place between those two;
//! - whoever read all at once read exactly what the model holds at one commit, and no older one than
//!   what had been answered before;
//! - whoever followed saw each commit and each event once, in order.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../package/tests/model/answer.rs"]
mod answer;
#[allow(dead_code, reason = "what is not compared here, the package's own test compares")]
#[path = "../package/tests/model/plain/mod.rs"]
mod plain;
mod replay;
#[path = "../package/tests/model/step.rs"]
mod step;
#[path = "../package/tests/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use quixos_package::agent_runtime::{AgentCompletion, AgentDirectory, AgentWorkspace};
use quixos_package::workspace::WorkspaceObject;
use quixos_runtime::store::{MemoryStore, SledOptions, SledStore, Store};
use quixos_runtime::{Answer, CallError, Caller, HistoryEntry, Ref, Ulid};
use tokio::task::JoinSet;

use crate::answer::{Failure, Outcome};
use crate::replay::{
    Board, Call, Choice, Numbers, Observed, Random, Replayed, answered, call, discovered,
    lay_ground, minute_of, plan, recalled, seeded, setting,
};
use crate::step::Step;
use crate::support::World;

const CALLERS: usize = 10;

/// How many steps of its plan each caller takes.
const STEPS: usize = 60;

/// How often somebody reads all at once.
const READINGS: usize = 25;

/// How many minutes pass.
const MINUTES: u64 = 30;

#[test]
fn callers_at_once_in_memory() {
    trials("memory", 4, || (None, Arc::new(MemoryStore::new())));
}

#[test]
fn callers_at_once_on_disk() {
    trials("disk", 2, || {
        let folder = tempfile::tempdir().unwrap();
        let options = SledOptions { free_space_floor: 0, ..SledOptions::default() };
        let store = SledStore::open(folder.path().join("store"), options).unwrap();
        (Some(folder), Arc::new(store))
    });
}

/// Runs as many trials as the environment says, or the usual number.
#[expect(clippy::print_stdout, reason = "the harness shows it when the test fails")]
fn trials(place: &str, usual: u64, make: impl Fn() -> (Option<tempfile::TempDir>, Arc<dyn Store>)) {
    let first = seeded("concurrency", 1);
    let (mut calls, mut commits, mut failures) = (0, 0, 0);
    let trials = setting("QUIXOS_TRIALS", usual);
    for seed in first..first + trials {
        println!("{place}: seed {seed}");
        let (folder, store) = make();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_time()
            .worker_threads(4)
            .build()
            .unwrap();
        let trial = runtime.block_on(gather(World::over(store), seed));
        calls += trial.calls.len();
        commits += trial.history.len();
        failures += trial.calls.iter().filter(|called| called.answer.is_err()).count();
        trial.judge();
        drop(folder);
    }
    println!("{place}: {trials} trials, {calls} calls, {commits} commits, {failures} failures");
}

/// When something began and ended, by a count that everybody shares.
#[derive(Clone, Copy, Debug)]
struct Span {
    asked: u64,
    answered: u64,
}

/// A call, as its caller saw it.
#[derive(Debug)]
struct Called {
    caller: usize,
    span: Span,
    choice: Choice,
    /// The id that the caller gave it, if it did.
    id: Option<Ulid>,
    answer: Result<Answer, CallError>,
}

/// What somebody saw who read all at once.
struct Seen {
    span: Span,
    commit: u64,
    observed: Observed,
}

/// Everything that happened.
struct Trial {
    ground: u64,
    calls: Vec<Called>,
    seen: Vec<Seen>,
    /// The commits that were fed to one who followed.
    fed: Vec<u64>,
    /// The events that were fed to one who followed the first agent's completions.
    heard: Vec<AgentCompletion>,
    history: Vec<HistoryEntry>,
    numbers: Numbers,
    observed: Observed,
    findings: Vec<String>,
}

/// What callers share.
struct Scene {
    world: World,
    ticks: AtomicU64,
    board: Mutex<Board>,
}

impl Scene {
    fn tick(&self) -> u64 {
        self.ticks.fetch_add(1, Ordering::SeqCst)
    }
}

/// Lets everybody do what they do, and collects what they saw.
async fn gather(world: World, seed: u64) -> Trial {
    let ground = lay_ground(&world).await;
    let board = world.runtime.read(Board::read).await.unwrap();
    let scene = Arc::new(Scene { world, ticks: AtomicU64::new(0), board: Mutex::new(board) });

    let fed = tokio::spawn(follow_commits(Arc::clone(&scene), ground));
    let heard = tokio::spawn(follow_completions(Arc::clone(&scene)));
    let readers = [0, 1].map(|_| tokio::spawn(read_all(Arc::clone(&scene))));
    let clock = tokio::spawn(move_clock(Arc::clone(&scene)));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        callers.spawn(live(Arc::clone(&scene), seed, caller));
    }
    let calls = callers.join_all().await.into_iter().flatten().collect();
    let mut seen = Vec::new();
    for reader in readers {
        seen.extend(reader.await.unwrap());
    }
    clock.await.unwrap();

    let runtime = &scene.world.runtime;
    let (history, numbers, observed) = runtime
        .read(|it| Ok((it.history(ground, usize::MAX)?, Numbers::read(it)?, Observed::read(it)?)))
        .await
        .unwrap();
    let findings = scene.world.findings().await;
    runtime.clone().close();
    let (fed, heard) = (fed.await.unwrap(), heard.await.unwrap());
    Trial { ground, calls, seen, fed, heard, history, numbers, observed, findings }
}

async fn live(scene: Arc<Scene>, seed: u64, caller: usize) -> Vec<Called> {
    let session = scene.world.runtime.session(Caller::operator(format!("caller-{caller}")));
    let mut random = Random::new(seed << 8 ^ caller as u64);
    let mut mine = HashMap::new();
    let mut calls = Vec::new();
    for (number, step) in plan(seed, caller).iter().take(STEPS).enumerate() {
        let choice = Choice::make(step, &scene.board.lock().unwrap(), &mine);
        let Some(choice) = choice else { continue };
        let Call { on, member, input } = call(&choice);
        let id = random.percent(40).then(|| Ulid::from_parts(caller as u64, number as u128));
        let asking = id.map_or(session.clone(), |id| session.with_transaction_id(id));
        let asked = scene.tick();
        let first = asking.invoke_json(on, member, &input);
        let answer = if id.is_some() && random.percent(30) {
            // Asked twice at once under one id: done once, and both are told.
            let (first, second) = tokio::join!(first, asking.invoke_json(on, member, &input));
            if first.is_ok() {
                assert_eq!(first, second, "asked twice under one id");
            }
            // Of two failures the second may have met another state.
            if first.is_ok() { first } else { second }
        } else {
            first.await
        };
        let span = Span { asked, answered: scene.tick() };
        if let Ok(answer) = &answer {
            let new = discovered(&session, step, &answer.value).await;
            let mut board = scene.board.lock().unwrap();
            board.learn(&choice, &answer.value, &mut mine);
            new.into_iter().for_each(|object| board.add(object));
        }
        calls.push(Called { caller, span, choice, id, answer });
    }
    calls
}

async fn read_all(scene: Arc<Scene>) -> Vec<Seen> {
    let mut seen = Vec::new();
    for _ in 0..READINGS {
        let asked = scene.tick();
        let read = scene.world.runtime.read(|it| Ok((it.commit(), Observed::read(it)?)));
        let (commit, observed) = read.await.unwrap();
        seen.push(Seen { span: Span { asked, answered: scene.tick() }, commit, observed });
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    seen
}

async fn move_clock(scene: Arc<Scene>) {
    for _ in 0..MINUTES {
        scene.world.wait(1);
        tokio::time::sleep(std::time::Duration::from_millis(7)).await;
    }
}

async fn follow_commits(scene: Arc<Scene>, after: u64) -> Vec<u64> {
    let mut feed = scene.world.runtime.feed(after);
    let mut fed = Vec::new();
    while let Ok(Some(entry)) = feed.next().await {
        assert!(entry.commit <= scene.world.runtime.durable(), "told before it was durable");
        fed.push(entry.commit);
    }
    fed
}

async fn follow_completions(scene: Arc<Scene>) -> Vec<AgentCompletion> {
    let session = &scene.world.session;
    let workspaces =
        scene.world.runtime.read(|it| it.objects(crate::replay::Kind::Workspace.tag(), None, 1));
    let workspace = Ref::<WorkspaceObject>::from_object(workspaces.await.unwrap()[0]).unwrap();
    let directory = loop {
        if let Some(directory) = AgentWorkspace::on(session, workspace).agents().await.unwrap() {
            break directory;
        }
        tokio::task::yield_now().await;
    };
    let agent = AgentDirectory::on(session, directory).default_agent().await.unwrap().unwrap();
    let stream = quixos_package::agent_runtime::Agent::on(session, agent).completions().await;
    let stream = scene.world.runtime.stream(stream.unwrap().object(), "events").unwrap();
    let mut follow = stream.follow(0);
    let mut heard = Vec::new();
    while let Ok(Some(event)) = follow.next().await {
        assert_eq!(event.offset, heard.len() as u64, "each event once, in order");
        heard.push(event.decode().unwrap());
    }
    heard
}

impl Trial {
    fn judge(self) {
        assert!(self.findings.is_empty(), "{:#?}", self.findings);
        let newest = self.ground + self.history.len() as u64;
        let commits: Vec<u64> = self.history.iter().map(|entry| entry.commit).collect();
        assert_eq!(commits, (self.ground + 1..=newest).collect::<Vec<_>>(), "commits have no gaps");
        assert_eq!(self.fed, commits, "what was fed is what was committed");
        self.in_real_time(newest);
        let states = self.in_order();
        self.beside_the_order(&states, newest);
        self.all_at_once(&states, newest);
        let model = &states.last().unwrap().model;
        self.observed.assert_is(&Observed::of(model), "at the end");
        let told = model.agents[0]
            .told
            .iter()
            .map(|(request, thread, status)| (*request, *thread, status.clone()));
        let heard = self.heard.iter().map(|event| {
            let (request, thread) = (event.request.object(), event.thread.object());
            (self.numbers.of(request), self.numbers.of(thread), event.status.clone())
        });
        assert_eq!(heard.collect::<Vec<_>>(), told.collect::<Vec<_>>(), "what was heard");
    }

    fn committed(&self) -> impl Iterator<Item = (u64, &Called)> {
        self.calls.iter().filter_map(|called| Some((called.answer.as_ref().ok()?.commit?, called)))
    }

    /// A call that was answered before another was asked stands before it.
    fn in_real_time(&self, newest: u64) {
        for (commit, called) in self.committed() {
            let (low, high) = self.window(called.span, newest);
            assert!(low < commit && commit <= high + 1, "commit {commit} overtook: {called:#?}");
        }
    }

    /// Returns which commits a span may lie behind: at least all that were answered before it
    /// began, at most all but those that were asked after it ended.
    fn window(&self, span: Span, newest: u64) -> (u64, u64) {
        let before = self.committed().filter(|(_, other)| other.span.answered < span.asked);
        let after = self.committed().filter(|(_, other)| span.answered < other.span.asked);
        let low = before.map(|(commit, _)| commit).max().unwrap_or(self.ground);
        let high = after.map(|(commit, _)| commit - 1).min().unwrap_or(newest);
        (low, high)
    }

    /// Takes the model through the history, and returns it behind each commit.
    fn in_order(&self) -> Vec<Replayed> {
        let calls: BTreeMap<u64, &Called> = self.committed().collect();
        assert_eq!(calls.len(), self.committed().count(), "no two calls are one commit");
        let mut states = vec![Replayed::new()];
        for entry in &self.history {
            let called = calls[&entry.commit];
            assert_eq!(entry.actor, format!("caller-{}", called.caller));
            assert_eq!(entry.transaction, called.id);
            let step = recalled(&called.choice.step, &called.choice.names, &self.numbers);
            let mut state = states.last().unwrap().clone();
            let outcome = state.step(&step, minute_of(entry.instant)).unwrap();
            assert_eq!(self.outcome(called, &step), outcome, "commit {}: {step:?}", entry.commit);
            states.push(state);
        }
        states
    }

    fn outcome(&self, called: &Called, step: &Step) -> Outcome {
        let number = |object| self.numbers.of(object);
        let answer = called.answer.clone().map_err(Failure::from)?;
        Ok(answered(step, &answer.value, number))
    }

    /// What left nothing in the history was answered what the model answers somewhere.
    fn beside_the_order(&self, states: &[Replayed], newest: u64) {
        let at = |commit: u64| usize::try_from(commit - self.ground).unwrap();
        for called in &self.calls {
            if called.answer.as_ref().is_ok_and(|answer| answer.commit.is_some()) {
                continue;
            }
            let step = recalled(&called.choice.step, &called.choice.names, &self.numbers);
            let outcome = self.outcome(called, &step);
            let (low, high) = self.window(called.span, newest);
            let fits = (at(low)..=at(high)).any(|place| {
                let last = states.get(place + 1).map_or(MINUTES, |next| next.minute.into());
                (states[place].minute..=last.try_into().unwrap()).any(|minute| {
                    let mut state = states[place].clone();
                    let before = Observed::of(&state.model);
                    // What it names may have come to its caller from a call that was not answered
                    // when this one was asked; before it was there, this fits nowhere.
                    let found = state.step(&step, minute);
                    found.as_ref() == Some(&outcome) && Observed::of(&state.model) == before
                })
            });
            assert!(fits, "nowhere in {low}..={high}: {outcome:?} to {step:?}");
        }
    }

    /// What was read at once is one state, and no older than it may be.
    fn all_at_once(&self, states: &[Replayed], newest: u64) {
        for Seen { span, commit, observed } in &self.seen {
            let (low, high) = self.window(*span, newest);
            assert!((low..=high).contains(commit), "read {commit}, not in {low}..={high}");
            let place = usize::try_from(commit - self.ground).unwrap();
            let expected = Observed::of(&states[place].model);
            observed.assert_is(&expected, &format!("as read behind commit {commit}"));
        }
    }
}
