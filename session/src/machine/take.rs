//! An engine takes a session, for the first time or from one that is gone.
//!
//! Whoever takes over goes on where the log ends: what the worker had been asked is asked again at
//! once, and models that were being called are called again. What waits for somebody else goes on
//! waiting, and what is finished is never repeated.

use quixos_protocol::ErrorCode;
use quixos_runtime::CallError;

use super::Machine;
use super::settle::{Failure, Tell};
use crate::sessions::{CallData, Claim, Take};
use crate::status::{LLM_CALL, PENDING, SERVER};

impl Machine<'_, '_> {
    /// Claims the session for an engine.
    pub(super) fn take(&mut self, take: &Take) -> Result<(), CallError> {
        if take.engine.is_empty() {
            return Err(CallError::invalid("engine", "must not be empty"));
        }
        let held = &self.data.claim;
        if !take.recover && !held.engine.is_empty() {
            // Held already: by this engine, whose claim the answer repeats, or by another one.
            self.report.applied = false;
            return Ok(());
        }
        let generation = held.generation.checked_add(1).ok_or_else(|| CallError::Limit {
            message: "no engine can claim the session again: it was claimed too often".to_owned(),
        })?;
        let is_first = held.engine.is_empty();
        self.data.claim = Claim { engine: take.engine.clone(), generation };
        if is_first {
            return Ok(());
        }
        self.reclaim_request()?;
        self.deliver_again()?;
        self.run_again()
    }

    fn deliver_again(&mut self) -> Result<(), CallError> {
        let mut decisions = self.live.decisions.iter();
        match decisions.find(|decision| decision.status == PENDING).map(|it| it.id.clone()) {
            Some(id) => self.deliver(&id, |_| ()),
            None => Ok(()),
        }
    }

    /// Runs again the model calls whose engine is gone. One more attempt is always allowed, since
    /// a model call leaves nothing behind.
    fn run_again(&mut self) -> Result<(), CallError> {
        let code = Some(ErrorCode::ProviderError);
        let lost = Failure { retryable: true, ..Failure::fatal("the engine was restarted", code) };
        let runs = |call: &&mut CallData| {
            call.kind == LLM_CALL && call.handler == SERVER && call.status == PENDING
        };
        let ids: Vec<String> =
            self.live.calls.iter_mut().filter(runs).map(|call| call.id.clone()).collect();
        for id in ids {
            let Some(call) = self.live.calls.iter_mut().find(|call| call.id == id) else {
                continue;
            };
            let allowed = call.policy.as_ref().map_or(0, |policy| policy.max_retries).max(1);
            if u64::from(call.failures) < allowed {
                call.failures += 1;
                self.try_again(&id, &lost, None)?;
            } else {
                let fatal = Failure { retryable: false, ..lost.clone() };
                self.call_failed(&id, &fatal, Tell::Worker)?;
            }
        }
        Ok(())
    }
}
