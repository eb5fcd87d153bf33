//! What a session is by its log alone.
//!
//! The log is written for clients, and the state for the next step; both come from the same steps,
//! by different ways. So a fold of the log must come to what is stored: [`Replay::of`] folds,
//! [`Replay::stored`] reads, and [`Replay::difference`] names the first thing in which they differ.
//! The fold is the plainest that could be right: it knows what each event says, and no rule.
//!
//! Money and counts are not in it: what a refused reply has used is in no event of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use quixos_runtime::CallError;
use serde::Serialize;
use serde_json::Value;

use crate::reader::Reader;
use crate::sessions::{CallData, DecisionData, InterruptData, SessionEvent};
use crate::status::{
    CANCELLED, COMPLETED, DROPPED, FAILED, LLM_CALL, PENDING, START_DONE, START_FAILED,
    START_QUEUED, SUB_AGENT, TOOL_CALL, VOIDED,
};
use crate::stored::{self, SESSION_START, StoredTrigger};
use crate::versions::{AGENT, STATE};

/// One thing that happened in a session.
#[derive(Clone, PartialEq, Debug)]
pub struct Happened {
    /// The name of the event.
    pub kind: String,
    /// The turn that it belongs to.
    pub turn: Option<String>,
    /// The rest, as docs/sessions.md has it.
    pub payload: Value,
}

impl Happened {
    /// Reads an event as it is stored.
    ///
    /// # Errors
    /// `corrupt` when its payload is no JSON.
    pub fn read(event: &SessionEvent) -> Result<Self, CallError> {
        Ok(Self {
            kind: event.r#type.clone(),
            turn: event.turn.clone(),
            payload: stored::read_text(&event.payload, "the payload of an event")?,
        })
    }

    /// Returns a text of the payload.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.payload.get(field).and_then(Value::as_str)
    }

    /// Returns a number of the payload.
    #[must_use]
    pub fn number(&self, field: &str) -> Option<u64> {
        self.payload.get(field).and_then(Value::as_u64)
    }
}

/// How far a call or a decision is, as far as the log says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It waits for its turn, or for its next try.
    Waits,
    /// Somebody has it.
    Runs,
}

/// A call under way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CallAt {
    /// `tool_call`, `llm_call` or `sub_agent`.
    pub kind: String,
    /// Who runs it: `server`, `worker` or `client`.
    pub handler: String,
    /// Which attempt it is at.
    pub attempt: u64,
    /// The message that it hangs on.
    pub anchor: Option<String>,
    /// How far it is.
    pub stage: Stage,
    /// The blocks of its reply that are open, each with what it is a run of.
    pub blocks: BTreeMap<u64, String>,
}

/// A decision under way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DecisionAt {
    /// The name of its trigger.
    pub kind: String,
    /// The call that it is about.
    pub call: Option<String>,
    /// How often it was delivered.
    pub attempts: u64,
    /// How far it is.
    pub stage: Stage,
}

/// An open interrupt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct InterruptAt {
    /// The least that may resume it.
    pub origin: String,
    /// Why it was raised.
    pub reason: String,
    /// The message that it pauses.
    pub anchor: Option<String>,
    /// Whether the head is at that message or below.
    pub pauses: bool,
}

/// What a session is, as far as both its log and its state say.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Replay {
    /// `queued`, `started` or `failed`: whether `session.start` was answered.
    pub start: &'static str,
    /// The last turn was completed by `done`.
    pub done: bool,
    /// It takes nothing any more.
    pub cancelled: bool,
    /// The active turn.
    pub turn: Option<String>,
    /// Where the conversation stands.
    pub head: Option<String>,
    /// Each message, and the one above it.
    pub messages: BTreeMap<String, Option<String>>,
    /// Calls under way.
    pub calls: BTreeMap<String, CallAt>,
    /// Decisions under way.
    pub decisions: BTreeMap<String, DecisionAt>,
    /// Open interrupts.
    pub interrupts: BTreeMap<String, InterruptAt>,
    /// Messages on their way to other sessions, each with the session.
    pub sends: BTreeMap<String, String>,
    /// Calls that have ended, and how; of an id that came again, the last.
    pub ended_calls: BTreeMap<String, &'static str>,
    /// Decisions that have ended, and how.
    pub ended_decisions: BTreeMap<String, &'static str>,
    /// How often the worker's state was set.
    pub states: usize,
    /// How often the agent's config was set.
    pub configs: usize,
    /// The turns that have ended, or never began. Only a fold knows.
    over: BTreeSet<String>,
}

/// Why a log cannot be what happened.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayFault {
    /// An event lacks what it must say.
    #[error("`{event}` says no `{field}`")]
    Missing {
        /// The event.
        event: String,
        /// The field.
        field: &'static str,
    },
    /// Something goes on that was never begun, or is over.
    #[error("`{event}` of `{id}`, which is not under way")]
    NotUnderWay {
        /// The event.
        event: String,
        /// What it is about.
        id: String,
    },
    /// A reply goes on where it should not.
    #[error("`{event}` of `{call}`, whose block {index} is open or shut already")]
    Block {
        /// The event.
        event: String,
        /// The call.
        call: String,
        /// The block.
        index: u64,
    },
    /// A turn begins in another one.
    #[error("turn `{begun}` begins while `{active}` is active")]
    TurnInTurn {
        /// The new one.
        begun: String,
        /// The active one.
        active: String,
    },
    /// A message hangs on one that is not there, or is there twice.
    #[error("message `{0}` is there already, or hangs on none")]
    Tree(String),
}

/// The first thing in which a log and a state differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Difference {
    /// What differs: `head`, ``call `c1` ``.
    pub what: String,
    /// What the log comes to.
    pub log: String,
    /// What is stored.
    pub stored: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: by the log {}, in the store {}", self.what, self.log, self.stored)
    }
}

impl Default for Replay {
    /// A session in which nothing has happened.
    fn default() -> Self {
        Self {
            start: START_QUEUED,
            done: false,
            cancelled: false,
            turn: None,
            head: None,
            messages: BTreeMap::new(),
            calls: BTreeMap::new(),
            decisions: BTreeMap::new(),
            interrupts: BTreeMap::new(),
            sends: BTreeMap::new(),
            ended_calls: BTreeMap::new(),
            ended_decisions: BTreeMap::new(),
            states: 0,
            configs: 0,
            over: BTreeSet::new(),
        }
    }
}

impl Replay {
    /// Folds events.
    ///
    /// # Errors
    /// The first event that cannot follow those before it.
    pub fn of<'e>(log: impl IntoIterator<Item = &'e Happened>) -> Result<Self, ReplayFault> {
        let mut replay = Self::default();
        log.into_iter().try_for_each(|event| replay.add(event))?;
        Ok(replay)
    }

    /// Adds an event.
    ///
    /// # Errors
    /// That it cannot follow those before it.
    pub fn add(&mut self, event: &Happened) -> Result<(), ReplayFault> {
        if let Some(kind) = requested(&event.kind) {
            return self.call_requested(event, kind);
        }
        match event.kind.as_str() {
            "llm.call.dispatched" | "tool.call.dispatched" | "sub_agent.dispatched" => {
                self.call(event)?.stage = Stage::Runs;
            }
            "llm.block.started" => return self.block_started(event),
            "llm.block.stopped" => {
                let index = event.number("index").unwrap_or_default();
                if self.call(event)?.blocks.remove(&index).is_none() {
                    return Err(block(event, index));
                }
            }
            "llm.call.errored" | "tool.call.errored" | "sub_agent.errored" => {
                if event.payload.get("retry_at").is_none() {
                    return self.call_ended(event, FAILED);
                }
                let call = self.call(event)?;
                call.attempt += 1;
                call.stage = Stage::Waits;
                return shut(event, call);
            }
            "llm.call.completed" | "tool.call.completed" | "sub_agent.turn_completed" => {
                return self.call_ended(event, COMPLETED);
            }
            "call.voided" => return self.call_ended(event, VOIDED),
            "decision.queued" => return self.decision_queued(event),
            "decision.dispatched" => {
                let attempts = event.number("attempts").unwrap_or_default();
                let decision = self.decision(event)?;
                decision.stage = Stage::Runs;
                decision.attempts = attempts;
            }
            "decision.errored" if event.payload.get("retry_at").is_some() => {
                self.decision(event)?.stage = Stage::Waits;
            }
            "decision.errored" => return self.decision_ended(event, FAILED),
            "decision.completed" => return self.decision_ended(event, COMPLETED),
            "decision.dropped" => return self.decision_ended(event, DROPPED),
            "session.interrupted" => {
                let interrupt = InterruptAt {
                    origin: event.text("origin").unwrap_or_default().to_owned(),
                    reason: event.text("reason").unwrap_or_default().to_owned(),
                    anchor: event.text("anchor").map(str::to_owned),
                    pauses: false,
                };
                self.interrupts.insert(id(event, "interrupt_id")?, interrupt);
                self.look_what_pauses();
            }
            "session.interrupt_resumed" => {
                let id = id(event, "interrupt_id")?;
                self.interrupts.remove(&id).ok_or_else(|| not_under_way(event, id))?;
            }
            "session.message_requested" => {
                let session = id(event, "session_id")?;
                self.sends.insert(id(event, "id")?, session);
            }
            "session.message_sent" | "session.message_failed" => {
                let id = id(event, "id")?;
                self.sends.remove(&id).ok_or_else(|| not_under_way(event, id))?;
            }
            "turn.started" => return self.turn_started(event),
            "turn.completed" => return self.turn_completed(event),
            "message.new" => return self.message_new(event),
            "head.moved" => {
                self.head = Some(id(event, "head_id")?);
                self.look_what_pauses();
            }
            "worker.state.updated" => self.states += 1,
            "agent.updated" => self.configs += 1,
            "session.done" => self.done = true,
            "session.cancelled" => {
                self.cancelled = true;
                self.interrupts.clear();
                self.sends.clear();
            }
            // The rest says nothing that is kept, and what is to come may be more.
            _ => {}
        }
        Ok(())
    }

    fn call_requested(&mut self, event: &Happened, kind: &str) -> Result<(), ReplayFault> {
        let call = CallAt {
            kind: kind.to_owned(),
            handler: id(event, "handler")?,
            attempt: event.number("attempt").unwrap_or_default(),
            anchor: event.text("anchor").map(str::to_owned),
            stage: Stage::Waits,
            blocks: BTreeMap::new(),
        };
        self.calls.insert(id(event, "call_id")?, call);
        Ok(())
    }

    fn call(&mut self, event: &Happened) -> Result<&mut CallAt, ReplayFault> {
        let id = id(event, "call_id")?;
        self.calls.get_mut(&id).ok_or_else(|| not_under_way(event, id))
    }

    fn call_ended(&mut self, event: &Happened, how: &'static str) -> Result<(), ReplayFault> {
        let id = id(event, "call_id")?;
        let Some(call) = self.calls.remove(&id) else {
            return Err(not_under_way(event, id));
        };
        self.ended_calls.insert(id, how);
        shut(event, &call)
    }

    fn block_started(&mut self, event: &Happened) -> Result<(), ReplayFault> {
        let index = event.number("index").unwrap_or_default();
        let kind = id(event, "kind")?;
        let attempt = event.number("attempt");
        let call = self.call(event)?;
        let runs = call.stage == Stage::Runs && Some(call.attempt) == attempt;
        if !runs || call.blocks.insert(index, kind).is_some() {
            return Err(block(event, index));
        }
        Ok(())
    }

    fn decision_queued(&mut self, event: &Happened) -> Result<(), ReplayFault> {
        let trigger = event.payload.get("trigger").cloned().unwrap_or_default();
        let trigger = serde_json::from_value::<StoredTrigger>(trigger);
        let kind = trigger.map_err(|_| missing(event, "trigger"))?.kind();
        if kind == SESSION_START {
            self.start = START_QUEUED;
        }
        let decision = DecisionAt {
            kind: kind.to_owned(),
            call: event.text("call_id").map(str::to_owned),
            attempts: 0,
            stage: Stage::Waits,
        };
        self.decisions.insert(id(event, "decision_id")?, decision);
        Ok(())
    }

    fn decision(&mut self, event: &Happened) -> Result<&mut DecisionAt, ReplayFault> {
        let id = id(event, "decision_id")?;
        self.decisions.get_mut(&id).ok_or_else(|| not_under_way(event, id))
    }

    fn decision_ended(&mut self, event: &Happened, how: &'static str) -> Result<(), ReplayFault> {
        let id = id(event, "decision_id")?;
        let Some(decision) = self.decisions.remove(&id) else {
            return Err(not_under_way(event, id));
        };
        if decision.kind == SESSION_START {
            match how {
                COMPLETED => self.start = START_DONE,
                FAILED => self.start = START_FAILED,
                _ => {}
            }
        }
        self.ended_decisions.insert(id, how);
        Ok(())
    }

    fn turn_completed(&mut self, event: &Happened) -> Result<(), ReplayFault> {
        let turn = event.turn.clone().ok_or_else(|| missing(event, "turn"))?;
        // One that waited, and was cancelled, never began.
        let never_began = event.text("error") == Some(CANCELLED);
        if self.turn.as_ref() == Some(&turn) {
            self.turn = None;
        } else if !never_began || self.over.contains(&turn) {
            return Err(not_under_way(event, turn));
        }
        self.over.insert(turn);
        Ok(())
    }

    fn turn_started(&mut self, event: &Happened) -> Result<(), ReplayFault> {
        let begun = event.turn.clone().ok_or_else(|| missing(event, "turn"))?;
        if let Some(active) = self.turn.clone() {
            return Err(ReplayFault::TurnInTurn { begun, active });
        }
        self.turn = Some(begun);
        self.done = false;
        Ok(())
    }

    fn message_new(&mut self, event: &Happened) -> Result<(), ReplayFault> {
        let message = event.payload.get("message").and_then(|message| message.get("id"));
        let id = message.and_then(Value::as_str).ok_or_else(|| missing(event, "message"))?;
        let parent = event.text("parent_id").map(str::to_owned);
        let hangs = parent.as_ref().is_none_or(|parent| self.messages.contains_key(parent));
        // What is written below the head is below all that is above the head.
        let is_below = parent == self.head;
        if !hangs || self.messages.insert(id.to_owned(), parent).is_some() {
            return Err(ReplayFault::Tree(id.to_owned()));
        }
        self.head = Some(id.to_owned());
        if !is_below {
            self.look_what_pauses();
        }
        Ok(())
    }

    /// Looks for each open interrupt among the messages from the head upwards.
    fn look_what_pauses(&mut self) {
        if self.interrupts.is_empty() {
            return;
        }
        let above = |message: &String| self.messages.get(message).cloned().flatten();
        let path = std::iter::successors(self.head.clone(), above);
        // Each message hangs on one that was there before it, so the path has an end.
        let path: BTreeSet<String> = path.collect();
        for interrupt in self.interrupts.values_mut() {
            interrupt.pauses = interrupt.anchor.as_ref().is_none_or(|it| path.contains(it));
        }
    }

    /// Reads the same from what is stored.
    ///
    /// # Errors
    /// That the store cannot be read.
    pub fn stored(reader: &Reader<'_>) -> Result<Self, CallError> {
        let (data, live) = (reader.data()?, reader.live()?);
        let messages = reader.messages()?.into_iter().map(|(node, _)| (node.id, node.parent));
        let ended_calls = reader.ended_calls()?.into_iter();
        let ended_decisions = reader.ended_decisions()?.into_iter();
        Ok(Self {
            start: word(&data.start),
            done: data.done,
            cancelled: data.cancelled,
            turn: data.turn.map(|turn| turn.id),
            head: data.head,
            messages: messages.collect(),
            calls: live.calls.into_iter().map(call_at).collect(),
            decisions: live.decisions.into_iter().map(decision_at).collect(),
            interrupts: live
                .interrupts
                .into_iter()
                .map(|it| {
                    let InterruptData { id, origin, reason, anchor, pauses, .. } = it;
                    (id, InterruptAt { origin, reason, anchor, pauses })
                })
                .collect(),
            sends: live.sends.into_iter().map(|send| (send.id, send.session)).collect(),
            ended_calls: ended_calls.map(|call| (call.id, word(&call.status))).collect(),
            ended_decisions: ended_decisions.map(|it| (it.id, word(&it.status))).collect(),
            states: reader.versions(STATE)?,
            configs: reader.versions(AGENT)?,
            over: BTreeSet::new(),
        })
    }

    /// Returns the first thing in which this, a fold, differs from what is stored.
    #[must_use]
    pub fn difference(&self, stored: &Self) -> Option<Difference> {
        let plain = [
            ("start", shown(&self.start), shown(&stored.start)),
            ("done", shown(&self.done), shown(&stored.done)),
            ("cancelled", shown(&self.cancelled), shown(&stored.cancelled)),
            ("turn", shown(&self.turn), shown(&stored.turn)),
            ("head", shown(&self.head), shown(&stored.head)),
            ("states", shown(&self.states), shown(&stored.states)),
            ("configs", shown(&self.configs), shown(&stored.configs)),
        ];
        let plain = plain.into_iter().find(|(_, log, stored)| log != stored);
        plain
            .map(|(what, log, stored)| Difference { what: what.to_owned(), log, stored })
            .or_else(|| differs("message", &self.messages, &stored.messages))
            .or_else(|| differs("call", &self.calls, &stored.calls))
            .or_else(|| differs("decision", &self.decisions, &stored.decisions))
            .or_else(|| differs("interrupt", &self.interrupts, &stored.interrupts))
            .or_else(|| differs("message to another session", &self.sends, &stored.sends))
            .or_else(|| differs("ended call", &self.ended_calls, &stored.ended_calls))
            .or_else(|| differs("ended decision", &self.ended_decisions, &stored.ended_decisions))
    }
}

/// Returns the kind of call that an event requests.
fn requested(event: &str) -> Option<&'static str> {
    match event {
        "llm.call.requested" => Some(LLM_CALL),
        "tool.call.requested" => Some(TOOL_CALL),
        "sub_agent.requested" => Some(SUB_AGENT),
        _ => None,
    }
}

fn id(event: &Happened, field: &'static str) -> Result<String, ReplayFault> {
    event.text(field).map(str::to_owned).ok_or_else(|| missing(event, field))
}

fn missing(event: &Happened, field: &'static str) -> ReplayFault {
    ReplayFault::Missing { event: event.kind.clone(), field }
}

fn not_under_way(event: &Happened, id: String) -> ReplayFault {
    ReplayFault::NotUnderWay { event: event.kind.clone(), id }
}

fn block(event: &Happened, index: u64) -> ReplayFault {
    let call = event.text("call_id").unwrap_or_default().to_owned();
    ReplayFault::Block { event: event.kind.clone(), call, index }
}

/// Checks that no block of an attempt is open that ends.
fn shut(event: &Happened, call: &CallAt) -> Result<(), ReplayFault> {
    match call.blocks.keys().next() {
        Some(index) => Err(block(event, *index)),
        None => Ok(()),
    }
}

fn call_at(call: CallData) -> (String, CallAt) {
    let stage = stage(&call.status);
    let blocks = call.open.into_iter().map(|open| (open.index.into(), open.kind)).collect();
    let (kind, handler, anchor) = (call.kind, call.handler, call.anchor);
    (call.id, CallAt { kind, handler, attempt: call.attempt.into(), anchor, stage, blocks })
}

fn decision_at(decision: DecisionData) -> (String, DecisionAt) {
    let stage = stage(&decision.status);
    let (kind, call) = (decision.kind, decision.call);
    (decision.id, DecisionAt { kind, call, attempts: decision.attempts.into(), stage })
}

fn stage(status: &str) -> Stage {
    if status == PENDING { Stage::Runs } else { Stage::Waits }
}

/// Returns a stored word as the one that the fold uses; what is none of them equals none.
fn word(stored: &str) -> &'static str {
    let known = [START_QUEUED, START_DONE, START_FAILED, COMPLETED, FAILED, VOIDED, DROPPED];
    known.into_iter().find(|word| *word == stored).unwrap_or("unknown")
}

/// A value in a difference.
fn shown(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::Null) | Err(_) => "none".to_owned(),
        Ok(value) => value.to_string(),
    }
}

/// Returns the first key at which two maps differ.
fn differs<T: PartialEq + Serialize>(
    what: &str,
    log: &BTreeMap<String, T>,
    stored: &BTreeMap<String, T>,
) -> Option<Difference> {
    let key =
        log.keys().chain(stored.keys()).filter(|key| log.get(*key) != stored.get(*key)).min()?;
    let side = |map: &BTreeMap<String, T>| map.get(key).map_or_else(|| "nothing".to_owned(), shown);
    Some(Difference { what: format!("{what} `{key}`"), log: side(log), stored: side(stored) })
}
