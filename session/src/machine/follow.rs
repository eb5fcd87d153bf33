//! A client that waits for the end of a turn.
//!
//! That it does stays with the turn, whoever goes away: a turn that was followed once ends as soon
//! as nothing is left to do in it, also under an engine that knows nothing of the client.

use quixos_runtime::CallError;

use super::Machine;
use crate::sessions::Follow;

impl Machine<'_, '_> {
    /// Notes that a turn is followed. One that is not active has nothing to be ended.
    pub(super) fn follow(&mut self, follow: Follow) -> Result<(), CallError> {
        let Follow { by, turn } = follow;
        self.require_owner(&by)?;
        if self.cx.turns().get(&turn)?.is_none() {
            return Err(CallError::NotFound { what: format!("a turn `{turn}`") });
        }
        self.report.applied = self.mark_followed(&turn);
        self.report.turn = Some(turn);
        Ok(())
    }

    /// Marks a turn as followed if it is the active one. Says whether it was not before.
    pub(super) fn mark_followed(&mut self, turn: &str) -> bool {
        match &mut self.data.turn {
            Some(active) if active.id == turn => !std::mem::replace(&mut active.followed, true),
            Some(_) | None => false,
        }
    }
}
