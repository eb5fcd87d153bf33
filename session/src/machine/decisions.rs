//! Decisions: questions to the worker, of which one at a time is live.
//!
//! The one slot is what keeps the tree straight: two live decisions would both extend the same
//! head. A decision that waits for its next delivery holds the slot too, since what it was built
//! from must not change: a redelivery says the same again. Everything else waits in the order of
//! the events that raised it; `dispatch.rs` promotes.

use quixos_protocol::{Call, CallKind, CallStatus, Handler};
use quixos_runtime::CallError;

use super::calls::Dropped;
use super::{Machine, Minted};
use crate::retry;
use crate::sessions::session_apply::CreateDecision;
use crate::sessions::{CallData, DecisionData, Delivery, Frozen};
use crate::status::{
    COMPLETED, DROPPED, FAILED, LLM_CALL, PENDING, QUEUED, RETRY_SCHEDULED, SERVER, START_QUEUED,
    TOOL_CALL, WORKER,
};
use crate::stored::{self, SUB_AGENT_FINISHED, StoredCall, StoredTrigger, TOOL_FINISHED};

impl Machine<'_, '_> {
    /// Queues a decision behind all others, and returns its id.
    pub(crate) fn raise(
        &mut self,
        trigger: &StoredTrigger,
        about: Option<(&str, u32)>,
        turn: Option<String>,
    ) -> Result<String, CallError> {
        self.queue(trigger, about, turn, false)
    }

    /// Queues a decision ahead of all others, and returns its id.
    pub(crate) fn raise_first(
        &mut self,
        trigger: &StoredTrigger,
        about: Option<(&str, u32)>,
        turn: Option<String>,
    ) -> Result<String, CallError> {
        self.queue(trigger, about, turn, true)
    }

    /// Asks the worker to begin the session, before anything else.
    pub(crate) fn raise_start(&mut self) -> Result<(), CallError> {
        START_QUEUED.clone_into(&mut self.data.start);
        let config = self.settings()?.agent;
        self.queue(&StoredTrigger::SessionStart { config }, None, None, true).map(drop)
    }

    fn queue(
        &mut self,
        trigger: &StoredTrigger,
        about: Option<(&str, u32)>,
        turn: Option<String>,
        first: bool,
    ) -> Result<String, CallError> {
        let mut decision = DecisionData {
            id: self.mint(Minted::Decision),
            kind: trigger.kind().to_owned(),
            status: QUEUED.to_owned(),
            call: about.map(|(call, _)| call.to_owned()),
            attempt: about.map_or(0, |(_, attempt)| attempt),
            turn,
            attempts: 0,
            failures: 0,
            deadline: None,
            retry_at: None,
            queued: 0,
            first,
            order: self.order(),
            frozen: None,
        };
        decision.queued = self.log_decision_queued(&decision, trigger)?;
        let id = decision.id.clone();
        self.live.decisions.push(decision);
        Ok(id)
    }

    /// Returns the decision that holds the slot.
    pub(crate) fn slot(&self) -> Option<&DecisionData> {
        self.live.decisions.iter().find(|decision| decision.status != QUEUED)
    }

    /// Returns the decision of an id, if it is handed to the worker now.
    pub(super) fn pending_decision(&self, id: &str) -> Option<&DecisionData> {
        let mut decisions = self.live.decisions.iter();
        decisions.find(|decision| decision.id == id && decision.status == PENDING)
    }

    /// Makes a queued decision live: what it is built from is fixed from here on.
    pub(super) fn go_live(&mut self, id: &str) -> Result<(), CallError> {
        let frozen = Some(self.freeze(id)?);
        self.deliver(id, |decision| decision.frozen = frozen)
    }

    /// Hands a decision to the worker, for the first time or again.
    pub(super) fn deliver(
        &mut self,
        id: &str,
        change: impl FnOnce(&mut DecisionData),
    ) -> Result<(), CallError> {
        let timeout = self.settings()?.decision_retry.timeout_secs;
        let deadline = timeout.map(|seconds| self.after(seconds));
        let mut decisions = self.live.decisions.iter_mut();
        let Some(decision) = decisions.find(|decision| decision.id == id) else { return Ok(()) };
        change(decision);
        PENDING.clone_into(&mut decision.status);
        decision.attempts += 1;
        decision.deadline = deadline;
        decision.retry_at = None;
        let decision = decision.clone();
        self.log_decision_dispatched(&decision).map(drop)
    }

    /// Delivers again what was lost on its way, without a failure to count.
    pub(super) fn redeliver(&mut self, delivery: &Delivery) -> Result<(), CallError> {
        if self.is_delivery(delivery)? { self.deliver(&delivery.decision, |_| ()) } else { Ok(()) }
    }

    /// Gives a delivery more time, since its answer has begun to come in.
    pub(super) fn extend(&mut self, delivery: &Delivery) -> Result<(), CallError> {
        if !self.is_delivery(delivery)? {
            return Ok(());
        }
        let timeout = self.settings()?.decision_retry.timeout_secs;
        let deadline = timeout.map(|seconds| self.after(seconds));
        for decision in &mut self.live.decisions {
            if decision.id == delivery.decision {
                decision.deadline.clone_from(&deadline);
            }
        }
        Ok(())
    }

    /// Says whether a delivery is the one that the worker has; reports it if not.
    fn is_delivery(&mut self, delivery: &Delivery) -> Result<bool, CallError> {
        self.require_fence(&delivery.fence)?;
        let found = self.pending_decision(&delivery.decision);
        self.report.applied = found.is_some_and(|found| found.attempts == delivery.attempts);
        Ok(self.report.applied)
    }

    /// Takes a decision that was answered out of the slot, and returns it.
    pub(super) fn complete_decision(
        &mut self,
        id: &str,
    ) -> Result<Option<DecisionData>, CallError> {
        let Some(decision) = self.remove_decision(id) else { return Ok(None) };
        self.log_decision_completed(&decision)?;
        self.archive_decision(&decision, COMPLETED)?;
        Ok(Some(decision))
    }

    /// Notes that a delivery failed. Returns the decision if it is not tried again.
    pub(super) fn decision_failed(
        &mut self,
        id: &str,
        error: &str,
        retryable: bool,
    ) -> Result<Option<DecisionData>, CallError> {
        let policy = retry::stored(&self.settings()?.decision_retry);
        let now = self.now;
        let mut decisions = self.live.decisions.iter_mut();
        let Some(decision) = decisions.find(|decision| decision.id == id) else {
            return Ok(None);
        };
        decision.failures += 1;
        decision.deadline = None;
        if retryable && retry::allows(&policy, decision.failures) {
            let delay = retry::delay(&policy, decision.failures);
            let retry_at = crate::instant::after(now, delay);
            RETRY_SCHEDULED.clone_into(&mut decision.status);
            decision.retry_at = Some(crate::instant::text(retry_at));
            let decision = decision.clone();
            self.log_decision_errored(&decision, error, retryable)?;
            return Ok(None);
        }
        let failed = self.remove_decision(id);
        if let Some(decision) = &failed {
            self.log_decision_errored(decision, error, retryable)?;
            self.archive_decision(decision, FAILED)?;
        }
        Ok(failed)
    }

    /// Drops decisions that nobody asks for any longer.
    pub(crate) fn drop_decisions(
        &mut self,
        why: Dropped,
        unwanted: impl Fn(&DecisionData) -> bool,
    ) -> Result<(), CallError> {
        let (dropped, kept) =
            std::mem::take(&mut self.live.decisions).into_iter().partition(unwanted);
        self.live.decisions = kept;
        let dropped: Vec<DecisionData> = dropped;
        for decision in &dropped {
            self.log_decision_dropped(decision, why)?;
            self.archive_decision(decision, DROPPED)?;
        }
        Ok(())
    }

    fn remove_decision(&mut self, id: &str) -> Option<DecisionData> {
        let position = self.live.decisions.iter().position(|decision| decision.id == id)?;
        Some(self.live.decisions.remove(position))
    }

    fn archive_decision(&self, decision: &DecisionData, status: &str) -> Result<(), CallError> {
        let data = DecisionData {
            status: status.to_owned(),
            deadline: None,
            retry_at: None,
            frozen: None,
            ..decision.clone()
        };
        let session = self.cx.receiver();
        self.cx.create_decision(&CreateDecision { data, session }).map(drop)
    }

    /// Returns what the session is, as far as it may change while a decision is live.
    fn freeze(&self, id: &str) -> Result<Frozen, CallError> {
        let mut calls = self
            .live
            .calls
            .iter()
            .map(|call| self.call_in_flight(call))
            .collect::<Result<Vec<_>, _>>()?;
        calls.sort_by(|one, other| one.id.cmp(&other.id));
        let untold = |decision: &&DecisionData| {
            let kind = decision.kind.as_str();
            decision.id != id && matches!(kind, TOOL_FINISHED | SUB_AGENT_FINISHED)
        };
        let untold = self.live.decisions.iter().filter(untold).count();
        let running = self.live.calls.iter().filter(|call| call.kind != LLM_CALL).count();
        // What is still to be told goes on with the conversation: a prompt made now would lack it.
        let busy =
            !self.live.calls.is_empty() || self.live.decisions.iter().any(|other| other.id != id);
        Ok(Frozen {
            head: self.data.head.clone(),
            nodes: self.data.nodes,
            state: self.data.state,
            agent: self.data.agent,
            calls: stored::json_text(&calls)?,
            pending_calls: u32::try_from(running + untold).unwrap_or(u32::MAX),
            busy,
            model_retry: retry::stored(&self.settings()?.model_retry),
            stream: self.stream_for(id),
        })
    }

    /// Returns whether models are to stream in the turn that a decision belongs to, if its client
    /// said so.
    fn stream_for(&self, id: &str) -> Option<bool> {
        let decision = self.live.decisions.iter().find(|decision| decision.id == id)?;
        let turn = self.data.turn.as_ref()?;
        turn.stream.filter(|_| decision.turn.as_ref() == Some(&turn.id))
    }

    /// Returns a call as a worker sees it.
    fn call_in_flight(&self, call: &CallData) -> Result<Call, CallError> {
        let mut seen = Call {
            id: call.id.clone(),
            kind: match call.kind.as_str() {
                TOOL_CALL => CallKind::ToolCall,
                LLM_CALL => CallKind::LlmCall,
                _ => CallKind::SubAgent,
            },
            status: match call.status.as_str() {
                QUEUED => CallStatus::Queued,
                RETRY_SCHEDULED => CallStatus::RetryScheduled,
                _ => CallStatus::Pending,
            },
            attempt: call.attempt,
            deadline: call.deadline.clone(),
            anchor: call.anchor.clone(),
            name: None,
            arguments: None,
            handler: None,
            stream: None,
            agent_id: None,
            session_id: None,
        };
        let handler = match call.handler.as_str() {
            SERVER => Handler::Server,
            WORKER => Handler::Worker,
            _ => Handler::Client,
        };
        match stored::call_of(self.cx, call)? {
            StoredCall::ToolCall { name, arguments } => {
                (seen.name, seen.arguments) = (Some(name), Some(arguments));
                seen.handler = Some(handler);
            }
            StoredCall::LlmCall { stream, .. } => {
                (seen.stream, seen.handler) = (Some(stream), Some(handler));
            }
            StoredCall::SubAgent { session_id, agent_id } => {
                (seen.session_id, seen.agent_id) = (Some(session_id), Some(agent_id));
            }
        }
        Ok(seen)
    }
}
