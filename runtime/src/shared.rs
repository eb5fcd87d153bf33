//! What the lane, its committers and everyone who reads beside them share.
//!
//! [`Shared::base`] gives one version of everything: what the lane has executed and the store's
//! view below it, taken together. A reader's answer waits until the newest commit that it saw is
//! durable, and is worth nothing if that commit was rolled back: [`Shared::settled`].

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::clock::Clock;
use crate::error::CallError;
use crate::follow::Wakes;
use crate::ids::IdSource;
use crate::limits::Limits;
use crate::model::Model;
use crate::observer::Observer;
use crate::overlay::{Base, Gathered, Overlay, Write};
use crate::store::{Store, StoreError};

/// What the lane, its committers and readers share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) model: Model,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) limits: Limits,
    pub(crate) executed: Mutex<Executed>,
    pub(crate) status: watch::Sender<Status>,
    /// Calls that wait for the lane.
    pub(crate) waiting: AtomicUsize,
    /// Who follows which stream.
    pub(crate) wakes: Wakes,
    /// Who is told what the lane does.
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

/// What the lane has executed and not yet handed to the store.
#[derive(Default)]
pub(crate) struct Executed {
    over: Overlay,
    /// What was written since somebody read last: whoever reads next puts it into `over`, so that
    /// where nobody reads nobody does.
    news: Vec<Write>,
    /// The newest commit executed.
    pub(crate) commit: u64,
    /// Counts the groups that failed.
    pub(crate) epoch: u64,
}

impl Executed {
    /// Returns what was executed up to now.
    fn over(&mut self) -> Overlay {
        self.over.extend(self.news.drain(..));
        self.over.clone()
    }

    /// Adds what a transaction wrote.
    pub(crate) fn add(&mut self, write: Write) {
        self.news.push(write);
    }

    /// Forgets what was written: the store has it, or it never happened.
    pub(crate) fn clear(&mut self) {
        self.over = Overlay::new();
        self.news.clear();
    }
}

/// How far the store has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Status {
    /// The newest commit that is durable.
    pub(crate) durable: u64,
    /// Counts the groups that failed; each took back all that was not durable.
    pub(crate) epoch: u64,
    /// Set when no more writes are taken; then nothing changes any more.
    pub(crate) stopped: bool,
    /// Set when the runtime is closed.
    pub(crate) closed: bool,
}

/// What became of what a reader saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Settled {
    /// It is durable.
    Durable,
    /// It was rolled back: read again.
    RolledBack,
}

impl Shared {
    /// Takes one version of everything.
    pub(crate) fn base(&self) -> Result<Base, CallError> {
        let mut executed = self.executed();
        // Taken under the lock, as the lane hands over under it: the two fit together.
        let view = self.store.view().map_err(unreadable)?;
        let over = Gathered::Copy(executed.over());
        Ok(Base::new(over, view, executed.commit, executed.epoch))
    }

    pub(crate) fn executed(&self) -> MutexGuard<'_, Executed> {
        // Nothing in it can panic half way.
        self.executed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until what a reader saw is durable, or was rolled back.
    pub(crate) async fn settled(&self, commit: u64, epoch: u64) -> Settled {
        let mut status = self.status.subscribe();
        let waited = status
            .wait_for(|now| {
                now.epoch != epoch || now.durable >= commit || now.stopped || now.closed
            })
            .await;
        // The sender lives in `self`, so waiting does not fail.
        match waited {
            Ok(now) if now.epoch != epoch => Settled::RolledBack,
            Ok(_) | Err(_) => Settled::Durable,
        }
    }
}

/// Makes the error of a store that cannot be read.
pub(crate) fn unreadable(error: StoreError) -> CallError {
    match error {
        StoreError::Corrupt(message) => CallError::Corrupt { message },
        StoreError::Expired | StoreError::Io(_) | StoreError::Closed(_) => {
            CallError::Storage { message: error.to_string() }
        }
    }
}
