//! What a turn waits for of its client, once it waits for nobody else.
//!
//! The log says so when a client follows the turn, and again whenever that changes or the client has
//! answered; a child tells its parent, whose client is asked in its place. Deadlines may still move
//! the turn on: they are not waited for.

use quixos_runtime::CallError;
use serde_json::{Value, json};

use super::Machine;
use super::interrupt::rank;
use crate::sessions::{CallData, ChildWaits};
use crate::status::{CLIENT, FRONTEND, PENDING, QUEUED, RETRY_SCHEDULED, SUB_AGENT};
use crate::stored::{self, StoredCall};

/// Nothing, as it is stored.
pub(crate) const NOTHING: &str = "[]";

impl Machine<'_, '_> {
    /// Says what the active turn waits for, if that is not what was said last.
    pub(super) fn tell_what_waits(&mut self) -> Result<(), CallError> {
        let is_child = !self.binding.delegation.is_empty();
        let Some(turn) = self.data.turn.as_ref().filter(|turn| turn.followed || is_child) else {
            return Ok(());
        };
        let (id, told) = (turn.id.clone(), turn.waiting.clone());
        let actions = self.waited_for(&id)?;
        let waiting = stored::json_text(&actions)?;
        // Whoever has answered is asked anew for what is left, even if that is the same.
        let is_anew = self.answered && !actions.is_empty();
        if waiting == told && !is_anew {
            return Ok(());
        }
        let asked =
            if actions.is_empty() { None } else { Some(self.log_turn_waiting(&id, &actions)?) };
        if let Some(turn) = &mut self.data.turn {
            turn.waiting.clone_from(&waiting);
            turn.asked = asked.or(turn.asked);
        }
        match self.cx.parent().resolve()?.filter(|_| is_child && !self.silent) {
            Some(parent) => {
                let waits = ChildWaits {
                    call: self.binding.delegation.clone(),
                    session: self.binding.session_id.clone(),
                    actions: waiting,
                };
                self.cx.relative(parent).child_waits(&waits).map(drop)
            }
            None => Ok(()),
        }
    }

    /// Notes what a child waits for. The child is in the middle of a step: nothing else is done.
    pub(super) fn child_waits(&mut self, child: &ChildWaits) -> Result<(), CallError> {
        let mut found = None;
        for call in self.live.calls.iter().filter(|call| call.kind == SUB_AGENT) {
            if call.id == child.call
                && let StoredCall::SubAgent { session_id, .. } = stored::call_of(self.cx, call)?
                && session_id == child.session
            {
                found = Some(call.id.clone());
            }
        }
        let mut calls = self.live.calls.iter_mut();
        match calls.find(|call| Some(&call.id) == found.as_ref()) {
            Some(call) => call.waiting.clone_from(&child.actions),
            None => self.report.applied = false,
        }
        Ok(())
    }

    /// Returns what a turn waits for of its client; nothing, if anything else may move it on.
    fn waited_for(&self, turn: &str) -> Result<Vec<Value>, CallError> {
        let is_paused = self.is_paused();
        let is_held = is_paused || self.live.decisions.is_empty();
        if self.data.claim.engine.is_empty() || self.slot().is_some() || !is_held {
            return Ok(Vec::new());
        }
        let mut actions = Vec::new();
        let mut open: Vec<_> = self.live.interrupts.iter().collect();
        open.sort_by_key(|interrupt| interrupt.order);
        for interrupt in open {
            if !interrupt.pauses {
                continue;
            }
            if rank(&interrupt.origin) > rank(FRONTEND) {
                return Ok(Vec::new());
            }
            let payload: Value = stored::read_text(&interrupt.payload, "a payload")?;
            actions.push(json!({
                "action_id": interrupt.id,
                "kind": "interrupt",
                "reason": interrupt.reason,
                "payload": payload,
            }));
        }
        let mut calls: Vec<_> =
            self.live.calls.iter().filter(|call| call.turn.as_deref() == Some(turn)).collect();
        calls.sort_by_key(|call| call.order);
        for call in calls {
            match self.asked_of_client(call, is_paused)? {
                Some(more) => actions.extend(more),
                None => return Ok(Vec::new()),
            }
        }
        let sends = self.live.sends.iter().any(|send| send.turn.as_deref() == Some(turn));
        Ok(if sends { Vec::new() } else { actions })
    }

    /// Returns what a call asks of the client; none, if it may go on without.
    fn asked_of_client(
        &self,
        call: &CallData,
        is_paused: bool,
    ) -> Result<Option<Vec<Value>>, CallError> {
        match call.status.as_str() {
            // It starts when the pause ends.
            QUEUED | RETRY_SCHEDULED if is_paused => Ok(Some(Vec::new())),
            PENDING if call.handler == CLIENT => {
                let StoredCall::ToolCall { name, arguments } = stored::call_of(self.cx, call)?
                else {
                    return Ok(None);
                };
                Ok(Some(vec![json!({
                    "action_id": call.id,
                    "kind": "tool_call",
                    "name": name,
                    "arguments": arguments,
                    "attempt": call.attempt,
                })]))
            }
            PENDING if call.kind == SUB_AGENT && call.waiting != NOTHING => {
                stored::read_text(&call.waiting, "what a child waits for").map(Some)
            }
            _ => Ok(None),
        }
    }
}
