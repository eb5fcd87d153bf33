//! One session, driven: what is due is begun, what is no longer due is given up, and when nothing
//! is left the driver goes.
//!
//! A driver knows nothing that the store does not: what it runs is what the session's agenda says,
//! and when in doubt it reads the agenda again.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use quixos_runtime::{CallError, Ref};
use quixos_session::sessions::{Agenda, Due, Fence, Session, SessionObject, Take};
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinSet};
use tracing::{debug, warn};

use crate::engine::Shared;
use crate::trace::TraceContext;
use crate::{lease, task};

/// How long to wait after a step that failed for a reason that may pass.
const PAUSE: Duration = Duration::from_millis(500);

/// What is done once: a delivery, an attempt, a spawn.
type Key = (String, String, u32);

/// Drives a session until it has nothing to do, or another engine drives it.
pub(crate) async fn drive(shared: Arc<Shared>, session: Ref<SessionObject>, wake: Arc<Notify>) {
    let mut driver = Driver {
        shared: Arc::clone(&shared),
        session,
        claimed: shared
            .claims
            .of(session)
            .map(|generation| Fence { engine: shared.options.id.clone(), generation }),
        running: HashMap::new(),
        tasks: JoinSet::new(),
    };
    let mut next: Option<DateTime<Utc>> = None;
    loop {
        tokio::select! {
            () = wake.notified() => {}
            Some(_) = driver.tasks.join_next() => {}
            () = until(&shared, next) => driver.wake().await,
        }
        next = match driver.look().await {
            Ok(Look::Idle) if driver.running.is_empty() => {
                let mut drivers = shared.drivers.lock().unwrap_or_else(PoisonError::into_inner);
                // A poke that came meanwhile is kept by `wake`: then there is more to do.
                if is_poked(&wake) {
                    wake.notify_one();
                    continue;
                }
                drivers.remove(&session);
                return;
            }
            Ok(Look::Idle) => None,
            Ok(Look::Until(at)) => at,
            Err(error) => {
                warn!(%session, %error, "a session could not be looked at");
                tokio::time::sleep(PAUSE).await;
                wake.notify_one();
                None
            }
        };
    }
}

/// Says whether a poke waits, and takes it.
fn is_poked(wake: &Notify) -> bool {
    let mut notified = std::pin::pin!(wake.notified());
    notified.as_mut().enable()
}

/// What a look at the agenda came to.
enum Look {
    /// Nothing is due, nor will be by time alone.
    Idle,
    /// Something runs, or will be due.
    Until(Option<DateTime<Utc>>),
}

struct Driver {
    shared: Arc<Shared>,
    session: Ref<SessionObject>,
    /// The claim, once this engine has taken the session since it started.
    claimed: Option<Fence>,
    running: HashMap<Key, AbortHandle>,
    tasks: JoinSet<()>,
}

impl Driver {
    async fn look(&mut self) -> Result<Look, CallError> {
        let mut agenda = self.agenda().await?;
        let is_idle = agenda.due.is_empty() && agenda.wake_at.is_none() && !agenda.awake;
        if is_idle {
            self.give_up(&HashSet::new());
            return Ok(Look::Idle);
        }
        if !self.holds(&agenda) {
            if !self.take(&agenda).await? {
                self.give_up(&HashSet::new());
                return Ok(Look::Idle);
            }
            agenda = self.agenda().await?;
        }
        let wanted: HashSet<Key> = agenda.due.iter().map(key).collect();
        self.give_up(&wanted);
        for due in &agenda.due {
            self.begin(&agenda, due);
        }
        let at = agenda.wake_at.as_deref().and_then(instant);
        let waits = at.is_some() || !self.running.is_empty();
        Ok(if waits { Look::Until(at) } else { Look::Idle })
    }

    async fn agenda(&self) -> Result<Agenda, CallError> {
        Session::on(&self.shared.caller, self.session).agenda().await
    }

    /// Says whether the claim is this engine's, of this start.
    fn holds(&self, agenda: &Agenda) -> bool {
        self.claimed.as_ref().is_some_and(|fence| {
            fence.engine == agenda.claim.engine && fence.generation == agenda.claim.generation
        })
    }

    /// Takes the session, unless an engine that lives drives it.
    async fn take(&mut self, agenda: &Agenda) -> Result<bool, CallError> {
        let own = &self.shared.options.id;
        let holder = &agenda.claim.engine;
        let is_free = holder.is_empty() || holder == own;
        if !is_free && lease::is_alive(&self.shared, holder).await? {
            return Ok(false);
        }
        let take = Take { engine: own.clone(), recover: !holder.is_empty() };
        let outcome = Session::on(&self.shared.caller, self.session).take(&take).await?;
        if outcome.claim.engine != *own {
            return Ok(false);
        }
        self.shared.claims.keep(self.session, outcome.claim.generation);
        debug!(session = %self.session, generation = outcome.claim.generation, "taken");
        self.claimed =
            Some(Fence { engine: outcome.claim.engine, generation: outcome.claim.generation });
        Ok(true)
    }

    /// Gives up what runs and is no longer wanted.
    fn give_up(&mut self, wanted: &HashSet<Key>) {
        self.running.retain(|key, task| {
            if task.is_finished() {
                return false;
            }
            let keep = wanted.contains(key);
            if !keep {
                task.abort();
            }
            keep
        });
    }

    fn begin(&mut self, agenda: &Agenda, due: &Due) {
        let key = key(due);
        let Some(fence) = self.claimed.clone() else { return };
        if self.running.contains_key(&key) {
            return;
        }
        let errand = task::Errand {
            shared: Arc::clone(&self.shared),
            session: self.session,
            agent_id: agenda.agent_id.clone(),
            fence,
            trace: TraceContext::of_turn(
                &agenda.session_id,
                agenda.turn.as_deref(),
                agenda.trace.as_deref(),
            ),
            due: due.clone(),
        };
        let task = self.tasks.spawn(self.shared.errands.track_future(errand.run()));
        self.running.insert(key, task);
    }

    /// Does what time has made due.
    async fn wake(&self) {
        let client = Session::on(&self.shared.caller, self.session);
        if let Err(error) = client.wake().await {
            warn!(session = %self.session, %error, "what was due could not be done");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn key(due: &Due) -> Key {
    (due.kind.clone(), due.id.clone(), due.attempt)
}

fn instant(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(Into::into)
}

/// Waits until an instant, or for good where there is none.
async fn until(shared: &Shared, at: Option<DateTime<Utc>>) {
    match at {
        Some(at) => {
            let left = (at - shared.clock.now()).to_std().unwrap_or_default();
            tokio::time::sleep(left).await;
        }
        None => std::future::pending().await,
    }
}
