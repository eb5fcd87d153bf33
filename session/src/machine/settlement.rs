//! Calls that are settled from outside an answer: by the engine that ran a model, by a program of
//! the operator, by the client whose tool it is.
//!
//! What is asked is checked in this order: whose session, whose call, whether there is one, whether
//! it is pending, which attempt. Another order would tell a stranger what is going on.

use quixos_runtime::CallError;
use serde_json::Value;

use super::Machine;
use super::delegation::failure;
use super::settle::{Ending, Failure, Inapplicable, Tell};
use crate::past::Past;
use crate::refusal::Refusal;
use crate::reply;
use crate::sessions::{Authority, CallData, Settle};
use crate::status::{CLIENT, FRONTEND, LLM_CALL, SERVER, SUB_AGENT};

/// What somebody outside settles a call with.
pub(crate) enum Given {
    /// A tool's result, or a model's response.
    Result(Value),
    /// That it failed.
    Failure(Failure),
}

impl Machine<'_, '_> {
    /// Settles a call for whoever asks.
    pub(super) fn settle_call(&mut self, settle: &Settle) -> Result<(), CallError> {
        let given = match (&settle.result, &settle.error) {
            (Some(result), None) => {
                Given::Result(serde_json::from_str(result).map_err(|error| {
                    CallError::invalid("result", format!("is not JSON: {error}"))
                })?)
            }
            (None, Some(error)) => Given::Failure(failure("error", error)?),
            (Some(_), Some(_)) | (None, None) => {
                return Err(CallError::invalid("$", "must have either a `result` or an `error`"));
            }
        };
        match &settle.fence {
            Some(fence) => {
                self.require_fence(fence)?;
                self.settle_own(&settle.call, settle.attempt, given)
            }
            None => {
                self.settle_outside(&settle.by, &settle.call, settle.attempt, given, Tell::Worker)
            }
        }
    }

    /// Settles a model call that the engine has run. What comes too late is dropped in silence.
    fn settle_own(
        &mut self,
        id: &str,
        attempt: Option<u32>,
        given: Given,
    ) -> Result<(), CallError> {
        let call = self.settleable(id, attempt)?.ok();
        let call = call.filter(|call| call.kind == LLM_CALL && call.handler == SERVER);
        let Some(call) = call else {
            self.report.applied = false;
            return Ok(());
        };
        self.report.turn.clone_from(&call.turn);
        let ending = match given {
            Given::Failure(failure) => Ending::Failure(failure),
            Given::Result(response) => {
                let read = reply::neutral(&response);
                Ending::Reply(Box::new(read.map_err(|fault| CallError::invalid("result", fault))?))
            }
        };
        self.settle(id, attempt, ending, Tell::Worker).map(drop)
    }

    /// Settles a call for somebody who is not the engine.
    pub(crate) fn settle_outside(
        &mut self,
        by: &Authority,
        id: &str,
        attempt: Option<u32>,
        given: Given,
        tell: Tell,
    ) -> Result<(), CallError> {
        self.require_owner(by)?;
        let known = match self.call(id) {
            Some(call) => Some(call.clone()),
            None => self.cx.ended_call(id)?,
        };
        let call = known.ok_or(Refusal::UnknownCall)?;
        if !may_settle(by, &call) {
            return Err(Refusal::WrongHandler.into());
        }
        if let Err(why) = self.settleable(id, attempt)? {
            return Err(Refusal::from(why).into());
        }
        self.report.turn.clone_from(&call.turn);
        let ending = match given {
            Given::Failure(failure) => Ending::Failure(failure),
            Given::Result(value) if call.kind == LLM_CALL => self
                .read_reply(&call, &value)?
                .map_err(|fault| CallError::invalid("result", fault))?,
            Given::Result(value) => Ending::Result(value),
        };
        match self.settle(id, attempt, ending, tell)? {
            Ok(()) => Ok(()),
            Err(why) => Err(Refusal::from(why).into()),
        }
    }
}

/// Says whether a call is settled by somebody of this class.
fn may_settle(by: &Authority, call: &CallData) -> bool {
    let is_own = call.handler == SERVER || call.kind == SUB_AGENT;
    !is_own && (by.class != FRONTEND || call.handler == CLIENT)
}

impl From<Inapplicable> for Refusal {
    fn from(why: Inapplicable) -> Self {
        match why {
            Inapplicable::Unknown => Self::UnknownCall,
            Inapplicable::NotPending => Self::NotPending,
            Inapplicable::OtherAttempt => Self::AttemptMismatch,
            Inapplicable::WrongHandler => Self::WrongHandler,
        }
    }
}
