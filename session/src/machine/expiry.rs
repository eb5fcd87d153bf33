//! What time has made due, done before anything else in every step.
//!
//! Each thing that is due is done once a step: what it leads to starts anew from the instant of the
//! step, and is due again in a later one even if it is given no time at all.

use chrono::{DateTime, Utc};
use quixos_runtime::CallError;

use super::Machine;
use super::settle::DEADLINE_EXCEEDED;
use crate::clock;
use crate::instant;
use crate::status::PENDING;

/// Something that is due.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Due {
    /// A call, by its id and attempt.
    Call(String, u32),
    /// A decision, by its id and delivery.
    Decision(String, u32),
}

impl Machine<'_, '_> {
    /// Ends what has run out of time, and tries again what has waited long enough, in the order of
    /// their instants.
    pub(super) fn expire(&mut self) -> Result<(), CallError> {
        for (_, _, due) in self.due()? {
            match due {
                Due::Call(id, attempt) => self.call_is_due(&id, attempt)?,
                Due::Decision(id, attempts) => self.decision_is_due(&id, attempts)?,
            }
        }
        Ok(())
    }

    fn due(&self) -> Result<Vec<(DateTime<Utc>, u64, Due)>, CallError> {
        let mut due = Vec::new();
        let mut add = |at: Option<&str>, order: u64, what: Due| {
            let at = at.map(instant::parse).transpose()?;
            due.extend(at.filter(|at| *at <= self.now).map(|at| (at, order, what)));
            Ok::<(), CallError>(())
        };
        for call in &self.live.calls {
            add(clock::call_due(call), call.order, Due::Call(call.id.clone(), call.attempt))?;
        }
        for decision in &self.live.decisions {
            let what = Due::Decision(decision.id.clone(), decision.attempts);
            add(clock::decision_due(decision), decision.order, what)?;
        }
        due.sort();
        Ok(due)
    }

    fn call_is_due(&mut self, id: &str, attempt: u32) -> Result<(), CallError> {
        // What was due before may have ended it.
        let Some(call) = self.call(id).filter(|call| call.attempt == attempt) else {
            return Ok(());
        };
        if call.status == PENDING {
            self.call_timed_out(id)
        } else {
            self.requeue_call(id);
            Ok(())
        }
    }

    fn decision_is_due(&mut self, id: &str, attempts: u32) -> Result<(), CallError> {
        let mut decisions = self.live.decisions.iter();
        let found = decisions.find(|it| it.id == id && it.attempts == attempts);
        let Some(decision) = found else { return Ok(()) };
        if decision.status == PENDING {
            let code = Some(quixos_protocol::ErrorCode::DeadlineExceeded);
            self.delivery_failed(id, DEADLINE_EXCEEDED, true, code)
        } else {
            self.deliver(id, |_| ())
        }
    }
}
