//! Streams against lists: random histories of appends, readers, followers, cursors and restarts,
//! on two objects, over both stores.
//!
//! Whatever is read, page by page or live, from wherever, is the list from there on; cursors stand
//! where the largest advance left them, and outlive a restart, which followers don't.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use proptest::sample::select;
use quixos_runtime::store::{MemoryStore, SledOptions, SledStore, Store};
use quixos_runtime::{Caller, Event, Follow, ObjectRef, Runtime, StreamHandle, blocking};
use support::{SHELVING, Seen, Shelf, open, shelving, step};

/// Few objects and names, so that steps meet.
const SHELVES: usize = 2;
const NAMES: [&str; 3] = ["a", "ab", "b\0"];

#[derive(Clone, Debug)]
enum Step {
    /// So many events in one call, which may fail at its end.
    Log {
        shelf: usize,
        count: usize,
        fails: bool,
    },
    /// One, by the append that needs no handler.
    Note {
        shelf: usize,
    },
    Read {
        shelf: usize,
        from: u64,
        limit: usize,
    },
    /// A new follower.
    Follow {
        shelf: usize,
        from: u64,
    },
    /// A follower takes what there is, at most so many, or waits.
    Take {
        follower: usize,
        count: usize,
    },
    Drop {
        follower: usize,
    },
    Advance {
        shelf: usize,
        name: &'static str,
        offset: u64,
    },
    /// A reader goes on where its cursor stands, and moves it.
    Resume {
        shelf: usize,
        name: &'static str,
        count: usize,
    },
    Restart,
}

fn any_step() -> impl Strategy<Value = Step> {
    let shelf = || 0..SHELVES;
    let name = || select(&NAMES[..]);
    prop_oneof![
        4 => (shelf(), 1_usize..4, prop::bool::weighted(0.2))
            .prop_map(|(shelf, count, fails)| Step::Log { shelf, count, fails }),
        2 => shelf().prop_map(|shelf| Step::Note { shelf }),
        2 => (shelf(), 0_u64..20, 0_usize..8)
            .prop_map(|(shelf, from, limit)| Step::Read { shelf, from, limit }),
        2 => (shelf(), 0_u64..12).prop_map(|(shelf, from)| Step::Follow { shelf, from }),
        4 => (0_usize..4, 1_usize..9).prop_map(|(follower, count)| Step::Take { follower, count }),
        1 => (0_usize..4).prop_map(|follower| Step::Drop { follower }),
        2 => (shelf(), name(), 0_u64..16)
            .prop_map(|(shelf, name, offset)| Step::Advance { shelf, name, offset }),
        2 => (shelf(), name(), 1_usize..5)
            .prop_map(|(shelf, name, count)| Step::Resume { shelf, name, count }),
        1 => Just(Step::Restart),
    ]
}

/// What was appended: its text, and which step appended it.
type Told = (String, usize);

/// The plainest thing that could be right.
#[derive(Default)]
struct Model {
    events: [Vec<Told>; SHELVES],
    cursors: BTreeMap<(usize, &'static str), u64>,
}

impl Model {
    fn from(&self, shelf: usize, from: u64, limit: usize) -> Vec<(u64, &Told)> {
        let from = usize::try_from(from).unwrap();
        (0..).zip(&self.events[shelf]).skip(from).take(limit).collect()
    }
}

struct Follower {
    shelf: usize,
    next: u64,
    follow: Follow,
}

struct Real<'s> {
    store: &'s dyn Fn() -> Arc<dyn Store>,
    /// There is none while it is opened again.
    runtime: Option<Runtime>,
    shelves: [ObjectRef; SHELVES],
    followers: Vec<Follower>,
    /// The commit that each step came to, as its events tell.
    commits: BTreeMap<usize, u64>,
}

impl<'s> Real<'s> {
    fn new(store: &'s dyn Fn() -> Arc<dyn Store>) -> Self {
        let runtime = open(store());
        let shelves = [Shelf::new(&runtime).shelf, Shelf::new(&runtime).shelf];
        Self {
            store,
            runtime: Some(runtime),
            shelves,
            followers: Vec::new(),
            commits: BTreeMap::new(),
        }
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().unwrap()
    }

    fn shelf(&self, at: usize) -> Shelf {
        let session = self.runtime().session(Caller::operator("anna"));
        Shelf { session, shelf: self.shelves[at] }
    }

    fn stream(&self, at: usize) -> StreamHandle {
        self.runtime().stream(self.shelves[at], "log").unwrap()
    }

    /// Compares events with what they must be, and notes their commits.
    fn same(&mut self, events: &[Event], expected: &[(u64, &Told)]) -> Result<(), TestCaseError> {
        let read: Vec<_> = events
            .iter()
            .map(|event| (event.offset, event.decode::<Seen>().unwrap().text))
            .collect();
        let texts: Vec<_> = expected.iter().map(|(at, (text, _))| (*at, text.clone())).collect();
        prop_assert_eq!(read, texts);
        for (event, (_, (_, step))) in events.iter().zip(expected) {
            prop_assert_eq!(*self.commits.entry(*step).or_insert(event.commit), event.commit);
        }
        prop_assert!(self.commits.values().is_sorted_by(|before, after| before < after));
        Ok(())
    }
}

/// What a follower has at once; waiting for more is dropped, which must lose nothing.
fn ready(follow: &mut Follow) -> Option<Event> {
    let mut next = pin!(follow.next());
    match next.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(event) => Some(event.unwrap().expect("the runtime is open")),
        Poll::Pending => None,
    }
}

fn run(store: &dyn Fn() -> Arc<dyn Store>, steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut model, mut real) = (Model::default(), Real::new(store));
    for (at, step) in steps.iter().enumerate() {
        take(&mut model, &mut real, at, step)?;
    }
    for shelf in 0..SHELVES {
        let stream = real.stream(shelf);
        prop_assert_eq!(blocking(stream.len()).unwrap(), model.events[shelf].len() as u64);
        let all = blocking(stream.read(0, usize::MAX)).unwrap();
        real.same(&all, &model.from(shelf, 0, usize::MAX))?;
        let on = real.shelves[shelf];
        let stored = blocking(real.runtime().read(|it| it.cursors(on, "log"))).unwrap();
        let cursors = model.cursors.iter().filter(|((of, _), _)| *of == shelf);
        let expected: Vec<_> = cursors.map(|((_, name), at)| ((*name).to_owned(), *at)).collect();
        prop_assert_eq!(stored, expected);
    }
    prop_assert!(blocking(real.runtime().verify()).unwrap().is_clean());
    real.followers.clear();
    real.runtime.take().unwrap().close();
    Ok(())
}

fn take(
    model: &mut Model,
    real: &mut Real<'_>,
    at: usize,
    step_: &Step,
) -> Result<(), TestCaseError> {
    match *step_ {
        Step::Log { shelf, count, fails } => {
            let texts: Vec<_> = (0..count).map(|nth| format!("{at} {nth}")).collect();
            let mut steps: Vec<_> = texts.iter().map(|text| step("log", text, None)).collect();
            steps.extend(fails.then(|| step("fail", "", None)));
            prop_assert_eq!(real.shelf(shelf).play(&steps).is_err(), fails);
            if !fails {
                model.events[shelf].extend(texts.into_iter().map(|text| (text, at)));
            }
        }
        Step::Note { shelf } => {
            let seen = Seen { text: format!("{at} noted"), note: None };
            let Shelf { session, shelf: on } = real.shelf(shelf);
            let offset: u64 =
                blocking(session.member_call(on, SHELVING, shelving::NOTE, &seen)).unwrap();
            prop_assert_eq!(offset, model.events[shelf].len() as u64);
            model.events[shelf].push((seen.text, at));
        }
        Step::Read { shelf, from, limit } => {
            let events = blocking(real.stream(shelf).read(from, limit)).unwrap();
            real.same(&events, &model.from(shelf, from, limit))?;
        }
        Step::Follow { shelf, from } => {
            let follow = real.stream(shelf).follow(from);
            real.followers.push(Follower { shelf, next: from, follow });
        }
        Step::Take { follower, count } => {
            let Some(Follower { shelf, next, follow }) = real.followers.get_mut(follower) else {
                return Ok(());
            };
            let expected = model.from(*shelf, *next, count);
            let mut events = Vec::new();
            while events.len() < count
                && let Some(event) = ready(follow)
            {
                events.push(event);
            }
            *next += events.len() as u64;
            real.same(&events, &expected)?;
        }
        Step::Drop { follower } => {
            if follower < real.followers.len() {
                real.followers.remove(follower);
            }
        }
        Step::Advance { shelf, name, offset } => {
            let answer =
                blocking(real.stream(shelf).advance(&Caller::operator("ben"), name, offset));
            if offset > model.events[shelf].len() as u64 {
                prop_assert_eq!(answer.unwrap_err().code(), "invalid");
            } else {
                let stands = model.cursors.entry((shelf, name)).or_default();
                *stands = offset.max(*stands);
                prop_assert_eq!(answer, Ok(*stands));
            }
        }
        Step::Resume { shelf, name, count } => {
            let stream = real.stream(shelf);
            let stands = model.cursors.get(&(shelf, name)).copied().unwrap_or_default();
            prop_assert_eq!(blocking(stream.cursor(name)), Ok(stands));
            let events = blocking(stream.read(stands, count)).unwrap();
            real.same(&events, &model.from(shelf, stands, count))?;
            if let Some(last) = events.last() {
                let after = last.offset + 1;
                let moved = blocking(stream.advance(&Caller::operator("ben"), name, after));
                prop_assert_eq!(moved, Ok(after));
                model.cursors.insert((shelf, name), after);
            }
        }
        Step::Restart => {
            real.runtime.take().unwrap().close();
            for Follower { mut follow, .. } in real.followers.drain(..) {
                // What was durable may still come, and then the end.
                while blocking(follow.next()).unwrap_or_default().is_some() {}
            }
            real.runtime = Some(open((real.store)()));
        }
    }
    Ok(())
}

/// How many histories are run, unless `PROPTEST_CASES` says otherwise.
fn config(usual: u32) -> ProptestConfig {
    let default = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { usual };
    ProptestConfig { cases, ..default }
}

fn history() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any_step(), 1..50)
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn streams_are_lists_in_memory(steps in history()) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        run(&|| Arc::clone(&store), &steps)?;
    }
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn streams_are_lists_on_sled(steps in history()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        run(&|| Arc::new(SledStore::open(&path, SledOptions::default()).unwrap()), &steps)?;
    }
}
