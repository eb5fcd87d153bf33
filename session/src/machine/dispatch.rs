//! What follows from a step: calls start, the next decision goes live, turns give way to others.
//!
//! Decisions, and calls that the worker runs, stand in one queue in the order in which they were
//! raised. A call of the worker's starts when it comes to the slot, so that its time does not run
//! while it waits for others.

use quixos_protocol::ErrorCode;
use quixos_runtime::CallError;

use super::settle::{Failure, Tell};
use super::{Machine, TurnEnd};
use crate::sessions::{CallData, DecisionData};
use crate::status::{LLM_CALL, QUEUED, SERVER, WORKER};
use crate::stored::{self, CLIENT_MESSAGES, SESSION_START, StoredTrigger};
use crate::{messages, reconcile};

/// What is next in the queue.
enum Next {
    /// A decision.
    Decision(String),
    /// A call that the worker runs.
    Call(String),
}

/// How far ahead of others something stands in the queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The session is begun before all else.
    Start,
    /// A resume goes ahead of what waited for it.
    First,
    Other,
}

impl Machine<'_, '_> {
    /// Does what follows, until nothing does without somebody outside.
    pub(super) fn settle_down(&mut self) -> Result<(), CallError> {
        // As long as no engine drives the session, nobody would run what is begun.
        while !self.data.claim.engine.is_empty() && !self.data.cancelled {
            self.claim_request()?;
            self.start_calls()?;
            self.promote()?;
            if !self.turn_gives_way()? {
                break;
            }
        }
        Ok(())
    }

    /// Starts those calls that do not wait for the slot.
    fn start_calls(&mut self) -> Result<(), CallError> {
        if self.is_paused() {
            return Ok(());
        }
        let waits = |call: &&CallData| call.status == QUEUED && call.handler != WORKER;
        let mut queue: Vec<&CallData> = self.live.calls.iter().filter(waits).collect();
        queue.sort_by_key(|call| call.order);
        let ids: Vec<String> = queue.into_iter().map(|call| call.id.clone()).collect();
        for id in ids {
            let is_servers = |call: &CallData| call.kind == LLM_CALL && call.handler == SERVER;
            if self.call(&id).is_some_and(is_servers) && self.budget_is_spent()? {
                let code = Some(ErrorCode::BudgetExceeded);
                let failure = Failure::fatal("the budget of the session is spent", code);
                self.call_failed(&id, &failure, Tell::Worker)?;
            } else {
                self.start_call(&id)?;
            }
        }
        Ok(())
    }

    fn budget_is_spent(&self) -> Result<bool, CallError> {
        match self.settings()?.max_cost {
            Some(most) => Ok(self.spent()?.reaches(most)),
            None => Ok(false),
        }
    }

    /// Brings the next thing in the queue to the slot, if that is free.
    fn promote(&mut self) -> Result<(), CallError> {
        if self.slot().is_some() {
            return Ok(());
        }
        match self.next_in_queue()? {
            Some(Next::Decision(id)) => self.go_live(&id),
            Some(Next::Call(id)) => self.execute(&id),
            None => Ok(()),
        }
    }

    /// Starts a call that the worker runs, and asks the worker to.
    fn execute(&mut self, id: &str) -> Result<(), CallError> {
        self.start_call(id)?;
        let Some(call) = self.call(id) else { return Ok(()) };
        let (id, attempt) = (call.id.clone(), call.attempt);
        let turn = self.active_turn(call.turn.as_deref());
        let trigger = if call.kind == LLM_CALL {
            StoredTrigger::LlmExecute { id: id.clone(), attempt }
        } else {
            StoredTrigger::ToolExecute { id: id.clone(), attempt }
        };
        let decision = self.raise(&trigger, Some((&id, attempt)), turn)?;
        self.go_live(&decision)
    }

    fn next_in_queue(&self) -> Result<Option<Next>, CallError> {
        let is_paused = self.is_paused();
        let mut queue = Vec::new();
        for decision in self.live.decisions.iter().filter(|decision| decision.status == QUEUED) {
            let rank = match decision.kind.as_str() {
                SESSION_START => Rank::Start,
                _ if decision.first => Rank::First,
                _ => Rank::Other,
            };
            if !is_paused || rank == Rank::Start || self.leaves_the_pause(decision)? {
                queue.push((rank, decision.order, Next::Decision(decision.id.clone())));
            }
        }
        let calls = self.live.calls.iter().filter(|_| !is_paused);
        let calls = calls.filter(|call| call.status == QUEUED && call.handler == WORKER);
        queue.extend(calls.map(|call| (Rank::Other, call.order, Next::Call(call.id.clone()))));
        let first = queue.into_iter().min_by_key(|(rank, order, _)| (*rank, *order));
        Ok(first.map(|(_, _, next)| next))
    }

    /// Says whether a decision is about a view that leaves the paused branch above what pauses it.
    fn leaves_the_pause(&self, decision: &DecisionData) -> Result<bool, CallError> {
        if decision.kind != CLIENT_MESSAGES {
            return Ok(false);
        }
        let StoredTrigger::ClientMessages { messages, .. } = stored::trigger_of(self.cx, decision)?
        else {
            return Ok(false);
        };
        let view = messages::decode(self.cx, &messages)?;
        let view = reconcile::fold(self.cx, self.data.head.as_deref(), view)?;
        let plan = reconcile::plan(self.cx, view)?;
        Ok(!self.is_paused_at(plan.base.as_deref())?)
    }

    /// Says whether the turn is active and nothing goes on in it.
    pub(crate) fn is_quiescent(&self) -> Result<bool, CallError> {
        Ok(self.data.turn.is_some()
            && self.live.decisions.is_empty()
            && self.live.calls.is_empty()
            && !self.is_paused())
    }

    /// Completes a turn in which nothing goes on, if somebody waits for its end, and begins the
    /// next one. Says whether anything changed.
    fn turn_gives_way(&mut self) -> Result<bool, CallError> {
        if self.is_quiescent()? && self.somebody_waits()? {
            self.complete_turn(TurnEnd::Quiescent)?;
            self.next_turn()?;
            return Ok(true);
        }
        Ok(self.data.turn.is_none() && self.next_turn()?)
    }

    /// Says whether the end of the turn is waited for: by a parent, by a client that follows
    /// it, or by a request behind it.
    fn somebody_waits(&self) -> Result<bool, CallError> {
        let is_followed = self.data.turn.as_ref().is_some_and(|turn| turn.followed);
        Ok(is_followed
            || !self.binding.delegation.is_empty()
            || !self.cx.waiting().page(None, 1)?.is_empty())
    }
}
