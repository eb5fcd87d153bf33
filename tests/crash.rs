//! A process under load is killed at any moment, again and again, on the same store.
//!
//! Several callers live the lives of requests and whatever else there is to do, over a store on
//! disk; before each call the process says what it is going to ask, and after each durable answer
//! what it was answered. The parent kills it: in the middle of the load, while it opens and
//! recovers, while it makes the store. Then it opens the store itself. The history must be a line
//! of calls that were asked, each of those that were answered among them; the model of the package,
//! taken through that line, must come to the same answers and to exactly what is stored; a call
//! that is asked again under its own id is answered as it was; `verify` finds nothing.
//!
//! `QUIXOS_KILLS` says how often.
//!
//! The same with the power: the store is on a disk of its own (`loopback.rs`), the process is killed,
//! and what is on the disk then, without what is still in the system's memory, is mounted elsewhere
//! and opened. This mounts file systems, so it is run by hand, as root; `QUIXOS_CUTS` says how often.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../package/tests/model/answer.rs"]
mod answer;
mod loopback;
#[allow(dead_code, reason = "what is not compared here, the package's own test compares")]
#[path = "../package/tests/model/plain/mod.rs"]
mod plain;
mod replay;
#[path = "../package/tests/model/step.rs"]
mod step;
#[path = "../package/tests/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use quixos_runtime::store::{Durability, SledOptions, SledStore};
use quixos_runtime::{Caller, HistoryEntry, Session, Ulid, blocking};
use serde_json::Value;

use crate::loopback::Disk;
use crate::plain::{SUBJECTS, WORKSPACES};
use crate::replay::{
    Board, Call, Choice, Name, Numbers, Observed, Random, Replayed, answered, call, discovered,
    lay_ground, plan, recalled, seeded, setting,
};
use crate::step::Step;
use crate::support::World;

const CALLERS: usize = 6;

/// How many commits lay the ground.
const GROUND: u64 = (WORKSPACES + SUBJECTS) as u64;

/// How many processes are killed on one store, before the next store is made.
const KILLS_A_STORE: u64 = 10;

/// Set for the process that is going to be killed: the seed, which it is, whether it lays the ground,
/// the folder.
const CHILD: &str = "QUIXOS_CRASH_CHILD";

fn open(folder: &Path) -> World {
    let options = SledOptions { free_space_floor: 0, ..SledOptions::default() };
    World::over(Arc::new(SledStore::open(folder.join("store"), options).unwrap()))
}

fn caller_name(caller: usize) -> String {
    format!("caller-{caller}")
}

/// Names a call by the process, the caller and the step of its plan.
fn id_of(process: u64, caller: usize, step: usize) -> Ulid {
    Ulid::from_parts(process, (caller as u128) << 32 | step as u128)
}

/// Returns the caller and the step of a call.
fn meant_by(id: Ulid) -> (usize, usize) {
    let place = id.random();
    ((place >> 32).try_into().unwrap(), (place & 0xFFFF_FFFF).try_into().unwrap())
}

#[test]
fn acknowledged_calls_outlive_kills() {
    let kills = setting("QUIXOS_KILLS", 20);
    let seed = seeded("crash", 1);
    let mut totals = Totals::default();
    let mut folder = tempfile::tempdir().unwrap();
    let mut trial = Trial::over(folder.path().to_owned(), seed);
    for process in 0..kills {
        if process > 0 && process % KILLS_A_STORE == 0 {
            folder = tempfile::tempdir().unwrap();
            trial = Trial::over(folder.path().to_owned(), seed);
        }
        let mut random = Random::new(seed ^ (process << 20));
        trial.kill(process, &mut random, &mut totals);
        blocking(trial.check(&mut random, &mut totals));
    }
    println!("{kills} kills: {totals:?}");
    assert!(kills < 20 || totals.acknowledged > 0, "no process came to do anything");
}

#[test]
#[ignore = "mounts file systems: as root, with `-- --ignored`"]
fn acknowledged_calls_outlive_power_cuts() {
    let cuts = setting("QUIXOS_CUTS", 20);
    let seed = seeded("crash", 1);
    let mut totals = Totals::default();
    for cut in 0..cuts {
        let mut random = Random::new(seed ^ (cut << 20));
        let disk = Disk::make();
        let mut trial = Trial::over(disk.path(), seed);
        // Half of the stores are as new as they can be: their files still grow. The others were
        // opened once more, which has sled write to the end of a segment.
        trial.is_laid_by_child = cut % 2 == 0;
        if !trial.is_laid_by_child {
            blocking(trial.check(&mut random, &mut totals));
        }
        trial.kill(cut, &mut random, &mut totals);
        let left = disk.cut();
        trial.folder = left.path();
        blocking(trial.check(&mut random, &mut totals));
    }
    println!("{cuts} power cuts: {totals:?}");
}

/// What was seen in all.
#[derive(Default, Debug)]
struct Totals {
    /// Kills before the store was open.
    while_opening: u64,
    /// Calls that were answered before the kill.
    acknowledged: u64,
    /// Calls that were not answered, or before they were durable, and were there.
    unacknowledged: u64,
    /// Calls that were refused before the kill.
    refused: u64,
    /// Calls of which nothing was heard, and that were not there.
    gone: u64,
    /// Calls that were asked again under their ids.
    repeated: u64,
}

/// A store, and what is known of it.
struct Trial {
    folder: PathBuf,
    seed: u64,
    /// What each process and caller had planned.
    plans: HashMap<(u64, usize), Vec<Step>>,
    replayed: Replayed,
    /// Whether the process that makes the store also lays the ground; it is not killed before.
    is_laid_by_child: bool,
    /// The newest commit that was seen.
    commit: u64,
    /// What was asked, by id.
    asked: HashMap<Ulid, Vec<Name>>,
    /// What was answered and not seen in the history yet, by commit.
    acknowledged: BTreeMap<u64, (Ulid, Value)>,
    /// What was asked by the process that was killed last, the newest at the end.
    last: Vec<Ulid>,
}

impl Trial {
    /// Begins with a store that is going to be made in a folder.
    fn over(folder: PathBuf, seed: u64) -> Self {
        Self {
            folder,
            seed,
            plans: HashMap::new(),
            is_laid_by_child: false,
            replayed: Replayed::new(),
            commit: 0,
            asked: HashMap::new(),
            acknowledged: BTreeMap::new(),
            last: Vec::new(),
        }
    }

    /// Runs a process, kills it, and keeps what it had said.
    fn kill(&mut self, process: u64, random: &mut Random, totals: &mut Totals) {
        let mut child = spawn(&self.folder, self.seed, process, self.is_laid_by_child);
        let lines = lines_of(&mut child);
        let mut said = Vec::new();
        let mut wait_for = |word: &str| {
            while let Ok(line) = lines.recv() {
                let is_it = line == word;
                said.push(line);
                if is_it {
                    break;
                }
            }
        };
        let moment = match random.below(6) {
            _ if self.is_laid_by_child => {
                wait_for("open");
                random.below(300)
            }
            0 => random.below(60),
            1 => {
                wait_for("opening");
                random.below(60)
            }
            _ => {
                wait_for("open");
                random.below(300)
            }
        };
        thread::sleep(Duration::from_millis(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        said.extend(lines);
        totals.while_opening += u64::from(!said.iter().any(|line| line == "open"));
        self.last.clear();
        for line in said {
            self.keep(&line, totals);
        }
    }

    fn keep(&mut self, line: &str, totals: &mut Totals) {
        let mut words = line.splitn(4, ' ');
        let (Some(word), Some(id)) = (words.next(), words.next()) else { return };
        let Ok(id) = Ulid::from_string(id) else { return };
        match word {
            "ask" => {
                let names = serde_json::from_str(words.next().unwrap()).unwrap();
                self.asked.insert(id, names);
                self.last.push(id);
            }
            "told" => {
                let commit = words.next().unwrap().parse().unwrap();
                let answer = serde_json::from_str(words.next().unwrap()).unwrap();
                totals.acknowledged += 1;
                self.acknowledged.insert(commit, (id, answer));
            }
            "refused" => {
                totals.refused += 1;
                self.last.retain(|asked| *asked != id);
            }
            _ => {}
        }
    }

    /// Opens the store and holds it to everything that is known.
    async fn check(&mut self, random: &mut Random, totals: &mut Totals) {
        let world = open(&self.folder);
        if self.commit == 0 {
            self.commit = if self.is_laid_by_child { GROUND } else { lay_ground(&world).await };
        }
        let after = self.commit;
        let (entries, numbers, observed) = world
            .runtime
            .read(|it| {
                Ok((it.history(after, usize::MAX)?, Numbers::read(it)?, Observed::read(it)?))
            })
            .await
            .unwrap();
        let there: HashMap<Ulid, u64> =
            entries.iter().map(|entry| (entry.transaction.unwrap(), entry.commit)).collect();
        for entry in entries {
            self.replay(&entry, &numbers, totals);
        }
        assert!(self.acknowledged.is_empty(), "acknowledged and lost: {:#?}", self.acknowledged);
        observed.assert_is(&Observed::of(&self.replayed.model), "after a kill");
        let findings = world.findings().await;
        assert!(findings.is_empty(), "{findings:#?}");
        totals.gone += self.last.iter().filter(|id| !there.contains_key(id)).count() as u64;
        self.repeat(random, &world, &there, totals).await;
        drop(world.close());
    }

    /// Takes the model through a call that is in the history.
    fn replay(&mut self, entry: &HistoryEntry, numbers: &Numbers, totals: &mut Totals) {
        assert_eq!(entry.commit, self.commit + 1, "commits have no gaps");
        self.commit = entry.commit;
        let id = entry.transaction.unwrap();
        let planned = self.planned(id);
        let names = self.asked.get(&id).expect("nothing is in the history that was not asked");
        let (caller, _) = meant_by(id);
        assert_eq!(entry.actor, caller_name(caller));
        let step = recalled(&planned, names, numbers);
        let outcome = self.replayed.step(&step, 0).unwrap();
        match self.acknowledged.remove(&entry.commit) {
            Some((acknowledged, answer)) => {
                assert_eq!(acknowledged, id, "commit {}", entry.commit);
                let answer = answered(&step, &answer, |object| numbers.of(object));
                assert_eq!(Ok(answer), outcome, "{step:?}");
            }
            None => {
                assert!(outcome.is_ok(), "{step:?} is in the history: {outcome:?}");
                totals.unacknowledged += 1;
            }
        }
    }

    /// Returns the step that a call was, as its caller had planned it.
    fn planned(&mut self, id: Ulid) -> Step {
        let (caller, step) = meant_by(id);
        let process = id.timestamp_ms();
        let planned = self.plans.entry((process, caller));
        planned.or_insert_with(|| plans(self.seed, process, caller))[step].clone()
    }

    /// Asks a few of the last calls again under their ids, as one does who was not answered.
    async fn repeat(
        &mut self,
        random: &mut Random,
        world: &World,
        there: &HashMap<Ulid, u64>,
        totals: &mut Totals,
    ) {
        let newest = self.last.len().saturating_sub(2 * CALLERS);
        for id in self.last.split_off(newest) {
            if !random.percent(30) {
                continue;
            }
            let (caller, _) = meant_by(id);
            let session = world.runtime.session(Caller::operator(caller_name(caller)));
            let Call { on, member, input } =
                call(&Choice::again(&self.planned(id), &self.asked[&id]));
            let again = session.with_transaction_id(id).invoke_json(on, member, &input).await;
            totals.repeated += 1;
            match there.get(&id) {
                Some(commit) => assert_eq!(again.unwrap().commit, Some(*commit), "done twice"),
                // What was lost, or failed, is now done; the next check sees it.
                None => {
                    if let Ok(answer) = again {
                        self.acknowledged.insert(answer.commit.unwrap(), (id, answer.value));
                    }
                }
            }
        }
    }
}

fn plans(seed: u64, process: u64, caller: usize) -> Vec<Step> {
    plan(seed.wrapping_add(process << 8), caller)
}

fn spawn(folder: &Path, seed: u64, process: u64, lays_ground: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_process_under_load", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, format!("{seed} {process} {lays_ground} {}", folder.display()));
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Reads what a process says, whole lines only: the last may be cut.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let (send, lines) = channel();
    thread::spawn(move || {
        let mut line = String::new();
        while out.read_line(&mut line).is_ok_and(|_| line.ends_with('\n')) {
            if send.send(line.trim_end().to_owned()).is_err() {
                break;
            }
            line.clear();
        }
    });
    lines
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // One write: a line is there or it is not, unless it is the last.
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Is killed; runs as a test and does nothing when nobody is going to.
#[test]
fn a_process_under_load() {
    let Ok(given) = std::env::var(CHILD) else { return };
    let mut given = given.splitn(4, ' ');
    let mut next = || given.next().unwrap();
    let (seed, process) = (next().parse().unwrap(), next().parse().unwrap());
    let (lays_ground, folder) = (next() == "true", next());
    // The harness has printed half a line.
    say("");
    say("opening");
    let world = Arc::new(open(Path::new(folder)));
    if lays_ground {
        assert_eq!(blocking(lay_ground(&world)), GROUND);
    }
    say("open");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
    runtime.block_on(load(&world, seed, process));
    // What was planned is done; all that is left is to be killed.
    thread::sleep(Duration::from_secs(600));
}

async fn load(world: &Arc<World>, seed: u64, process: u64) {
    let board = world.runtime.read(|snapshot| Ok((snapshot.commit(), Board::read(snapshot)?)));
    let (commit, board) = board.await.unwrap();
    if commit == 0 {
        // The ground is laid by whoever finds out that it is not.
        return;
    }
    let board = Arc::new(Mutex::new(board));
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..CALLERS {
        let (world, board) = (Arc::clone(world), Arc::clone(&board));
        callers.spawn(async move { live(&world, &board, seed, process, caller).await });
    }
    callers.join_all().await;
}

async fn live(world: &World, board: &Mutex<Board>, seed: u64, process: u64, caller: usize) {
    let session = world.runtime.session(Caller::operator(caller_name(caller)));
    let mut mine = HashMap::new();
    for (number, step) in plans(seed, process, caller).iter().enumerate() {
        let choice = Choice::make(step, &board.lock().unwrap(), &mine);
        let Some(choice) = choice else { continue };
        let id = id_of(process, caller, number);
        say(&format!("ask {id} {}", serde_json::to_string(&choice.names).unwrap()));
        let is_buffered = number % 8 == 5;
        let durability = if is_buffered { Durability::Buffered } else { Durability::Durable };
        let asking: Session = session.with_transaction_id(id).with_durability(durability);
        let Call { on, member, input } = call(&choice);
        let Ok(answer) = asking.invoke_json(on, member, &input).await else {
            // Something refused it; that leaves nothing in the history.
            say(&format!("refused {id}"));
            continue;
        };
        if !is_buffered {
            say(&format!("told {id} {} {}", answer.commit.unwrap(), answer.value));
        }
        let new = discovered(&session, step, &answer.value).await;
        let mut board = board.lock().unwrap();
        board.learn(&choice, &answer.value, &mut mine);
        new.into_iter().for_each(|object| board.add(object));
    }
}
