//! The state machine of a session: one step is one transaction.
//!
//! A step reads what the session is, does what time has made due, then what it was asked for, then
//! what follows from that, and writes the session back. It calls nothing outside the store, and its
//! one instant is the transaction's; so the same steps give the same bytes.
//!
//! Invariants: at most one decision is live; every live call is anchored on the head's path; what
//! has ended is in the archive and not in `live`. A session in the middle of a step is never
//! entered again: it holds what the other step would read.
//!
//! Start at `step.rs`; one file below is one topic.

mod actions;
mod answer;
mod blocks;
mod calls;
mod decisions;
mod delegation;
mod dispatch;
mod expiry;
mod failure;
mod follow;
mod fork;
mod log;
mod mint;
mod prepare;
mod progress;
mod prompt;
mod respond;
mod send;
mod settle;
mod settlement;
mod step;
mod take;
mod usage;
mod versions;
pub(crate) mod waiting;

mod cancel;
mod context;
mod interrupt;
mod receive;
mod submit;
mod turn;
mod view_input;
mod work;

use chrono::{DateTime, Utc};
use quixos_runtime::{CallError, Fence as RuntimeFence};

use crate::clock;
use crate::instant;
use crate::sessions::session_apply::Context;
use crate::sessions::{Binding, Fence, Live, Outcome, SessionData, SessionRegistryWakefulInput};

pub(crate) use calls::{Dropped, Void};
pub(crate) use mint::Minted;
pub(crate) use receive::turn_of_waiting;
pub(crate) use settle::{Ending, Failure, Tell};
pub(crate) use submit::read_input;
pub(crate) use turn::TurnEnd;

/// A session in the middle of a step.
pub(crate) struct Machine<'m, 'c> {
    /// The tree, the archive, the log, and what the step may do to AgentRuntime.
    pub(crate) cx: &'m Context<'c>,
    /// What never changes.
    pub(crate) binding: Binding,
    /// The session apart from what is under way; written back at the end of the step.
    pub(crate) data: SessionData,
    /// What is under way; written back at the end of the step.
    pub(crate) live: Live,
    /// The instant of the step, which every deadline is counted from.
    pub(crate) now: DateTime<Utc>,
    /// What the step will have come to.
    pub(crate) report: Report,
    /// The child that tells of its end in this step: it is in the middle of a step itself.
    pub(crate) reporting: Option<String>,
    /// Whether the parent is not told of an end: it is the parent that brings it about.
    pub(crate) silent: bool,
    /// Whether the client answered what it was asked.
    pub(crate) answered: bool,
    /// The trace that a turn belongs to which this step begins, if it is known.
    pub(crate) trace: Option<String>,
    was_awake: bool,
}

/// What a step comes to, for whoever asked for it.
#[derive(Debug)]
pub(crate) struct Report {
    /// The turn that it belongs to; of none, the one that is active at its end.
    pub(crate) turn: Option<String>,
    /// Whether there was something to do.
    pub(crate) applied: bool,
    /// The interrupt that it raised.
    pub(crate) interrupt: Option<String>,
}

impl<'m, 'c> Machine<'m, 'c> {
    /// Reads the session.
    pub(crate) fn load(cx: &'m Context<'c>) -> Result<Self, CallError> {
        let (data, live) = (cx.data().read()?, cx.live().read()?);
        let was_awake = is_awake(&data, &live);
        Ok(Self {
            cx,
            binding: cx.binding().read()?,
            data,
            live,
            now: cx.instant(),
            report: Report { turn: None, applied: true, interrupt: None },
            reporting: None,
            silent: false,
            answered: false,
            trace: None,
            was_awake,
        })
    }

    /// Writes the session, and says what the step came to.
    pub(crate) fn store(self) -> Result<Outcome, CallError> {
        self.cx.data().write(&self.data)?;
        self.cx.live().write(&self.live)?;
        let awake = is_awake(&self.data, &self.live);
        if awake != self.was_awake {
            let registry = self.cx.registry().resolve()?;
            let session = self.cx.receiver();
            self.cx.home(registry).wakeful(&SessionRegistryWakefulInput { session, awake })?;
        }
        let active = self.data.turn.map(|turn| turn.id);
        Ok(Outcome {
            turn: self.report.turn.or(active),
            applied: self.report.applied,
            interrupt: self.report.interrupt,
            claim: self.data.claim,
            wake_at: clock::wake_at(&self.live)?,
        })
    }

    /// Returns the instant of the step as it is stored.
    pub(crate) fn now_text(&self) -> String {
        instant::text(self.now)
    }

    /// Returns the instant some seconds after the step, as it is stored.
    pub(crate) fn after(&self, seconds: u64) -> String {
        instant::text(instant::after(self.now, seconds))
    }

    /// Returns a turn if it is the active one.
    pub(crate) fn active_turn(&self, turn: Option<&str>) -> Option<String> {
        let active = self.data.turn.as_ref().map(|turn| turn.id.as_str());
        turn.filter(|turn| active == Some(turn)).map(str::to_owned)
    }

    /// Refuses an engine that no longer drives the session.
    pub(crate) fn require_fence(&self, fence: &Fence) -> Result<(), CallError> {
        let held = &self.data.claim;
        if fence.engine == held.engine && fence.generation == held.generation {
            return Ok(());
        }
        Err(CallError::StaleFence {
            given: RuntimeFence { attempt: fence.engine.clone(), generation: fence.generation },
            held: RuntimeFence { attempt: held.engine.clone(), generation: held.generation },
        })
    }
}

/// Says whether an engine has something to do for a session, or to wait for.
pub(crate) fn is_awake(data: &SessionData, live: &Live) -> bool {
    data.turn.is_some()
        || !live.calls.is_empty()
        || !live.decisions.is_empty()
        || !live.sends.is_empty()
}
