//! Calls under way: how one comes to be, starts, and is called off.
//!
//! How one ends is in `settle.rs`. A call keeps the handler and the policy that it was requested
//! with, whatever the config says later.

use quixos_runtime::CallError;

use super::{Machine, waiting};
use crate::past::Past;
use crate::sessions::session_apply::CreateCall;
use crate::sessions::{CallData, RetryPolicy};
use crate::status::{CLIENT, PENDING, QUEUED, SUB_AGENT, VOIDED};
use crate::stored::{self, StoredCall};

/// Why calls are called off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Void {
    /// The conversation went on from above the message at which they were requested.
    Fork,
    /// An interrupt paused their branch.
    Interrupt,
    /// Their turn, or the session, was cancelled.
    Cancelled,
    /// Their turn has failed.
    TurnFailed,
    /// The same model call was requested again.
    Reissued,
}

impl Void {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Interrupt => "interrupt",
            Self::Cancelled => "cancelled",
            Self::TurnFailed => "turn_failed",
            Self::Reissued => "reissued",
        }
    }

    /// Says whether a decision about such a call may still be answered.
    fn spares_the_live_decision(self) -> bool {
        matches!(self, Self::Fork | Self::Interrupt | Self::Reissued)
    }
}

/// Why decisions are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dropped {
    /// Their branch was left.
    Fork,
    /// The attempt that they run took too long.
    Timeout,
    /// The call that they are about was voided.
    Voided,
    /// Their turn, or the session, was cancelled.
    Cancelled,
    /// Their turn has failed.
    TurnFailed,
}

impl Dropped {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Timeout => "timeout",
            Self::Voided => "voided",
            Self::Cancelled => "cancelled",
            Self::TurnFailed => "turn_failed",
        }
    }
}

/// A call that is to be requested.
pub(super) struct NewCall {
    pub(super) id: String,
    pub(super) kind: &'static str,
    pub(super) handler: &'static str,
    pub(super) attempt: u32,
    pub(super) policy: Option<RetryPolicy>,
    pub(super) turn: Option<String>,
    pub(super) request: StoredCall,
}

impl Machine<'_, '_> {
    /// Returns the call of an id, if it is under way.
    pub(crate) fn call(&self, id: &str) -> Option<&CallData> {
        self.live.calls.iter().find(|call| call.id == id)
    }

    /// Says whether there is or was a call of an id.
    pub(super) fn is_call(&self, id: &str) -> Result<bool, CallError> {
        Ok(self.call(id).is_some() || self.cx.ended_call(id)?.is_some())
    }

    /// Records a call. It starts when its turn comes.
    pub(super) fn request_call(&mut self, new: NewCall) -> Result<(), CallError> {
        let mut call = CallData {
            id: new.id,
            kind: new.kind.to_owned(),
            status: QUEUED.to_owned(),
            handler: new.handler.to_owned(),
            attempt: new.attempt,
            failures: 0,
            policy: new.policy,
            anchor: self.data.head.clone(),
            turn: new.turn,
            deadline: None,
            retry_at: None,
            requested: 0,
            ended: None,
            started: false,
            waiting: waiting::NOTHING.to_owned(),
            question: String::new(),
            order: self.order(),
            blocks: 0,
            open: Vec::new(),
            named: Vec::new(),
        };
        call.requested = self.log_call_requested(&call, &new.request)?;
        self.live.calls.push(call);
        Ok(())
    }

    /// Hands a call to whoever runs it. Its time counts from here.
    pub(super) fn start_call(&mut self, id: &str) -> Result<(), CallError> {
        let now = self.now;
        let mut calls = self.live.calls.iter_mut();
        let Some(call) = calls.find(|call| call.id == id) else { return Ok(()) };
        PENDING.clone_into(&mut call.status);
        let timeout = call.policy.as_ref().and_then(|policy| policy.timeout_secs);
        call.deadline =
            timeout.map(|seconds| crate::instant::text(crate::instant::after(now, seconds)));
        let call = call.clone();
        self.log_call_dispatched(&call)?;
        self.mirror_call(&call, None)?;
        if call.handler == CLIENT { self.ask_call(id) } else { Ok(()) }
    }

    /// Lets a call wait for its turn again, behind what waits already.
    pub(super) fn requeue_call(&mut self, id: &str) {
        let order = self.order();
        if let Some(call) = self.live.calls.iter_mut().find(|call| call.id == id) {
            QUEUED.clone_into(&mut call.status);
            call.retry_at = None;
            call.order = order;
        }
    }

    /// Calls off calls: nothing is told of them, and no try of them follows.
    pub(crate) fn void_calls(
        &mut self,
        why: Void,
        unwanted: impl Fn(&CallData) -> bool,
    ) -> Result<(), CallError> {
        let calls = std::mem::take(&mut self.live.calls);
        let (voided, kept): (Vec<_>, Vec<_>) = calls.into_iter().partition(unwanted);
        self.live.calls = kept;
        for call in &voided {
            self.stop_blocks(call)?;
            self.log_call_voided(call, why)?;
            self.archive_call(call, VOIDED)?;
            self.call_is_over(call)?;
        }
        let is_about =
            |call: Option<&str>| voided.iter().any(|voided| Some(voided.id.as_str()) == call);
        self.drop_decisions(Dropped::Voided, |decision| {
            let spared = decision.status == PENDING && why.spares_the_live_decision();
            is_about(decision.call.as_deref()) && !spared
        })
    }

    /// Takes a call out of what is under way.
    pub(super) fn remove_call(&mut self, id: &str) -> Option<CallData> {
        let position = self.live.calls.iter().position(|call| call.id == id)?;
        Some(self.live.calls.remove(position))
    }

    /// Keeps a call that has ended.
    pub(super) fn archive_call(&self, call: &CallData, status: &str) -> Result<(), CallError> {
        let data = CallData {
            status: status.to_owned(),
            retry_at: None,
            open: Vec::new(),
            named: Vec::new(),
            ..call.clone()
        };
        let session = self.cx.receiver();
        self.cx.create_call(&CreateCall { data, session }).map(drop)
    }

    /// Ends what hung on a call that has ended without an answer.
    pub(super) fn call_is_over(&mut self, call: &CallData) -> Result<(), CallError> {
        if !call.question.is_empty() {
            self.close_question(&call.question, None)?;
        }
        if call.kind != SUB_AGENT {
            return Ok(());
        }
        if let StoredCall::SubAgent { session_id, .. } = stored::call_of(self.cx, call)? {
            self.forget_sends(&session_id, "the delegation is over")?;
            self.cancel_child(&session_id)?;
        }
        Ok(())
    }
}
