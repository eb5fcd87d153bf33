//! Turns: a round from an input to its end, which AgentRuntime knows as a request.
//!
//! A turn is admitted like any request, claimed once an engine drives the session and
//! `session.start` was answered, and finished in the step that ends it.

use quixos_package::agent_runtime::{
    AgentDirectoryAdmitInput, AgentRequestClaimInput, AgentRequestObject, AgentSubmission,
};
use quixos_runtime::{CallError, Ref};
use serde_json::Value;

use super::receive::Queued;
use super::{Dropped, Machine, Minted, Void, turn_of_waiting, waiting};
use crate::reference::object_id;
use crate::refusal::Refusal;
use crate::sessions::session_apply::CreateTurn;
use crate::sessions::{TurnData, TurnRecord};
use crate::status::{CANCELLED, START_QUEUED};
use crate::{stored, usage};

/// The longest text of a request, in bytes. Its data has all that was said.
const TEXT_BYTES: usize = 64 << 10;

/// How a turn ends.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TurnEnd {
    /// By `done`, with this data.
    Done(Value),
    /// Nothing was left to do in it.
    Quiescent,
    /// It cannot go on.
    Failed(String),
    /// It was cancelled.
    Cancelled,
}

/// A turn that is to begin.
pub(crate) struct NewTurn {
    pub(crate) id: Option<String>,
    /// The trigger that it begins with, by name.
    pub(crate) input: &'static str,
    /// What its request says.
    pub(crate) text: String,
    /// The input, as JSON; of a view, what is new in it.
    pub(crate) data: String,
    pub(crate) stream: Option<bool>,
}

/// Who sent a message to this session, and how far from the first cause.
pub(crate) struct Cause {
    pub(crate) sender: Option<Ref<AgentRequestObject>>,
    pub(crate) depth: u32,
}

impl Machine<'_, '_> {
    /// Begins the turn of a client's input, in place of one that has nothing left to do.
    ///
    /// # Errors
    ///
    /// `refused` while another turn is active, or if AgentRuntime does not admit the request.
    pub(super) fn begin_turn(&mut self, turn: NewTurn, source: &str) -> Result<String, CallError> {
        if let Some(active) = &self.data.turn {
            if !self.is_quiescent()? {
                return Err(Refusal::TurnAlreadyActive(active.id.clone()).into());
            }
            self.complete_turn(TurnEnd::Quiescent)?;
        }
        let id = turn.id.clone().unwrap_or_else(|| self.mint(Minted::Turn));
        let cause = Cause { sender: None, depth: 0 };
        let request = self.admit(&turn, source, &cause)?;
        self.add_turn(&id, request)?;
        self.activate(&id, turn.input, request, turn.stream)?;
        Ok(id)
    }

    /// Notes that a request is a turn of this session.
    pub(super) fn add_turn(
        &mut self,
        id: &str,
        request: Ref<AgentRequestObject>,
    ) -> Result<(), CallError> {
        self.data.last = Some(request);
        self.cx.turns().connect(id, request).map(drop)
    }

    /// Puts the request of a turn into AgentRuntime's queue.
    pub(super) fn admit(
        &self,
        turn: &NewTurn,
        source: &str,
        cause: &Cause,
    ) -> Result<Ref<AgentRequestObject>, CallError> {
        let root = match cause.sender {
            Some(sender) => Some(self.cx.work(sender).root()?.unwrap_or(sender)),
            None => None,
        };
        let directory = self.cx.home(self.cx.registry().resolve()?).directory()?;
        let admission = self.cx.directory(directory).admit(&AgentDirectoryAdmitInput {
            agent: self.cx.agent().resolve()?,
            thread: Some(self.cx.thread().resolve()?),
            submission: AgentSubmission {
                text: said(&turn.text),
                data: Some(turn.data.clone()),
                profile: None,
                response: None,
                source_kind: source.to_owned(),
                source_label: self.binding.owner_id.clone(),
                publication: None,
                created_at: self.now_text(),
                contexts: Vec::new(),
                related: cause.sender,
                retry_of: None,
                root,
                causal_depth: cause.depth,
            },
            optional_work: false,
        })?;
        admission
            .request
            .ok_or_else(|| Refusal::NotAdmitted(admission.reason.unwrap_or_default()).into())
    }

    /// Makes an admitted turn the active one.
    pub(super) fn activate(
        &mut self,
        id: &str,
        input: &str,
        request: Ref<AgentRequestObject>,
        stream: Option<bool>,
    ) -> Result<(), CallError> {
        self.cx.request().connect(request)?;
        self.data.done = false;
        self.data.turn = Some(TurnData {
            id: id.to_owned(),
            generation: 0,
            attempt: String::new(),
            usage: usage::none(),
            sub_agents: usage::none(),
            stream,
            followed: false,
            waiting: waiting::NOTHING.to_owned(),
            asked: None,
            trace: self.trace.clone(),
        });
        let began = self.log_turn_started(id, input, self.trace.as_deref())?;
        self.record_turn(id, request, began)
    }

    /// Says of a turn that waited that it is over, for those who follow it.
    pub(super) fn turn_never_began(
        &mut self,
        id: &str,
        request: Ref<AgentRequestObject>,
    ) -> Result<(), CallError> {
        let nothing = usage::none();
        let ended = self.log_turn_completed(id, None, Some(CANCELLED), &nothing, &nothing)?;
        self.record_turn(id, request, ended)
    }

    /// Records which turn a request is, and where the log begins to tell of it.
    fn record_turn(
        &self,
        id: &str,
        request: Ref<AgentRequestObject>,
        began: u64,
    ) -> Result<(), CallError> {
        let request = object_id(&self.cx.reference_text(request)).to_owned();
        let (data, session) =
            (TurnRecord { id: id.to_owned(), request, began }, self.cx.receiver());
        self.cx.create_turn(&CreateTurn { data, session }).map(drop)
    }

    /// Ends the active turn, if there is one.
    ///
    /// A turn that fails or is cancelled takes its work with it. One that is done leaves running
    /// calls alone; what they raise later belongs to no turn.
    pub(crate) fn complete_turn(&mut self, end: TurnEnd) -> Result<(), CallError> {
        let Some(id) = self.data.turn.as_ref().map(|turn| turn.id.clone()) else {
            return Ok(());
        };
        let taken_along = match end {
            TurnEnd::Cancelled => Some((Void::Cancelled, Dropped::Cancelled)),
            TurnEnd::Failed(_) => Some((Void::TurnFailed, Dropped::TurnFailed)),
            TurnEnd::Done(_) | TurnEnd::Quiescent => None,
        };
        if let Some((void, dropped)) = taken_along {
            self.void_calls(void, |call| call.turn.as_deref() == Some(&id))?;
            self.drop_decisions(dropped, |decision| decision.turn.as_deref() == Some(&id))?;
        }
        let (data, error) = match &end {
            TurnEnd::Done(data) => (Some(data.clone()), None),
            TurnEnd::Quiescent => (None, None),
            TurnEnd::Failed(error) => (None, Some(error.clone())),
            TurnEnd::Cancelled => (None, Some(CANCELLED.to_owned())),
        };
        let Some(turn) = self.data.turn.clone() else { return Ok(()) };
        if let TurnEnd::Done(data) = &end {
            self.data.done = true;
            self.log_session_done(Some(&id), data)?;
        }
        let (spent, children) = (&turn.usage, &turn.sub_agents);
        self.log_turn_completed(&id, data.as_ref(), error.as_deref(), spent, children)?;
        self.finish_request(&turn, &end)?;
        self.data.turn = None;
        for decision in &mut self.live.decisions {
            decision.turn = decision.turn.take().filter(|turn| *turn != id);
        }
        if let Some(request) = self.cx.request().resolve()? {
            self.cx.request().disconnect(request)?;
        }
        let total = usage::sum(spent, children)?;
        self.tell_parent(data.as_ref(), error.as_deref(), &total)
    }

    /// Begins the oldest turn that waits for its turn, if none is active. Says whether one did.
    pub(crate) fn next_turn(&mut self) -> Result<bool, CallError> {
        if self.data.turn.is_some() || self.data.cancelled {
            return Ok(false);
        }
        while let Some(&request) = self.cx.waiting().page(None, 1)?.first() {
            self.cx.waiting().disconnect(request)?;
            let admission = self.cx.work(request).admission()?;
            let is_over = is_terminal(&self.cx.work(request).progress()?.status);
            let id = object_id(&self.cx.reference_text(request)).to_owned();
            if !is_over {
                self.begin_received(Queued::of(&id, &admission), request)?;
                return Ok(true);
            }
            // It was cancelled, or ended, by another door.
            self.turn_never_began(&turn_of_waiting(&id, &admission), request)?;
        }
        Ok(false)
    }

    /// Claims the request of the active turn for the engine that drives the session, once
    /// `session.start` was answered.
    pub(crate) fn claim_request(&mut self) -> Result<(), CallError> {
        let is_claimed = self.data.turn.as_ref().is_none_or(|turn| turn.generation > 0);
        let engine = self.data.claim.engine.clone();
        if is_claimed || self.data.start == START_QUEUED || engine.is_empty() {
            return Ok(());
        }
        self.claim(engine, false)
    }

    /// Claims the request of the active turn again, for an engine that takes the session over, and
    /// asks again what is still open.
    pub(crate) fn reclaim_request(&mut self) -> Result<(), CallError> {
        let is_claimed = self.data.turn.as_ref().is_some_and(|turn| turn.generation > 0);
        if !is_claimed {
            return Ok(());
        }
        self.close_questions()?;
        self.claim(self.data.claim.engine.clone(), true)
    }

    fn claim(&mut self, engine: String, recover: bool) -> Result<(), CallError> {
        let Some(request) = self.cx.request().resolve()? else { return Ok(()) };
        let held = self.cx.work(request).progress()?;
        let claim = self.cx.work(request).claim(&AgentRequestClaimInput {
            attempt: engine.clone(),
            expected_generation: held.generation,
            started_at: self.now_text(),
            recover,
        })?;
        if let (true, Some(turn)) = (claim.claimed, &mut self.data.turn) {
            turn.attempt = engine;
            turn.generation = claim.generation;
            self.ask_what_is_open()?;
        }
        Ok(())
    }

    /// Ends the turn if its request was cancelled, or ended, by another door.
    pub(crate) fn look_for_cancel(&mut self) -> Result<(), CallError> {
        let Some(request) = self.cx.request().resolve()? else { return Ok(()) };
        let progress = self.cx.work(request).progress()?;
        if progress.cancel_requested || is_terminal(&progress.status) {
            self.complete_turn(TurnEnd::Cancelled)?;
        }
        Ok(())
    }
}

/// Says whether a request has ended.
pub(super) fn is_terminal(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "cancelled")
}

/// Returns a text that AgentRuntime admits: it takes none that is blank, nor a long one beside the
/// same in the request's data.
fn said(text: &str) -> String {
    let begin = &text[..text.floor_char_boundary(TEXT_BYTES)];
    if begin.trim().is_empty() { "(no text)".to_owned() } else { begin.to_owned() }
}

/// Returns the JSON of a value that a request keeps.
pub(super) fn kept(value: &impl serde::Serialize) -> Result<String, CallError> {
    stored::json_text(value)
}
