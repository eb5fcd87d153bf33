//! What a transaction did, step by step, for whoever asked to see it.

use quixos_schema::Verb;
use serde::Serialize;

/// A step of a transaction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// How many calls it is within; 1 is the outermost.
    pub depth: usize,
    /// The id of the operation that did it.
    pub operation: String,
    /// What it did.
    pub verb: Verb,
    /// Through which requirement, and which member of it: `data`, `thread.agent`.
    pub through: String,
    /// On which object, as text.
    pub object: String,
    /// Whether it was taken back, since a call around it failed.
    pub undone: bool,
}

/// The steps of a transaction, in order.
#[derive(Default)]
pub(crate) struct Trace(Vec<Step>);

impl Trace {
    pub(crate) fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Marks the steps from a position on as taken back.
    pub(crate) fn take_back(&mut self, from: usize) {
        for step in &mut self.0[from..] {
            step.undone = true;
        }
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }
}
