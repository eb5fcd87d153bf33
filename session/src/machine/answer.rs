//! The answer to a decision: taken as a whole, or not at all.
//!
//! In this order: the decision is over; messages are recorded; what that strands is called off;
//! state and config change; the actions apply, each after the ones before it. What the answer says
//! is understood first (`prepare.rs`), so that one which cannot be leaves nothing but its failure.

use quixos_runtime::CallError;

use super::prepare::Prepared;
use super::{Machine, TurnEnd};
use crate::past::Past;
use crate::sessions::{Answer, DecisionData};
use crate::status::START_DONE;
use crate::stored::{CLIENT_MESSAGES, SESSION_START};
use crate::versions::{AGENT, STATE};

/// Why a turn ends whose worker was given nothing to go by, and gave nothing.
const NO_CONFIG: &str = "session has no agent config";

impl Machine<'_, '_> {
    /// Applies what the worker says. Only the first answer to a delivered decision counts.
    pub(super) fn answer(&mut self, answer: &Answer) -> Result<(), CallError> {
        if let Some(fence) = &answer.fence {
            self.require_fence(fence)?;
        }
        let Some(decision) = self.pending_decision(&answer.decision).cloned() else {
            return self.answered_late(&answer.decision);
        };
        self.report.turn.clone_from(&decision.turn);
        match self.prepare(&decision, &answer.answer)? {
            Ok(prepared) => self.apply(&decision, prepared),
            Err(rejection) => self.delivery_failed(&decision.id, &rejection, false, None),
        }
    }

    fn answered_late(&mut self, id: &str) -> Result<(), CallError> {
        let is_live = self.live.decisions.iter().any(|decision| decision.id == id);
        if !is_live && self.cx.ended_decision(id)?.is_none() {
            return Err(CallError::NotFound { what: format!("decision `{id}`") });
        }
        self.report.applied = false;
        Ok(())
    }

    fn apply(&mut self, decision: &DecisionData, prepared: Prepared) -> Result<(), CallError> {
        let Prepared { plan, state, agent, steps, is_empty } = prepared;
        let turn = decision.turn.as_deref();
        self.complete_decision(&decision.id)?;
        if decision.kind == SESSION_START {
            START_DONE.clone_into(&mut self.data.start);
        }
        let listed = plan.map(|plan| self.record(plan, turn)).transpose()?;
        if let Some(state) = state {
            self.set_version(STATE, &state, turn)?;
        }
        if let Some(agent) = agent {
            self.set_version(AGENT, &agent, turn)?;
        }
        for step in steps {
            self.act(decision, step, listed.as_deref())?;
        }
        let is_lost = is_empty && decision.kind == CLIENT_MESSAGES && self.data.agent.is_none();
        if is_lost && self.active_turn(turn).is_some() && self.is_quiescent()? {
            self.complete_turn(TurnEnd::Failed(NO_CONFIG.to_owned()))?;
        }
        Ok(())
    }
}
