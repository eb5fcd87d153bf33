//! The engine as a program uses it: started over a runtime, asked by clients, stopped.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quixos_package::agent_runtime::AgentRequestObject;
use quixos_runtime::{Caller, Clock, Ref, Runtime, SystemClock};
use quixos_session::sessions::{
    Answer, Authority, CallFailure, Cancel, Interrupt, Once, Outcome, Session, SessionObject,
    SessionRegistry, SessionRegistryObject, SessionRegistrySubmitInput, Settle,
};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore, broadcast};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::claims::Claims;
use crate::error::EngineError;
use crate::live::{Delta, Live, Speech};
use crate::options::Options;
use crate::roster::Roster;
use crate::under_way::UnderWay;
use crate::{dispatch, lease, trace};

/// Drives the sessions of a registry.
///
/// It is cheap to clone; all clones are the same engine. When the last is dropped it stops, as by
/// [`Engine::stop`], but nobody waits for it.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
    _stop: Arc<StopOnDrop>,
}

/// What the parts of an engine share.
pub(crate) struct Shared {
    pub(crate) runtime: Runtime,
    pub(crate) caller: quixos_runtime::Session,
    pub(crate) registry: Ref<SessionRegistryObject>,
    pub(crate) roster: Roster,
    pub(crate) options: Options,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) live: Live,
    /// The sessions that are driven, and how to poke who drives them.
    pub(crate) drivers: Mutex<HashMap<Ref<SessionObject>, Arc<Notify>>>,
    pub(crate) claims: Claims,
    /// Deliveries and model calls that may still begin.
    pub(crate) places: Semaphore,
    pub(crate) under_way: UnderWay,
    /// The newest commit that was looked at.
    pub(crate) looked_at: AtomicU64,
    pub(crate) stopping: CancellationToken,
    /// What is done for sessions, so that a stop can wait until the last of it is given up.
    pub(crate) errands: TaskTracker,
    tasks: Mutex<JoinSet<()>>,
}

struct StopOnDrop(CancellationToken);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// How an engine is at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figures {
    /// Sessions that have something to do.
    pub driven: usize,
    /// Deliveries and model calls under way.
    pub under_way: usize,
    /// How many may be.
    pub at_once: usize,
    /// The newest commit that it has looked at.
    pub looked_at: u64,
}

/// What a submit came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The session, which was made if need be.
    pub session_id: String,
    /// The turn that the input belongs to, if it belongs to one.
    pub turn_id: Option<String>,
    /// The request that the turn is.
    pub request: Option<Ref<AgentRequestObject>>,
    /// Where the client was last asked for something before it answered: the offset of a
    /// `turn.waiting` event in the log.
    pub asked: Option<u64>,
    /// False where the input was known already, or had nothing to do.
    pub applied: bool,
}

/// How a call ended, for whoever settles it from outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Settlement {
    /// It has a result.
    Result(Value),
    /// It failed.
    Failure(CallFailure),
}

impl Engine {
    /// Starts an engine over a runtime that has loaded the packages of sessions. All that is due is
    /// taken up at once.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn start(
        runtime: Runtime,
        registry: Ref<SessionRegistryObject>,
        roster: Roster,
        options: Options,
    ) -> Result<Self, EngineError> {
        Self::start_with_clock(runtime, registry, roster, options, Arc::new(SystemClock)).await
    }

    /// Starts an engine that counts its deadlines by a clock: that of the runtime.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn start_with_clock(
        runtime: Runtime,
        registry: Ref<SessionRegistryObject>,
        roster: Roster,
        options: Options,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, EngineError> {
        let stopping = CancellationToken::new();
        let shared = Arc::new(Shared {
            caller: runtime.session(Caller::operator(format!("engine:{}", options.id))),
            registry,
            roster,
            clock,
            live: Live::default(),
            drivers: Mutex::default(),
            claims: Claims::default(),
            places: Semaphore::new(options.at_once),
            under_way: UnderWay::default(),
            looked_at: AtomicU64::new(runtime.durable()),
            stopping: stopping.clone(),
            errands: TaskTracker::new(),
            tasks: Mutex::default(),
            options,
            runtime,
        });
        lease::renew(&shared).await?;
        let after = shared.runtime.durable();
        shared.spawn(lease::keep(Arc::clone(&shared)));
        shared.spawn(dispatch::follow(Arc::clone(&shared), after));
        dispatch::sweep(&shared).await?;
        Ok(Self { shared, _stop: Arc::new(StopOnDrop(stopping)) })
    }

    /// Submits a client's input to a session, which is made if it is not there. A turn that it
    /// begins belongs to the trace that this is done [within](trace::within).
    ///
    /// # Errors
    ///
    /// A refusal, or `invalid` with the path to the field. Then nothing has changed.
    pub async fn submit(
        &self,
        by: Authority,
        session_id: String,
        metadata: String,
        input: String,
    ) -> Result<Submitted, EngineError> {
        let trace = trace::current().map(|context| context.to_string());
        let (followed, once) = (false, None);
        let submit =
            SessionRegistrySubmitInput { by, session_id, metadata, input, followed, trace, once };
        self.submit_as(submit).await
    }

    /// Submits a client's input and says that the client follows the turn, as by
    /// [`Engine::follow_turn`], both at once. Under a key it counts once: whoever submits it again,
    /// to whatever session, is told what came of it.
    ///
    /// # Errors
    ///
    /// As [`Engine::submit`].
    pub async fn submit_followed(
        &self,
        by: Authority,
        session_id: String,
        metadata: String,
        input: String,
        once: Option<Once>,
    ) -> Result<Submitted, EngineError> {
        let trace = trace::current().map(|context| context.to_string());
        let followed = true;
        let submit =
            SessionRegistrySubmitInput { by, session_id, metadata, input, followed, trace, once };
        self.submit_as(submit).await
    }

    async fn submit_as(
        &self,
        submit: SessionRegistrySubmitInput,
    ) -> Result<Submitted, EngineError> {
        let registry = SessionRegistry::on(&self.shared.caller, self.shared.registry);
        let submitted = registry.submit(&submit).await?;
        let Outcome { turn, applied, .. } = submitted.outcome;
        self.submitted(submitted.session, submit.session_id, turn, applied).await
    }

    /// Settles a call from outside.
    ///
    /// # Errors
    ///
    /// A refusal: no such call, not open, another attempt, not the caller's to settle.
    pub async fn settle(
        &self,
        by: Authority,
        session_id: &str,
        call: String,
        attempt: Option<u32>,
        settlement: Settlement,
    ) -> Result<Outcome, EngineError> {
        let session = self.require(session_id).await?;
        let (result, error) = match settlement {
            Settlement::Result(value) => (Some(value.to_string()), None),
            Settlement::Failure(failure) => (None, Some(failure)),
        };
        let blocks = Vec::new();
        let settle = Settle { by, fence: None, call, attempt, result, error, blocks };
        Ok(Session::on(&self.shared.caller, session).settle(&settle).await?)
    }

    /// Gives the answer to a decision by another way than the reply to its delivery.
    ///
    /// # Errors
    ///
    /// `invalid` if it is not the answer to anything. One that comes late does nothing.
    pub async fn answer(
        &self,
        session_id: &str,
        decision: String,
        answer: String,
    ) -> Result<Outcome, EngineError> {
        let session = self.require(session_id).await?;
        let answer = Answer { fence: None, decision, answer, blocks: Vec::new() };
        Ok(Session::on(&self.shared.caller, session).answer(&answer).await?)
    }

    /// Pauses a session, and returns the interrupt's id.
    ///
    /// # Errors
    ///
    /// A refusal.
    pub async fn interrupt(
        &self,
        by: Authority,
        session_id: &str,
        id: Option<String>,
        reason: String,
        payload: Value,
    ) -> Result<String, EngineError> {
        let session = self.require(session_id).await?;
        let interrupt = Interrupt { by, id: id.clone(), reason, payload: payload.to_string() };
        let _hold = self.keep_what_is_said(session, session_id).await;
        let outcome = Session::on(&self.shared.caller, session).interrupt(&interrupt).await?;
        outcome.interrupt.or(id).ok_or_else(|| EngineError::NotFound("an interrupt".to_owned()))
    }

    /// Cancels a turn, or without one the session for good.
    ///
    /// # Errors
    ///
    /// A refusal, or no such session or turn.
    pub async fn cancel(
        &self,
        by: Authority,
        session_id: &str,
        turn: Option<String>,
    ) -> Result<Outcome, EngineError> {
        let session = self.require(session_id).await?;
        let _hold = self.keep_what_is_said(session, session_id).await;
        Ok(Session::on(&self.shared.caller, session).cancel(&Cancel { by, turn }).await?)
    }

    /// Returns what a client sees of a session, as JSON.
    ///
    /// # Errors
    ///
    /// No such session.
    pub async fn view(&self, session_id: &str) -> Result<String, EngineError> {
        let session = self.require(session_id).await?;
        Ok(Session::on(&self.shared.caller, session).view().await?)
    }

    /// Returns a session by its id.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn session(
        &self,
        session_id: &str,
    ) -> Result<Option<Ref<SessionObject>>, EngineError> {
        let registry = SessionRegistry::on(&self.shared.caller, self.shared.registry);
        Ok(registry.sessions_at(session_id).await?.first().copied())
    }

    /// Listens to what models say in a session, from now on. Deltas are hints: the log has it all.
    #[must_use]
    pub fn listen(&self, session_id: &str) -> broadcast::Receiver<Delta> {
        self.shared.live.listen(session_id)
    }

    /// Reads what models say in a session, in this process, from wherever a reader stands. See
    /// [`crate::live`] for what of it is in the log.
    #[must_use]
    pub fn speech(&self, session_id: &str) -> Speech {
        self.shared.live.speech(session_id)
    }

    /// Returns the live channels.
    #[must_use]
    pub fn live(&self) -> &Live {
        &self.shared.live
    }

    /// Returns the runtime below.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.shared.runtime
    }

    /// Returns the caller as which the engine calls.
    #[must_use]
    pub fn caller(&self) -> &quixos_runtime::Session {
        &self.shared.caller
    }

    /// Waits until nothing is under way in this process: no delivery, no model call. What waits for
    /// somebody or for a time does not count. What is submitted meanwhile does.
    pub async fn at_rest(&self) {
        self.shared.under_way.over().await;
    }

    /// Returns how the engine is at the moment.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let shared = &self.shared;
        let at_once = shared.options.at_once;
        Figures {
            driven: shared.drivers.lock().unwrap_or_else(PoisonError::into_inner).len(),
            under_way: at_once.saturating_sub(shared.places.available_permits()),
            at_once,
            looked_at: shared.looked_at.load(Ordering::Relaxed),
        }
    }

    /// Says whether it was told to stop.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.shared.stopping.is_cancelled()
    }

    /// Stops: nothing new begins, and what runs is given up. All of it is in the store, and goes on
    /// where it stands when an engine starts again.
    pub async fn stop(&self) {
        self.shared.stopping.cancel();
        let mut tasks = {
            let mut tasks = self.shared.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        while tasks.join_next().await.is_some() {}
        self.shared.errands.close();
        self.shared.errands.wait().await;
    }

    pub(crate) async fn require(
        &self,
        session_id: &str,
    ) -> Result<Ref<SessionObject>, EngineError> {
        let found = self.session(session_id).await?;
        found.ok_or_else(|| EngineError::NotFound(format!("a session `{session_id}`")))
    }
}

impl Shared {
    /// Runs something until the engine stops.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stopping = self.stopping.clone();
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = task => {}
            }
        });
    }
}
