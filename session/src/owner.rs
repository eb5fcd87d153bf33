//! Whose a session is.

use quixos_runtime::CallError;

use crate::refusal::Refusal;
use crate::sessions::{Authority, Binding};
use crate::status::{FRONTEND, SYSTEM};

/// Refuses those whose session this is not. The engine itself may do everything.
pub(crate) fn require(binding: &Binding, by: &Authority) -> Result<(), CallError> {
    if by.class == SYSTEM {
        return Ok(());
    }
    if by.tenant != binding.tenant {
        return Err(Refusal::WrongTenant.into());
    }
    if by.class == FRONTEND && by.owner_id != binding.owner_id {
        return Err(Refusal::NotOwner.into());
    }
    Ok(())
}
