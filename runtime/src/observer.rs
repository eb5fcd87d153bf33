//! What the writing lane does, told to whoever counts it.
//!
//! A runtime counts nothing itself and knows no metrics: it says what happened, in plain types, and
//! whoever opened it does with that what it likes. Times are of the monotonic clock, taken only
//! where somebody observes, and go nowhere but here; no stored byte depends on them.
//!
//! Nothing is told that may still be taken back: a call is told when its answer is final.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::error::CallError;
use crate::model::Model;
use crate::object::stored;
use crate::request::Deed;
use crate::store::CommitError;

/// Hears what the writing lane does.
///
/// It is called on the threads that callers wait for, so it must be quick; it must not call the
/// runtime. What panics in it is logged, and nothing else comes of it.
pub trait Observer: Send + Sync {
    /// Says whether [`Observer::did`] is to tell of something: an operation by its name, or a
    /// stream as `Atom.stream`. Asked once of each, at the start.
    fn watches(&self, what: &str) -> bool {
        let _ = what;
        false
    }

    /// A call from outside that went through the lane has its answer.
    fn answered(&self, call: &AnsweredCall<'_>);

    /// A watched operation was done, called from outside or by another, or something was appended
    /// to a watched stream.
    fn did(&self, did: &Did<'_>) {
        let _ = did;
    }

    /// A group of transactions was written, or was not.
    fn written(&self, group: &WrittenGroup<'_>);
}

/// A call that has its answer.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredCall<'c> {
    /// The operation's name; `append`, `create` or `advance` where none was called.
    pub operation: &'c str,
    /// Why it did not go through, if it did not.
    pub error: Option<&'c CallError>,
    /// From when it came into the queue until it was answered.
    pub took: Duration,
}

/// Something watched that was done.
#[derive(Clone, Copy, Debug)]
pub struct Did<'d> {
    /// The operation's name, or the stream as `Atom.stream`.
    pub what: &'d str,
    bytes: &'d [u8],
}

impl Did<'_> {
    /// Reads the operation's output, or the event, as its generated type.
    ///
    /// # Errors
    /// `corrupt` when it is of another type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        stored(self.bytes, || format!("what `{}` came to", self.what))
    }
}

/// A group of transactions that the store was given.
#[derive(Clone, Copy, Debug)]
pub struct WrittenGroup<'g> {
    /// How many transactions it has.
    pub transactions: u64,
    /// Bytes of its keys and values.
    pub bytes: usize,
    /// How long it was with the store until it was durable. Two groups may be at once; then the later
    /// one waits for the disk together with the earlier one, and may be told first.
    pub took: Duration,
    /// Why it was not written, if it was not: then nothing of it happened.
    pub error: Option<&'g CommitError>,
}

/// An observer whose panics end nothing: the lane and its committers go on for all other callers.
pub(crate) struct Contained(pub(crate) Arc<dyn Observer>);

impl Contained {
    fn call<T: Default>(&self, what: &str, call: impl FnOnce(&dyn Observer) -> T) -> T {
        catch_unwind(AssertUnwindSafe(|| call(self.0.as_ref()))).unwrap_or_else(|_| {
            tracing::error!(what, "the observer of a runtime panicked");
            T::default()
        })
    }
}

impl Observer for Contained {
    fn watches(&self, what: &str) -> bool {
        self.call("watches", |observer| observer.watches(what))
    }

    fn answered(&self, call: &AnsweredCall<'_>) {
        self.call("answered", |observer| observer.answered(call));
    }

    fn did(&self, did: &Did<'_>) {
        self.call("did", |observer| observer.did(did));
    }

    fn written(&self, group: &WrittenGroup<'_>) {
        self.call("written", |observer| observer.written(group));
    }
}

/// How a runtime is at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figures {
    /// Calls that wait for the writing lane.
    pub waiting: usize,
    /// How many may.
    pub queue: usize,
    /// The newest commit that was executed.
    pub executed: u64,
    /// The newest commit that is durable.
    pub durable: u64,
    /// Streams that are followed.
    pub followed: usize,
}

/// What was done that is watched, in order: what, and its bytes.
pub(crate) type Watched = Vec<(Arc<str>, Bytes)>;

/// The name of something that is watched; none of what is not.
pub(crate) type Watch = Option<Arc<str>>;

/// A call whose answer is to be told.
pub(crate) struct Observed {
    asked: Instant,
    deed: Deed,
    pub(crate) watched: Watched,
}

impl Observed {
    pub(crate) fn new(deed: Deed) -> Self {
        Self { asked: Instant::now(), deed, watched: Watched::new() }
    }

    /// Tells what the call came to.
    pub(crate) fn tell(&self, observer: &dyn Observer, model: &Model, error: Option<&CallError>) {
        let operation = model.deed(self.deed);
        observer.answered(&AnsweredCall { operation, error, took: self.asked.elapsed() });
        if error.is_none() {
            for (what, bytes) in &self.watched {
                observer.did(&Did { what, bytes });
            }
        }
    }
}
