//! Cancelling: a turn, or the session for good with all that runs in it and below it.

use quixos_package::agent_runtime::AgentRequestObject;
use quixos_runtime::{CallError, Ref};

use super::turn::TurnEnd;
use super::{Dropped, Machine, Void, turn_of_waiting};
use crate::reference::object_id;
use crate::refusal::Refusal;
use crate::sessions::{Cancel, Usage};
use crate::status::{CANCELLED, FRONTEND};

impl Machine<'_, '_> {
    /// Cancels a turn, or the session.
    pub(crate) fn cancel(&mut self, cancel: Cancel) -> Result<(), CallError> {
        self.require_owner(&cancel.by)?;
        match cancel.turn {
            Some(turn) => self.cancel_turn(&turn),
            None if cancel.by.class == FRONTEND => Err(Refusal::NotPrivileged.into()),
            None => self.cancel_session(),
        }
    }

    fn cancel_turn(&mut self, turn: &str) -> Result<(), CallError> {
        let Some(request) = self.cx.turns().get(turn)? else {
            return Err(CallError::NotFound { what: format!("a turn `{turn}`") });
        };
        self.report.turn = Some(turn.to_owned());
        if self.data.turn.as_ref().is_some_and(|active| active.id == turn) {
            return self.complete_turn(TurnEnd::Cancelled);
        }
        // One that waits has a request that is queued, and is over with it.
        self.report.applied = self.cx.waiting().contains(request)?;
        if self.report.applied {
            self.cancel_waiting(request)?;
        }
        Ok(())
    }

    fn cancel_waiting(&mut self, request: Ref<AgentRequestObject>) -> Result<(), CallError> {
        self.cx.waiting().disconnect(request)?;
        self.cx.work(request).cancel()?;
        self.cx.work(request).publish_completion()?;
        let id = object_id(&self.cx.reference_text(request)).to_owned();
        let turn = turn_of_waiting(&id, &self.cx.work(request).admission()?);
        self.turn_never_began(&turn, request)
    }

    /// Ends the session. Its parent is told of the end, unless it is the parent that asks: that is
    /// in the middle of a step.
    fn cancel_session(&mut self) -> Result<(), CallError> {
        if self.data.cancelled {
            self.report.applied = false;
            return Ok(());
        }
        self.data.cancelled = true;
        self.void_calls(Void::Cancelled, |_| true)?;
        self.drop_decisions(Dropped::Cancelled, |_| true)?;
        let had_turn = self.data.turn.is_some();
        self.complete_turn(TurnEnd::Cancelled)?;
        for request in self.cx.waiting().all()? {
            self.cancel_waiting(request)?;
        }
        for interrupt in std::mem::take(&mut self.live.interrupts) {
            self.close_question(&interrupt.question, None)?;
        }
        self.live.sends.clear();
        self.cancel_children()?;
        let thread = self.cx.thread().resolve()?;
        self.cx.conversation(thread).archive(true)?;
        self.log_session_cancelled()?;
        if !had_turn {
            let nothing: Usage = crate::usage::none();
            self.tell_parent(None, Some(CANCELLED), &nothing)?;
        }
        Ok(())
    }
}
