//! Callers at work, and photographs of their store meanwhile.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use quixos_runtime::{Caller, blocking};

use super::Shot;
use crate::open;
use crate::replay::{
    Board, Call, Choice, Numbers, Observed, Replayed, call, discovered, lay_ground, plan, recalled,
};
use crate::support::World;

const CALLERS: usize = 4;
const STEPS: usize = 60;
const SHOTS: usize = 30;

/// Longer than the progress file lags behind.
const REST: Duration = Duration::from_millis(2_500);

/// Photographs of a store, and what it held at each commit.
pub(crate) struct Recorded {
    pub(crate) ground: u64,
    pub(crate) shots: Vec<Shot>,
    /// A photograph of some time after the last answer.
    pub(crate) at_rest: Shot,
    /// At the ground, and at each commit from there on.
    pub(crate) states: Vec<Observed>,
}

/// Lets callers work and takes photographs.
pub(crate) fn record(seed: u64) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let world = open(&path).unwrap();
    let ground = blocking(lay_ground(&world));
    let mut shots = Vec::new();
    let calls = thread::scope(|scope| {
        let working = scope.spawn(|| work(&world, seed));
        while !working.is_finished() && shots.len() < SHOTS {
            shots.push(Shot::take(&path, world.runtime.durable()));
            thread::sleep(Duration::from_millis(4));
        }
        working.join().unwrap()
    });
    shots.push(Shot::take(&path, world.runtime.durable()));
    let numbers = blocking(world.runtime.read(Numbers::read)).unwrap();
    let mut replayed = Replayed::new();
    let mut states = vec![Observed::of(&replayed.model)];
    for (at, (commit, choice)) in calls.iter().enumerate() {
        assert_eq!(*commit, ground + 1 + at as u64);
        replayed.step(&recalled(&choice.step, &choice.names, &numbers), 0).unwrap().unwrap();
        states.push(Observed::of(&replayed.model));
    }
    thread::sleep(REST);
    let at_rest = Shot::take(&path, world.runtime.durable());
    drop(world.close());
    Recorded { ground, shots, at_rest, states }
}

/// Lets callers do what they have planned, and returns what was committed.
fn work(world: &World, seed: u64) -> BTreeMap<u64, Choice> {
    let board = Mutex::new(blocking(world.runtime.read(Board::read)).unwrap());
    thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let live = live(world, &board, seed, caller);
                scope.spawn(move || blocking(live))
            })
            .collect();
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    })
}

async fn live(world: &World, board: &Mutex<Board>, seed: u64, caller: usize) -> Vec<(u64, Choice)> {
    let session = world.runtime.session(Caller::operator(format!("caller-{caller}")));
    let mut mine = HashMap::new();
    let mut committed = Vec::new();
    for step in plan(seed, caller).iter().take(STEPS) {
        let choice = Choice::make(step, &board.lock().unwrap(), &mine);
        let Some(choice) = choice else { continue };
        let Call { on, member, input } = call(&choice);
        let Ok(answer) = session.invoke_json(on, member, &input).await else { continue };
        let new = discovered(&session, step, &answer.value).await;
        let mut board = board.lock().unwrap();
        board.learn(&choice, &answer.value, &mut mine);
        new.into_iter().for_each(|object| board.add(object));
        if let Some(commit) = answer.commit {
            committed.push((commit, choice));
        }
    }
    committed
}
