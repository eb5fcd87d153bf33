//! Confinement: a handler comes to exactly what its `requires` names, on what it was handed.
//!
//! Operations with random requirements have handlers that try everything: every way of using
//! anything, under every requirement and member, on references that they were handed, remember
//! from other calls, make from text, guess or give another type. An oracle that looks at nothing
//! but the requirements and the references handed says what each attempt must come to.
//!
//! Each call is made in a second runtime too, where what was refused is not even tried. Both must
//! hold the same bytes after it, history and streams among them, and show the same trace.
//!
//! `world.rs` is the package, `program.rs` what handlers try, `handler.rs` does it, `oracle.rs`
//! judges it.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a test looks for one of many")]

mod handler;
mod oracle;
mod program;
mod world;

use std::cell::RefCell;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use quixos_runtime::store::MemoryStore;
use quixos_runtime::{
    Caller, ManualClock, ObjectRef, PackageCode, Runtime, SeededIds, Session, Step, blocking,
    reference_text,
};
use quixos_schema::{Definitions, Sources, Tag, check, render_text};
use serde_json::json;

use crate::handler::{Act, Card, Outcome, Played, Run};
use crate::oracle::Counts;
use crate::program::{Program, WAYS, any_program};
use crate::world::{CELL, Interface, OPERATIONS, POT, STATES, STRAY, World};

/// How many packages are tried, and under which seed, unless `QUIXOS_TRIALS` and `QUIXOS_SEED` say
/// otherwise.
const TRIALS: u32 = 60;
const SEED: u64 = 1;

/// A call from outside.
#[derive(Clone, Debug)]
struct Outer {
    operation: usize,
    on: Index,
    given: Vec<Index>,
    program: Program,
}

fn any_call() -> impl Strategy<Value = Outer> {
    let given = prop::collection::vec(any::<Index>(), 0..3);
    (0..OPERATIONS, any::<Index>(), given, any_program(2))
        .prop_map(|(operation, on, given, program)| Outer { operation, on, given, program })
}

/// What a call came to.
#[derive(Debug)]
struct Seen {
    played: Option<Played>,
    answer: Outcome,
    trace: Vec<Step>,
    stored: Vec<(Vec<u8>, Vec<u8>)>,
    memory: Vec<ObjectRef>,
}

/// A runtime with the package, and a few objects.
struct Stage {
    runtime: Runtime,
    session: Session,
    definitions: Definitions,
    world: Arc<World>,
    objects: Vec<ObjectRef>,
    stray: ObjectRef,
}

fn definitions(text: &str) -> Definitions {
    let mut sources = Sources::new();
    sources.add("things.quixos", text);
    let checked = check(sources);
    let errors = render_text(&checked.diagnostics, &checked.sources, false);
    checked.definitions.unwrap_or_else(|| panic!("{errors}"))
}

impl Stage {
    fn open(world: &Arc<World>) -> Self {
        let text: &'static str = world.text().leak();
        let definitions = definitions(text);
        let package = PackageCode {
            id: "package:test:things",
            revision: "package:test:things@1",
            digest: definitions.packages[0].digest.clone().leak(),
            sources: vec![("things.quixos", text)].leak(),
            handlers: handler::handlers(),
            invariants: Vec::new(),
        };
        let runtime = Runtime::builder()
            .package(package)
            .clock(Arc::new(ManualClock::at("2026-01-02T03:04:05Z".parse().unwrap())))
            .ids(Arc::new(SeededIds::new(7)))
            .open(Arc::new(MemoryStore::new()))
            .unwrap();
        let session = runtime.session(Caller::operator("anna"));
        let card = |at: usize| Card { label: STATES[at].into(), friend: None };
        let pot = || blocking(session.create_root(Tag::of(POT), &(card(0), card(1)))).unwrap();
        let cell = |pot: ObjectRef| {
            blocking(session.create_root(Tag::of(CELL), &(card(0), card(1), pot))).unwrap()
        };
        let pots = [pot(), pot()];
        let objects = vec![pots[0], pots[1], cell(pots[0]), cell(pots[1])];
        let stray = blocking(session.create_root(Tag::of(STRAY), &(card(0),))).unwrap();
        let world = Arc::clone(world);
        Self { runtime, session, definitions, world, objects, stray }
    }

    fn stored(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let entries = blocking(self.runtime.read(|it| it.entries(None, usize::MAX))).unwrap();
        entries.into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
    }

    /// Makes a call: first as a preview, for its trace, then in earnest.
    fn call(
        &self,
        number: u32,
        on: ObjectRef,
        given: &[ObjectRef],
        outer: &Outer,
        program: &Program,
        memory: &[ObjectRef],
    ) -> Seen {
        let (of, member) = Interface::of_operation(outer.operation);
        let run = || Run {
            world: Arc::clone(&self.world),
            next: Some(program.clone()),
            memory: memory.to_vec(),
            ended: None,
        };
        let before = self.stored();
        handler::begin(number, run());
        let texts: Vec<_> = given.iter().map(|it| reference_text(&self.definitions, *it)).collect();
        let name = format!("act{}", outer.operation);
        let input = json!({"run": number, "given": texts});
        let preview = blocking(self.session.preview_json(on, &name, &input));
        handler::end(number);
        assert_eq!(self.stored(), before, "a preview wrote");

        handler::begin(number, run());
        let act = Act { run: number, given: given.to_vec() };
        let answer = blocking(self.session.member_call(on, of.id(), member, &act));
        let Run { ended, memory, .. } = handler::end(number);
        let stored = self.stored();
        if answer.is_err() {
            assert_eq!(stored, before, "a call that failed wrote");
        }
        Seen {
            played: ended,
            answer: answer.map_err(|error| error.code()),
            trace: preview.map(|it| it.trace).unwrap_or_default(),
            stored,
            memory,
        }
    }
}

/// The program without the attempts that were refused.
fn without_refused(program: &Program, played: &Played) -> Program {
    let mut program = program.clone();
    for (attempt, tried) in program.attempts.iter_mut().zip(&played.tried) {
        match (&tried.inner, &mut attempt.inner) {
            (Some(played), Some(inner)) => *inner = without_refused(inner, played),
            _ => attempt.struck = tried.outcome == Err("capability"),
        }
    }
    program
}

/// Makes the calls in both runtimes, and judges them.
fn confined(world: World, calls: &[Outer], counts: &mut Counts) -> Result<(), TestCaseError> {
    let world = Arc::new(world);
    let (all, without) = (Stage::open(&world), Stage::open(&world));
    let mut objects = all.objects.clone();
    let mut memory = [&objects[..], &[all.stray]].concat();
    for (number, outer) in (0..).zip(calls) {
        let may: Vec<_> = match Interface::of_operation(outer.operation).0 {
            Interface::Thing => objects.clone(),
            Interface::Owned => with_atom(&objects, CELL),
            Interface::Owning => with_atom(&objects, POT),
        };
        let on = *outer.on.get(&may);
        let given: Vec<_> = outer.given.iter().map(|at| *at.get(&objects)).collect();
        let seen = all.call(number, on, &given, outer, &outer.program, &memory);
        let Some(played) = &seen.played else {
            prop_assert!(world.operations[outer.operation].away, "it was not called");
            prop_assert_eq!(&seen.answer, &Err("capability"));
            continue;
        };
        let expected = oracle::judge(&world, played, counts).map_err(TestCaseError::fail)?;
        prop_assert_eq!(&seen.answer, &expected);

        let program = without_refused(&outer.program, played);
        let other = without.call(number, on, &given, outer, &program, &memory);
        prop_assert_eq!(&other.answer, &seen.answer);
        prop_assert_eq!(&other.trace, &seen.trace, "the trace tells of what was refused");
        prop_assert_eq!(&other.stored, &seen.stored, "what was refused left something");
        memory = seen.memory;
        objects.extend(seen.answer.into_iter().flatten());
    }
    let report = blocking(all.runtime.verify()).unwrap();
    prop_assert!(report.is_clean(), "{:?}", report);
    Ok(())
}

fn with_atom(objects: &[ObjectRef], atom: &str) -> Vec<ObjectRef> {
    objects.iter().copied().filter(|it| it.atom == Tag::of(atom)).collect()
}

fn setting<T: std::str::FromStr>(name: &str, usual: T) -> T {
    std::env::var(name).map_or(usual, |text| text.parse().ok().expect("a number"))
}

#[test]
fn a_handler_comes_to_what_it_requires_on_what_it_was_handed() {
    let (cases, seed) = (setting("QUIXOS_TRIALS", TRIALS), setting("QUIXOS_SEED", SEED));
    println!(
        "run again with QUIXOS_SEED={seed} QUIXOS_TRIALS={cases} cargo test -p quixos-runtime --test confinement"
    );
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Config::default()
    };
    let counts = RefCell::new(Counts::default());
    let trials = (World::any(), prop::collection::vec(any_call(), 1..9));
    let tried = TestRunner::new(config)
        .run(&trials, |(world, calls)| confined(world, &calls, &mut counts.borrow_mut()));
    if let Err(fault) = tried {
        panic!("{fault}");
    }
    let counts = counts.into_inner();
    let [done, refused] =
        [&counts.done, &counts.refused].map(|by_way| by_way.values().sum::<usize>());
    println!(
        "{done} done, {refused} refused, of which {} on what was not handed, {} invalid",
        counts.not_handed, counts.invalid
    );
    // The trials are about something.
    if cases >= TRIALS {
        for way in WAYS {
            assert!(counts.done.contains_key(&way) && counts.refused.contains_key(&way), "{way:?}");
        }
    }
}
