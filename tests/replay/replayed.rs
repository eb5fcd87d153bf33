//! The model, taken through calls in the order in which they were committed.

use chrono::{DateTime, Utc};

use super::choose::{Kind, Name, Naming, renamed, word};
use super::observed::Numbers;
use crate::answer::Outcome;
use crate::plain::Model;
use crate::step::{Given, Step};
use crate::support::START;

/// Returns a step in the numbers of the model, as it was meant when it was called.
pub(crate) fn recalled(step: &Step, names: &[Name], numbers: &Numbers) -> Step {
    let mut recalling = Recalling { names: names.iter(), numbers };
    renamed(step, &mut recalling).unwrap()
}

struct Recalling<'a> {
    names: std::slice::Iter<'a, Name>,
    numbers: &'a Numbers,
}

impl Naming for Recalling<'_> {
    fn object(&mut self, _: Kind, _: usize) -> Option<usize> {
        let Name::Object(object) = self.names.next()? else { return None };
        Some(self.numbers.of(*object))
    }

    fn fence(&mut self, _: usize, _: &Given) -> Option<Given> {
        let Name::Fence(attempt, generation) = self.names.next()? else { return None };
        Some(Given::Other { attempt: word(attempt), generation: *generation })
    }
}

/// A model with the minute that its clock shows.
#[derive(Clone)]
pub(crate) struct Replayed {
    pub(crate) model: Model,
    pub(crate) minute: u32,
}

impl Replayed {
    /// Begins on the ground that is laid for it.
    pub(crate) fn new() -> Self {
        Self { model: Model::new(), minute: 0 }
    }

    /// Does a step at a minute; none, if what it names is not there yet.
    pub(crate) fn step(&mut self, step: &Step, minute: u32) -> Option<Outcome> {
        if minute > self.minute {
            self.model.step(&Step::Wait(minute - self.minute)).unwrap().unwrap();
            self.minute = minute;
        }
        self.model.step(step)
    }
}

/// Returns how many minutes after the start an instant is.
pub(crate) fn minute_of(instant: DateTime<Utc>) -> u32 {
    let start: DateTime<Utc> = START.parse().unwrap();
    (instant - start).num_minutes().try_into().unwrap()
}
