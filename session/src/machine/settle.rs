//! How a call ends: with an answer, with a failure, or with another try.
//!
//! Who settles does not matter here, with one exception that callers see to: a model call that the
//! engine runs is settled by the engine. Each settlement is bound to an attempt, so that what comes
//! late from an earlier one changes nothing.

use quixos_protocol::{DraftMessage, ErrorCode, LlmResponse, ToolCall, text_of};
use quixos_runtime::CallError;
use serde_json::Value;

use super::Machine;
use super::calls::Dropped;
use super::mint::Minted;
use crate::past::Past;
use crate::reply::{self, Reply};
use crate::sessions::CallData;
use crate::status::{COMPLETED, FAILED, LLM_CALL, PENDING, RETRY_SCHEDULED, SUB_AGENT, TOOL_CALL};
use crate::stored::{self, LLM_EXECUTE, StoredCall, StoredOutcome, StoredTrigger, TOOL_EXECUTE};
use crate::{instant, retry, tools};

/// What a call is settled with.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Ending {
    /// A tool's result.
    Result(Value),
    /// A model's reply.
    Reply(Box<LlmResponse>),
    /// A failure of either.
    Failure(Failure),
}

/// Why an attempt failed.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Failure {
    pub(crate) error: String,
    /// Whether another try may help.
    pub(crate) retryable: bool,
    pub(crate) code: Option<ErrorCode>,
    pub(crate) detail: Option<Value>,
    /// Seconds that the other side asked to wait.
    pub(crate) retry_after: Option<u64>,
}

impl Failure {
    /// Returns a failure that no other try mends.
    pub(crate) fn fatal(error: impl Into<String>, code: Option<ErrorCode>) -> Self {
        Self { error: error.into(), retryable: false, code, detail: None, retry_after: None }
    }

    /// Returns the failure of an attempt that took too long.
    pub(crate) fn deadline_exceeded() -> Self {
        let code = Some(ErrorCode::DeadlineExceeded);
        Self { retryable: true, ..Self::fatal(DEADLINE_EXCEEDED, code) }
    }

    pub(super) fn outcome(&self) -> StoredOutcome {
        StoredOutcome::Error {
            error: self.error.clone(),
            retryable: self.retryable,
            code: self.code,
            detail: self.detail.clone(),
        }
    }
}

/// What is said of an attempt that took too long.
pub(super) const DEADLINE_EXCEEDED: &str = "deadline exceeded";

/// Who is told that a call has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tell {
    /// The worker, by a decision.
    Worker,
    /// Nobody: what follows from it is told in another way.
    Nobody,
}

/// Why a settlement does not apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inapplicable {
    /// There is no such call.
    Unknown,
    /// The call waits, or is over.
    NotPending,
    /// The call is at another attempt.
    OtherAttempt,
    /// The call is of another kind, or is somebody else's to settle.
    WrongHandler,
}

impl Inapplicable {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown call",
            Self::NotPending => "the call is not pending",
            Self::OtherAttempt => "the call is at another attempt",
            Self::WrongHandler => "the call is not settled in this way",
        }
    }
}

impl Machine<'_, '_> {
    /// Settles a call that is pending.
    pub(crate) fn settle(
        &mut self,
        id: &str,
        attempt: Option<u32>,
        ending: Ending,
        tell: Tell,
    ) -> Result<Result<(), Inapplicable>, CallError> {
        let call = match self.settleable(id, attempt)? {
            Ok(call) => call,
            Err(why) => return Ok(Err(why)),
        };
        match (ending, call.kind.as_str()) {
            (Ending::Failure(failure), TOOL_CALL | LLM_CALL) => {
                self.call_failed(id, &failure, tell)?;
            }
            (Ending::Result(value), TOOL_CALL) => self.tool_answered(&call, &value, tell)?,
            (Ending::Reply(reply), LLM_CALL) => self.model_replied(&call, *reply, tell)?,
            (Ending::Failure(_) | Ending::Result(_) | Ending::Reply(_), _) => {
                return Ok(Err(Inapplicable::WrongHandler));
            }
        }
        Ok(Ok(()))
    }

    /// Returns a call if it waits for this settlement.
    pub(super) fn settleable(
        &self,
        id: &str,
        attempt: Option<u32>,
    ) -> Result<Result<CallData, Inapplicable>, CallError> {
        let Some(call) = self.call(id) else {
            let ended = self.cx.ended_call(id)?.is_some();
            return Ok(Err(if ended { Inapplicable::NotPending } else { Inapplicable::Unknown }));
        };
        Ok(if call.status != PENDING {
            Err(Inapplicable::NotPending)
        } else if attempt.is_some_and(|attempt| attempt != call.attempt) {
            Err(Inapplicable::OtherAttempt)
        } else {
            Ok(call.clone())
        })
    }

    /// Reads what a model call is settled with: the neutral reply, or a provider's own where the
    /// call has a format. The text says what is wrong with a reply that nobody can read.
    pub(super) fn read_reply(
        &self,
        call: &CallData,
        response: &Value,
    ) -> Result<Result<Ending, String>, CallError> {
        let StoredCall::LlmCall { format, .. } = stored::call_of(self.cx, call)? else {
            return Ok(Err("a reply settles no other call than a model's".to_owned()));
        };
        Ok(match format.map(|format| reply::native(format, response)) {
            None => reply::neutral(response).map(|reply| Ending::Reply(Box::new(reply))),
            Some(Ok(reply)) => Ok(Ending::Reply(Box::new(reply))),
            Some(Err((error, code))) => Ok(Ending::Failure(Failure::fatal(error, Some(code)))),
        })
    }

    fn tool_answered(
        &mut self,
        call: &CallData,
        value: &Value,
        tell: Tell,
    ) -> Result<(), CallError> {
        let StoredCall::ToolCall { name, .. } = stored::call_of(self.cx, call)? else {
            return Ok(());
        };
        let head = self.data.head.as_deref();
        let outcome = match tools::check_output(self.cx, head, &call.id, &name, value)? {
            None => StoredOutcome::Result { result: text_of(value) },
            Some(violation) => Failure::fatal(violation, None).outcome(),
        };
        self.end_call(&call.id, &outcome, tell)
    }

    fn model_replied(
        &mut self,
        call: &CallData,
        reply: LlmResponse,
        tell: Tell,
    ) -> Result<(), CallError> {
        let (counts, cost) = (reply.usage.clone(), reply.cost.clone());
        self.add_usage(call.turn.as_deref(), counts.as_ref(), cost.as_deref())?;
        match reply::recorded(&call.id, reply) {
            Err(refusal) => {
                let failure = Failure::fatal(refusal, Some(ErrorCode::Refused));
                self.call_failed(&call.id, &failure, tell)
            }
            Ok(Reply { mut message, truncated }) => {
                self.scope_tool_calls(call, &mut message)?;
                let usage = counts;
                let outcome = StoredOutcome::Reply { message, truncated, usage, cost };
                self.end_call(&call.id, &outcome, tell)
            }
        }
    }

    /// Gives the tool calls of a reply the ids under which they began, if they were streamed, and
    /// fresh ones to those whose own were there before: providers repeat ids between replies.
    fn scope_tool_calls(
        &mut self,
        reply: &CallData,
        message: &mut DraftMessage,
    ) -> Result<(), CallError> {
        let mut seen: Vec<String> = Vec::new();
        for ToolCall { id, .. } in &mut message.tool_calls {
            let mut named = reply.named.iter();
            let begun = named.find(|named| named.given == *id && !seen.contains(&named.id));
            let wanted = begun.map_or_else(|| id.clone(), |named| named.id.clone());
            let is_taken = wanted.is_empty()
                || seen.contains(&wanted)
                || (begun.is_none() && reply.named.iter().any(|named| named.id == wanted))
                || self.is_taken(reply, &wanted)?;
            *id = if is_taken { self.mint(Minted::Call) } else { wanted };
            seen.push(id.clone());
        }
        Ok(())
    }

    /// Ends an attempt: with another try if the policy has one left, else for good.
    pub(super) fn call_failed(
        &mut self,
        id: &str,
        failure: &Failure,
        tell: Tell,
    ) -> Result<(), CallError> {
        let Some(call) = self.live.calls.iter_mut().find(|call| call.id == id) else {
            return Ok(());
        };
        call.failures += 1;
        let policy = call.policy.as_ref().filter(|_| failure.retryable);
        let Some(policy) = policy.filter(|policy| retry::allows(policy, call.failures)) else {
            return self.end_call(id, &failure.outcome(), tell);
        };
        let delay = retry::delay(policy, call.failures).max(failure.retry_after.unwrap_or(0));
        let retry_at = instant::text(instant::after(self.now, delay));
        self.try_again(id, failure, Some(retry_at))
    }

    /// Lets a call wait for its next attempt: until an instant, or only for its turn.
    pub(super) fn try_again(
        &mut self,
        id: &str,
        failure: &Failure,
        retry_at: Option<String>,
    ) -> Result<(), CallError> {
        let Some(call) = self.live.calls.iter_mut().find(|call| call.id == id) else {
            return Ok(());
        };
        let failed = call.clone();
        RETRY_SCHEDULED.clone_into(&mut call.status);
        call.attempt += 1;
        call.deadline = None;
        call.started = false;
        call.question = String::new();
        call.retry_at.clone_from(&retry_at);
        (call.blocks, call.open, call.named) = (0, Vec::new(), Vec::new());
        let waits = call.clone();
        let at = retry_at.clone().unwrap_or_else(|| self.now_text());
        self.stop_blocks(&failed)?;
        self.log_call_failed(&failed, failure, &at)?;
        if retry_at.is_none() {
            self.requeue_call(id);
        }
        if !failed.question.is_empty() {
            self.close_question(&failed.question, None)?;
        }
        self.mirror_call(&waits, None)
    }

    /// Ends a call for good.
    pub(super) fn end_call(
        &mut self,
        id: &str,
        outcome: &StoredOutcome,
        tell: Tell,
    ) -> Result<(), CallError> {
        let Some(mut call) = self.remove_call(id) else { return Ok(()) };
        self.stop_blocks(&call)?;
        call.ended = Some(self.log_call_ended(&call, outcome)?);
        let status =
            if matches!(outcome, StoredOutcome::Error { .. }) { FAILED } else { COMPLETED };
        self.archive_call(&call, status)?;
        self.mirror_call(&call, Some(outcome))?;
        match outcome {
            StoredOutcome::Result { result } if !call.question.is_empty() => {
                let answer = stored::json_text(result)?;
                self.close_question(&call.question, Some(&answer))?;
            }
            StoredOutcome::Error { .. } => self.call_is_over(&call)?,
            StoredOutcome::Result { .. } | StoredOutcome::Reply { .. } => {}
        }
        if tell == Tell::Nobody {
            return Ok(());
        }
        let id = id.to_owned();
        let trigger = match call.kind.as_str() {
            TOOL_CALL => StoredTrigger::ToolFinished { id },
            LLM_CALL => StoredTrigger::LlmFinished { id },
            _ => StoredTrigger::SubAgentFinished { id },
        };
        let turn = self.active_turn(call.turn.as_deref());
        self.raise(&trigger, Some((&call.id, call.attempt)), turn).map(drop)
    }

    /// Ends an attempt that took too long, and the decision that asked the worker to run it.
    pub(super) fn call_timed_out(&mut self, id: &str) -> Result<(), CallError> {
        let Some(call) = self.call(id).cloned() else { return Ok(()) };
        self.drop_decisions(Dropped::Timeout, |decision| {
            let runs = matches!(decision.kind.as_str(), TOOL_EXECUTE | LLM_EXECUTE);
            runs && decision.call.as_deref() == Some(id) && decision.attempt == call.attempt
        })?;
        let failure = Failure::deadline_exceeded();
        if call.kind == SUB_AGENT && call.started {
            // The child is there and has not answered: creating it again would not help.
            return self.end_call(id, &failure.outcome(), Tell::Worker);
        }
        self.call_failed(id, &failure, Tell::Worker)
    }
}
