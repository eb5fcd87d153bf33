//! Streams against a model of them in plain collections.
//!
//! Random histories of few streams, producers, epochs and sequences, so that they collide, with
//! forks of forks and a clock that moves, run in both. Each answer and each refusal must be the
//! same, and so must what each stream has to be read, in pages of any size. The store is closed and
//! opened in between.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod plain;
mod step;

use std::sync::Arc;
use std::time::Duration;

use chrono::DateTime;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};
use quixos_runtime::store::MemoryStore;
use quixos_runtime::{Atom as _, CallError, Caller, ManualClock, Ref, Runtime, blocking};
use quixos_streams::streams::{
    Append, Create, CreateFork, ProducerStep, PublicStream, Read, StreamObject, StreamRegistry,
    StreamRegistryObject,
};

use crate::plain::{Answer, Model};
use crate::step::{Fork, Step};

/// How many histories are run, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 96;

/// A runtime with one registry of streams.
struct Real {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    runtime: Runtime,
    registry: Ref<StreamRegistryObject>,
}

impl Real {
    async fn new() -> Self {
        let store = Arc::new(MemoryStore::new());
        let start = DateTime::parse_from_rfc3339("2026-01-31T12:00:00Z").unwrap().to_utc();
        let clock = Arc::new(ManualClock::at(start));
        let runtime = open(&store, &clock);
        let session = runtime.session(Caller::operator("test"));
        let registry = session.create_root(StreamRegistryObject::TAG, &()).await.unwrap();
        Self { store, clock, runtime, registry: Ref::from_object(registry).unwrap() }
    }

    /// Closes the store, and opens it again.
    fn reopen(&mut self) {
        self.runtime.clone().close();
        self.runtime = open(&self.store, &self.clock);
    }

    async fn find(&self, key: &str) -> Result<Ref<StreamObject>, CallError> {
        let session = self.runtime.session(Caller::operator("test"));
        let found = StreamRegistry::on(&session, self.registry).streams_at(key).await?;
        found.first().copied().ok_or(CallError::refused("absent"))
    }

    async fn step(&mut self, step: &Step) -> Answer {
        let session = self.runtime.session(Caller::operator("test"));
        let registry = StreamRegistry::on(&session, self.registry);
        match step {
            Step::Create { key, json, ttl, closed, body, fork } => {
                let fork = fork.as_ref().map(|Fork { source, at, sub }| CreateFork {
                    source: source.to_string(),
                    offset: at.map(step::offset),
                    sub: *sub,
                });
                let create = Create {
                    key: key.to_string(),
                    content_type: Some(step::content_type(*json).to_owned()),
                    ttl: *ttl,
                    expires_at: None,
                    closed: *closed,
                    body: body.clone(),
                    fork,
                };
                answer(registry.create(&create).await.map(|it| (it.created, it.tail, it.closed)))
            }
            Step::Append { key, json, body, close, producer, sequence } => {
                let append = Append {
                    content_type: Some(step::content_type(*json).to_owned()),
                    body: body.clone(),
                    close: *close,
                    producer: producer.map(|(id, epoch, sequence)| ProducerStep {
                        id: id.to_string(),
                        epoch,
                        sequence,
                    }),
                    sequence: sequence.map(|it| it.to_string()),
                };
                let appended = match self.find(&key.to_string()).await {
                    Ok(stream) => PublicStream::on(&session, stream).append(&append).await,
                    Err(error) => Err(error),
                };
                answer(appended.map(|it| (it.applied, it.tail, it.closed)))
            }
            Step::Delete { key } => match registry.delete(&key.to_string()).await {
                Ok(()) => Answer::Done,
                Err(error) => answer(Err(error)),
            },
            Step::Touch { key } => {
                let touched = match self.find(&key.to_string()).await {
                    Ok(stream) => PublicStream::on(&session, stream).touch().await,
                    Err(error) => Err(error),
                };
                touched.map_or_else(|error| answer(Err(error)), |()| Answer::Done)
            }
            Step::Read { key, from, limit } => {
                let read = Read { offset: from.map_or("-1".into(), step::offset), limit: *limit };
                let page = match self.find(&key.to_string()).await {
                    Ok(stream) => PublicStream::on(&session, stream).read(&read).await,
                    Err(error) => Err(error),
                };
                match page {
                    Ok(page) => Answer::Page {
                        data: String::from_utf8(page.data).unwrap(),
                        next: page.next,
                        at_end: page.up_to_date,
                        closed: page.closed,
                    },
                    Err(error) => answer(Err(error)),
                }
            }
            Step::Wait { millis } => {
                self.clock.advance(Duration::from_millis(*millis));
                Answer::Done
            }
            Step::Reopen => {
                self.reopen();
                Answer::Done
            }
        }
    }
}

fn answer(answered: Result<(bool, String, bool), CallError>) -> Answer {
    match answered {
        Ok((applied, tail, closed)) => Answer::Written { applied, tail, closed },
        Err(CallError::Refused { reason }) => Answer::Refused(reason),
        Err(CallError::Invalid { path, .. }) => Answer::Invalid(path),
        Err(error) => panic!("{error}"),
    }
}

fn open(store: &Arc<MemoryStore>, clock: &Arc<ManualClock>) -> Runtime {
    let builder = Runtime::builder().package(quixos_streams::package());
    builder.clock(Arc::clone(clock) as Arc<_>).open(Arc::clone(store) as Arc<_>).unwrap()
}

/// Runs a history in both.
async fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut model = Model::default();
    let mut real = Real::new().await;
    for (at, step) in steps.iter().enumerate() {
        let expected = model.step(step);
        let answered = real.step(step).await;
        prop_assert_eq!(answered, expected, "step {}, {:?}", at, step);
    }
    for key in 0..step::KEYS {
        let read = Step::Read { key, from: None, limit: u32::MAX };
        prop_assert_eq!(real.step(&read).await, model.step(&read), "at the end, {:?}", read);
    }
    Ok(())
}

fn config() -> Config {
    let default = Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { CASES };
    Config { cases, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_history_is_that_of_the_model(steps in step::history()) {
        blocking(run(steps))?;
    }
}
