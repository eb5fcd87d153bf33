//! Where a session stands, and what it waits for: the answer to "why does it not go on".
//!
//! A session goes on when an engine drives it, nothing pauses it, its worker answers, and what was
//! begun ends. Each of these that is missing is a [`Hold`], and they are told in this order, since
//! one that comes later does not matter before those ahead of it are gone.

use chrono::{DateTime, Utc};
use quixos_runtime::CallError;
use serde::Serialize;

use crate::clock;
use crate::instant;
use crate::machine::is_awake;
use crate::past::Past;
use crate::pause;
use crate::reader::Reader;
use crate::sessions::{CallData, Claim, DecisionData, Lease, Live, SessionData};
use crate::status::{CLIENT, PENDING, QUEUED, RETRY_SCHEDULED};
use crate::stored::{self, StoredCall};

/// What a session does at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It was cancelled, for good.
    Cancelled,
    /// The conversation is paused at its head.
    Interrupted,
    /// Something is under way that is not its client's to do.
    Working,
    /// All that is under way is its client's to do.
    Waiting,
    /// Nothing is under way, and the last turn was completed by `done`.
    Done,
    /// Nothing is under way.
    Idle,
}

impl Status {
    /// Every status, in the order in which they are looked for.
    pub const ALL: [Self; 6] =
        [Self::Cancelled, Self::Interrupted, Self::Working, Self::Waiting, Self::Done, Self::Idle];

    /// Returns the stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Idle => "idle",
        }
    }

    /// Returns what a session does.
    pub(crate) fn of(data: &SessionData, live: &Live) -> Self {
        if data.cancelled {
            return Self::Cancelled;
        }
        if pause::is_paused(&live.interrupts) {
            return Self::Interrupted;
        }
        let is_clients = |call: &CallData| call.handler == CLIENT && call.status == PENDING;
        let is_quiet = live.decisions.is_empty() && live.sends.is_empty();
        match (is_quiet, live.calls.is_empty()) {
            (true, true) if data.done => Self::Done,
            (true, true) => Self::Idle,
            (true, false) if live.calls.iter().all(is_clients) => Self::Waiting,
            (_, _) => Self::Working,
        }
    }
}

/// How far something is that a session waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// It has not begun: something else comes first.
    Queued,
    /// Somebody has it.
    Pending,
    /// The last try failed, and the next one waits.
    RetryScheduled,
}

/// What keeps a session from going on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "hold", rename_all = "snake_case")]
pub enum Hold {
    /// No engine has taken it.
    Unclaimed,
    /// The engine that has taken it does not say any longer that it lives.
    Lapsed {
        /// The engine.
        engine: String,
        /// Until when it had said so, if that is still known.
        until: Option<String>,
    },
    /// An interrupt pauses the head.
    Interrupt {
        /// The interrupt.
        id: String,
        /// The least that may resume it: `frontend` or `machine`.
        origin: String,
        /// Why it was raised.
        reason: String,
        /// The question of AgentRuntime that asks the same; empty if there is none.
        question: String,
    },
    /// The worker is asked.
    Decision {
        /// The decision.
        id: String,
        /// The name of its trigger.
        kind: String,
        /// The call that it is about.
        call: Option<String>,
        /// How far it is.
        step: Step,
        /// How often it was delivered.
        attempts: u32,
        /// How often that failed.
        failures: u32,
        /// When time runs out for the answer, or the next try is made.
        due: Option<String>,
    },
    /// A tool, a model or a sub-agent is called.
    Call {
        /// The call.
        id: String,
        /// `tool_call`, `llm_call` or `sub_agent`.
        kind: String,
        /// Who runs it: `server`, `worker` or `client`.
        handler: String,
        /// The tool, the model, or the sub-agent.
        name: String,
        /// The session of the sub-agent.
        session: Option<String>,
        /// How far it is.
        step: Step,
        /// Which attempt it is at.
        attempt: u32,
        /// How often it failed.
        failures: u32,
        /// When time runs out for it, or the next try is made.
        due: Option<String>,
        /// The question of AgentRuntime that asks the client; empty if there is none.
        question: String,
    },
    /// A message is on its way to another session.
    Send {
        /// The message.
        id: String,
        /// The other session.
        session: String,
    },
}

/// Where a session stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Standing {
    /// What it does.
    pub status: Status,
    /// The active turn.
    pub turn: Option<String>,
    /// Turns that come after it.
    pub waiting: usize,
    /// Whether `session.start` was answered: `queued`, `started` or `failed`.
    pub start: String,
    /// The engine that has taken it; empty if none has.
    pub engine: String,
    /// Which claim that was.
    pub generation: u32,
    /// Until when that engine has said that it lives.
    pub lease: Option<String>,
    /// What keeps it from going on, what counts first ahead.
    pub holds: Vec<Hold>,
}

impl Reader<'_> {
    /// Returns what the session does.
    ///
    /// # Errors
    /// That the store cannot be read.
    pub fn status(&self) -> Result<Status, CallError> {
        Ok(Status::of(&self.data()?, &self.live()?))
    }

    /// Returns where the session stands at an instant.
    ///
    /// # Errors
    /// That the store cannot be read.
    pub fn standing(&self, now: DateTime<Utc>) -> Result<Standing, CallError> {
        let (data, live, leases) = (self.data()?, self.live()?, self.leases()?);
        let lease = leases.into_iter().find(|lease| lease.engine == data.claim.engine);
        let mut holds = Vec::new();
        if is_awake(&data, &live) {
            holds.extend(engine(&data.claim, lease.as_ref(), now)?);
        }
        for open in &live.interrupts {
            if open.pauses {
                holds.push(Hold::Interrupt {
                    id: open.id.clone(),
                    origin: open.origin.clone(),
                    reason: open.reason.clone(),
                    question: open.question.clone(),
                });
            }
        }
        let (mut begun, mut queued) = (Vec::new(), Vec::new());
        for decision in &live.decisions {
            let hold = of_decision(decision);
            let place = if decision.status == QUEUED { &mut queued } else { &mut begun };
            place.push((decision.order, hold));
        }
        for call in &live.calls {
            let hold = of_call(self, call)?;
            let place = if call.status == QUEUED { &mut queued } else { &mut begun };
            // What holds the slot goes before what runs beside it.
            let order = if call.status == QUEUED { call.order } else { u64::MAX };
            place.push((order, hold));
        }
        begun.sort_by_key(|(order, _)| *order);
        queued.sort_by_key(|(order, _)| *order);
        holds.extend(begun.into_iter().map(|(_, hold)| hold));
        holds.extend(
            live.sends
                .iter()
                .map(|send| Hold::Send { id: send.id.clone(), session: send.session.clone() }),
        );
        holds.extend(queued.into_iter().map(|(_, hold)| hold));
        Ok(Standing {
            status: Status::of(&data, &live),
            turn: data.turn.map(|turn| turn.id),
            waiting: self.waiting()?.len(),
            start: data.start,
            engine: data.claim.engine,
            generation: data.claim.generation,
            lease: lease.map(|lease| lease.until),
            holds,
        })
    }
}

/// Returns what is missing of an engine that drives a session.
fn engine(
    claim: &Claim,
    lease: Option<&Lease>,
    now: DateTime<Utc>,
) -> Result<Option<Hold>, CallError> {
    if claim.engine.is_empty() {
        return Ok(Some(Hold::Unclaimed));
    }
    let until = lease.map(|lease| lease.until.clone());
    let lives = match &until {
        Some(until) => instant::parse(until)? > now,
        None => false,
    };
    Ok((!lives).then(|| Hold::Lapsed { engine: claim.engine.clone(), until }))
}

fn of_decision(decision: &DecisionData) -> Hold {
    Hold::Decision {
        id: decision.id.clone(),
        kind: decision.kind.clone(),
        call: decision.call.clone(),
        step: step(&decision.status),
        attempts: decision.attempts,
        failures: decision.failures,
        due: clock::decision_due(decision).map(str::to_owned),
    }
}

fn of_call(past: &impl Past, call: &CallData) -> Result<Hold, CallError> {
    let (name, session) = match stored::call_of(past, call)? {
        StoredCall::ToolCall { name, .. } => (name, None),
        StoredCall::LlmCall { model, .. } => (model, None),
        StoredCall::SubAgent { session_id, agent_id } => (agent_id, Some(session_id)),
    };
    Ok(Hold::Call {
        id: call.id.clone(),
        kind: call.kind.clone(),
        handler: call.handler.clone(),
        name,
        session,
        step: step(&call.status),
        attempt: call.attempt,
        failures: call.failures,
        due: clock::call_due(call).map(str::to_owned),
        question: call.question.clone(),
    })
}

fn step(status: &str) -> Step {
    match status {
        PENDING => Step::Pending,
        RETRY_SCHEDULED => Step::RetryScheduled,
        _ => Step::Queued,
    }
}
