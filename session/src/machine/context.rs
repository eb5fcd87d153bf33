//! Who a session is for, and what the host has configured for its agent.

use quixos_runtime::CallError;

use super::Machine;
use crate::owner;
use crate::sessions::Authority;
use crate::settings::SessionSettings;

impl Machine<'_, '_> {
    /// Refuses those whose session this is not. The engine itself may do everything.
    pub(crate) fn require_owner(&self, by: &Authority) -> Result<(), CallError> {
        owner::require(&self.binding, by)
    }

    /// Returns what the host has configured for the agent.
    pub(crate) fn settings(&self) -> Result<SessionSettings, CallError> {
        let agent = self.cx.configured(self.cx.agent().resolve()?);
        SessionSettings::read(&agent.data()?.settings, &agent.instructions()?)
    }
}
