//! What a model call has brought so far, for those who watch.

use quixos_runtime::CallError;

use super::Machine;
use crate::sessions::Progress;
use crate::status::{LLM_CALL, PENDING};

impl Machine<'_, '_> {
    /// Shows what has come in. That of an attempt which is over is not mixed into the next one.
    pub(super) fn progress(&mut self, progress: &Progress) -> Result<(), CallError> {
        self.require_fence(&progress.fence)?;
        let running = self.call(&progress.call).filter(|call| {
            call.kind == LLM_CALL && call.status == PENDING && call.attempt == progress.attempt
        });
        let Some(call) = running.cloned() else {
            self.report.applied = false;
            return Ok(());
        };
        self.report.turn.clone_from(&call.turn);
        self.mirror_progress(&call, &progress.text, &progress.reasoning)
    }
}
