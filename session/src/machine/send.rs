//! Messages to other sessions, on their way.
//!
//! One that opens a delegation belongs to it: if the other side does not take it, the delegation
//! has failed, and is tried again if its policy says so.

use quixos_runtime::CallError;

use super::Machine;
use super::settle::{Failure, Tell};
use crate::refusal::Refusal;
use crate::sessions::Sent;
use crate::status::SUB_AGENT;
use crate::stored::{self, StoredCall};

impl Machine<'_, '_> {
    /// Notes what became of a message.
    pub(super) fn sent(&mut self, sent: &Sent) -> Result<(), CallError> {
        self.require_fence(&sent.fence)?;
        let Some(position) = self.live.sends.iter().position(|send| send.id == sent.id) else {
            self.report.applied = false;
            return Ok(());
        };
        let send = self.live.sends.remove(position);
        self.log_message_sent(&send, sent.error.as_deref())?;
        let Some(error) = &sent.error else { return Ok(()) };
        let Some(call) = self.delegation_to(&send.session)? else { return Ok(()) };
        // Should the delegation be tried again, its message goes with it.
        self.live.sends.push(send);
        // A queue that is full may have room later.
        let retryable = error.parse() == Ok(Refusal::NotAdmitted("capacity".to_owned()));
        let message = format!("the sub-agent did not take the message: {error}");
        let failure = Failure { retryable, ..Failure::fatal(message, None) };
        self.call_failed(&call, &failure, Tell::Worker)
    }

    /// Gives up the messages to a session.
    pub(super) fn forget_sends(&mut self, session: &str, why: &str) -> Result<(), CallError> {
        let sends = std::mem::take(&mut self.live.sends);
        let (lost, kept): (Vec<_>, Vec<_>) =
            sends.into_iter().partition(|send| send.session == session);
        self.live.sends = kept;
        for send in &lost {
            self.log_message_sent(send, Some(why))?;
        }
        Ok(())
    }

    /// Returns the call under way that delegates to a session.
    fn delegation_to(&self, session: &str) -> Result<Option<String>, CallError> {
        for call in self.live.calls.iter().filter(|call| call.kind == SUB_AGENT) {
            if let StoredCall::SubAgent { session_id, .. } = stored::call_of(self.cx, call)?
                && session_id == session
            {
                return Ok(Some(call.id.clone()));
            }
        }
        Ok(None)
    }
}
