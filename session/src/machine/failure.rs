//! Deliveries that fail, and what the failure of a decision means.
//!
//! A decision that fails for good never ends in silence: it marks the session's start as failed,
//! ends the attempt that it was to run, or ends its turn.

use quixos_protocol::ErrorCode;
use quixos_runtime::CallError;

use super::settle::{Ending, Failure, Tell};
use super::{Machine, TurnEnd};
use crate::sessions::{DecisionData, DeliveryFailure};
use crate::status::START_FAILED;
use crate::stored::{LLM_EXECUTE, SESSION_START, TOOL_EXECUTE};

impl Machine<'_, '_> {
    /// Notes that a delivery brought no answer.
    pub(super) fn fail(&mut self, failure: &DeliveryFailure) -> Result<(), CallError> {
        self.require_fence(&failure.fence)?;
        let found = self.pending_decision(&failure.decision);
        let Some(decision) = found.filter(|found| found.attempts == failure.attempts) else {
            self.report.applied = false;
            return Ok(());
        };
        self.report.turn = decision.turn.clone();
        self.delivery_failed(&failure.decision, &failure.error, failure.retryable, None)
    }

    /// Ends a delivery without an answer: with another one if there is one left.
    pub(super) fn delivery_failed(
        &mut self,
        id: &str,
        error: &str,
        retryable: bool,
        code: Option<ErrorCode>,
    ) -> Result<(), CallError> {
        match self.decision_failed(id, error, retryable)? {
            Some(decision) => self.failed_for_good(&decision, error, retryable, code),
            None => Ok(()),
        }
    }

    fn failed_for_good(
        &mut self,
        decision: &DecisionData,
        error: &str,
        retryable: bool,
        code: Option<ErrorCode>,
    ) -> Result<(), CallError> {
        match (decision.kind.as_str(), &decision.call) {
            (SESSION_START, _) => {
                START_FAILED.clone_into(&mut self.data.start);
                Ok(())
            }
            (TOOL_EXECUTE | LLM_EXECUTE, Some(call)) => {
                let failure = Failure { retryable, ..Failure::fatal(error, code) };
                let ending = Ending::Failure(failure);
                // Whatever ended the attempt before has told so itself.
                self.settle(call, Some(decision.attempt), ending, Tell::Worker).map(drop)
            }
            _ if self.active_turn(decision.turn.as_deref()).is_some() => {
                self.complete_turn(TurnEnd::Failed(error.to_owned()))
            }
            _ => Ok(()),
        }
    }
}
