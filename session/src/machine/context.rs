//! Who a session is for, and what the host has configured for its agent.

use quixos_runtime::CallError;

use super::Machine;
use crate::refusal::Refusal;
use crate::sessions::Authority;
use crate::settings::SessionSettings;
use crate::status::{FRONTEND, SYSTEM};

impl Machine<'_, '_> {
    /// Refuses those whose session this is not. The engine itself may do everything.
    pub(crate) fn require_owner(&self, by: &Authority) -> Result<(), CallError> {
        if by.class == SYSTEM {
            return Ok(());
        }
        if by.tenant != self.binding.tenant {
            return Err(Refusal::WrongTenant.into());
        }
        if by.class == FRONTEND && by.owner_id != self.binding.owner_id {
            return Err(Refusal::NotOwner.into());
        }
        Ok(())
    }

    /// Returns what the host has configured for the agent.
    pub(crate) fn settings(&self) -> Result<SessionSettings, CallError> {
        let agent = self.cx.configured(self.cx.agent().resolve()?);
        SessionSettings::read(&agent.data()?.settings, &agent.instructions()?)
    }
}
