//! The front door: packages and a store in, sessions out.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder as ThreadBuilder, JoinHandle, ThreadId, current};

use quixos_schema::{Definitions, Target};
use tokio::sync::watch;

use crate::caller::Caller;
use crate::clock::{Clock, SystemClock};
use crate::error::CallError;
use crate::export::{NotedStore, Takers};
use crate::follow::{Feed, StreamHandle, Wakes};
use crate::ids::{IdSource, RandomIds};
use crate::lane::{COMMITTERS, Lane, Message, run_committer};
use crate::limits::Limits;
use crate::model::Model;
use crate::observer::{Contained, Figures, Observer};
use crate::open::{self, OpenError};
use crate::overlay::Base;
use crate::package::{Invariant, PackageCode};
use crate::reference::ObjectRef;
use crate::session::{Session, closed};
use crate::shared::{Settled, Shared, Status};
use crate::snapshot::Snapshot;
use crate::store::{Durability, Health, Store};

/// Packages, loaded over a store.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

/// How a runtime is to be.
pub struct Builder {
    packages: Vec<PackageCode>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    limits: Limits,
    target: Target,
    upgrade: bool,
    observer: Option<Arc<dyn Observer>>,
}

impl Runtime {
    /// Begins to say how a runtime is to be.
    #[must_use]
    pub fn builder() -> Builder {
        Builder {
            packages: Vec::new(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            limits: Limits::default(),
            target: Target::Server,
            upgrade: false,
            observer: None,
        }
    }

    /// Returns a session of a caller.
    #[must_use]
    pub fn session(&self, caller: Caller) -> Session {
        Session::new(Arc::clone(&self.inner), caller)
    }

    /// Returns the definitions that were loaded.
    #[must_use]
    pub fn definitions(&self) -> &Arc<Definitions> {
        &self.inner.shared.model.definitions
    }

    /// Reads one version of everything, as an operator sees it, and answers when what was seen is
    /// durable. `read` may be run again on a newer version; it must not call the runtime.
    ///
    /// # Errors
    /// What `read` answers.
    pub async fn read<T>(
        &self,
        read: impl Fn(&Snapshot<'_>) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let model = &self.inner.shared.model;
        self.inner.read(Durability::Durable, |base| read(&Snapshot::new(model, base))).await
    }

    /// Reads one version of everything while the lane stands still: for what takes long, or cannot
    /// be done twice. `read` runs once, on the thread that polls, and must not call the runtime;
    /// callers that write wait for it.
    ///
    /// # Errors
    /// What `read` answers; `storage` when what was seen was rolled back.
    pub async fn read_held<T>(
        &self,
        read: impl FnOnce(&Snapshot<'_>) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let model = &self.inner.shared.model;
        let (answer, commit, epoch) = {
            let hold = self.inner.hold()?;
            let base = self.inner.shared.base()?;
            let answer = read(&Snapshot::new(model, &base));
            drop(hold);
            (answer, base.commit, base.epoch)
        };
        match self.inner.settled(commit, epoch).await {
            Settled::Durable => answer,
            Settled::RolledBack => {
                let message = "what was read could not be written; read again".into();
                Err(CallError::Storage { message })
            }
        }
    }

    /// Returns a stream of an object, by the slot's name.
    ///
    /// # Errors
    /// `not-found` when the object's atom has no such stream.
    pub fn stream(&self, object: ObjectRef, name: &str) -> Result<StreamHandle, CallError> {
        StreamHandle::new(Arc::clone(&self.inner), object, name)
    }

    /// Returns the committed transactions behind a commit, in order: those that are there, then
    /// those that come. 0 is before the first.
    #[must_use]
    pub fn feed(&self, after: u64) -> Feed {
        Feed::new(Arc::clone(&self.inner), after)
    }

    /// Returns the newest commit that is durable.
    #[must_use]
    pub fn durable(&self) -> u64 {
        self.inner.shared.status.borrow().durable
    }

    /// Returns how the store is.
    #[must_use]
    pub fn health(&self) -> Health {
        self.inner.shared.store.health()
    }

    /// Returns how the runtime is at the moment.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let shared = &self.inner.shared;
        // Executed after durable, so that it is never the lesser.
        let durable = self.durable();
        Figures {
            waiting: shared.waiting.load(Ordering::Relaxed),
            queue: shared.limits.queue,
            executed: shared.executed().commit,
            durable,
            followed: shared.wakes.len(),
        }
    }

    /// Finishes what was asked for, makes it durable, and ends. Sessions that are left answer
    /// `unavailable`.
    pub fn close(self) {
        self.inner.close();
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }
}

impl Builder {
    /// Adds a package.
    #[must_use]
    pub fn package(mut self, package: PackageCode) -> Self {
        self.packages.push(package);
        self
    }

    /// Sets the clock; the machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets where ids come from; random by default.
    #[must_use]
    pub fn ids(mut self, ids: Arc<dyn IdSource>) -> Self {
        self.ids = ids;
        self
    }

    /// Sets how much one transaction may do.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what kind of host this is; [`Target::Server`] by default.
    #[must_use]
    pub fn target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    /// Accepts a store that other revisions of the packages wrote, if what is stored means the same
    /// under these; it is theirs from then on. By default it is refused.
    #[must_use]
    pub fn accept_safe_upgrades(mut self) -> Self {
        self.upgrade = true;
        self
    }

    /// Sets who is told what the writing lane does; nobody by default.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(Arc::new(Contained(observer)));
        self
    }

    /// Checks and links the packages, opens the store for them, and starts.
    ///
    /// # Errors
    /// When definitions have errors or do not fit the code, or the store was written with others;
    /// the message says what differs and what to do.
    pub fn open(self, store: Arc<dyn Store>) -> Result<Runtime, OpenError> {
        let definitions = open::check(&self.packages)?;
        let handlers = open::handlers(&definitions, &self.packages)?;
        let mut model = Model::new(Arc::clone(&definitions), handlers, self.target);
        if let Some(observer) = &self.observer {
            model.watch(observer.as_ref());
        }
        open::prepare(store.as_ref(), &definitions, self.upgrade)?;
        let limits = self.limits.within(store.limits());
        let (status, _) = watch::channel(Status::default());
        let takers = Arc::<Takers>::default();
        let shared = Arc::new(Shared {
            store: Arc::new(NotedStore::new(store, Arc::clone(&takers))),
            model,
            clock: self.clock,
            ids: self.ids,
            limits,
            executed: Mutex::default(),
            status,
            waiting: AtomicUsize::new(0),
            wakes: Wakes::default(),
            observer: self.observer,
        });
        let invariants = self.packages.into_iter().flat_map(|package| package.invariants);
        let inner = Inner::start(shared, invariants.collect(), takers)?;
        Ok(Runtime { inner: Arc::new(inner) })
    }
}

/// A runtime's parts that sessions share. Dropping the last ends it as [`Runtime::close`] does.
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) invariants: Vec<Invariant>,
    /// Who takes notes of what the store is given.
    pub(crate) takers: Arc<Takers>,
    messages: Sender<Message>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    lane: ThreadId,
}

/// How often a reader takes a newer version before it asks the lane to stand still.
const TRIES: usize = 3;

/// What a handler may nest on the lane's stack.
const LANE_STACK: usize = 16 << 20;

impl Inner {
    fn start(
        shared: Arc<Shared>,
        invariants: Vec<Invariant>,
        takers: Arc<Takers>,
    ) -> Result<Self, OpenError> {
        let (messages, inbox) = channel();
        let (committers, groups): (Vec<_>, Vec<_>) = (0..COMMITTERS).map(|_| channel()).unzip();
        let lane = Lane::new(Arc::clone(&shared), inbox, committers)?;
        let mut threads = Vec::new();
        for (number, groups) in groups.into_iter().enumerate() {
            let (shared, to_lane) = (Arc::clone(&shared), messages.clone());
            let committer = ThreadBuilder::new()
                .name("quixos-committer".into())
                .spawn(move || run_committer(&shared, &groups, &to_lane, number))
                .map_err(OpenError::Thread)?;
            threads.push(committer);
        }
        let lane = ThreadBuilder::new()
            .name("quixos-lane".into())
            .stack_size(LANE_STACK)
            .spawn(move || lane.run())
            .map_err(OpenError::Thread)?;
        let id = lane.thread().id();
        threads.push(lane);
        let threads = Mutex::new(threads);
        Ok(Self { shared, invariants, takers, messages, threads, lane: id })
    }

    /// Tells the lane something.
    pub(crate) fn tell(&self, message: Message) -> Result<(), CallError> {
        self.messages.send(message).map_err(|_| closed())
    }

    /// Reads one version of everything, and answers when what was seen is durable.
    pub(crate) async fn read<T>(
        &self,
        durability: Durability,
        read: impl Fn(&Base) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let (answer, commit, epoch) = {
                let hold = if tries > TRIES { Some(self.hold()?) } else { None };
                let base = self.shared.base()?;
                let answer = read(&base);
                drop(hold);
                if base.is_expired() && tries <= TRIES {
                    continue;
                }
                (answer, base.commit, base.epoch)
            };
            if durability == Durability::Buffered
                || self.settled(commit, epoch).await == Settled::Durable
            {
                return answer;
            }
        }
    }

    /// Reads one version of everything, given how far it is durable. What is in newer commits may
    /// be rolled back.
    pub(crate) fn read_durable<T>(
        &self,
        read: impl Fn(&Base, u64) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let hold = if tries > TRIES { Some(self.hold()?) } else { None };
            // Asked before the version is taken, which then has all of it.
            let durable = self.shared.status.borrow().durable;
            let base = self.shared.base()?;
            let answer = read(&base, durable);
            drop(hold);
            if !base.is_expired() || tries > TRIES {
                return answer;
            }
        }
    }

    /// Waits until what was read is durable, or was rolled back.
    async fn settled(&self, commit: u64, epoch: u64) -> Settled {
        if self.shared.status.borrow().durable < commit {
            // A lane that is gone has nothing left that could be waited for.
            let _ = self.tell(Message::Hurry);
        }
        self.shared.settled(commit, epoch).await
    }

    /// Makes the lane stand still until the answer is dropped.
    pub(crate) fn hold(&self) -> Result<Hold, CallError> {
        let (held, is_held) = sync_channel(1);
        let (release, released) = channel();
        self.tell(Message::Hold(held, released))?;
        is_held.recv().map_err(|_| closed())?;
        Ok(Hold { _release: release })
    }

    pub(crate) fn close(&self) {
        // Whoever closed before has told it already.
        let _ = self.messages.send(Message::Close);
        if current().id() == self.lane {
            return;
        }
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

/// Keeps the lane standing still.
pub(crate) struct Hold {
    _release: Sender<()>,
}
