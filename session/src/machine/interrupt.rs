//! Interrupts: a conversation waits, at one message and all below it, until somebody answers.

use quixos_runtime::CallError;
use serde_json::Value;

use super::{Machine, Minted, Void};
use crate::refusal::Refusal;
use crate::sessions::{Authority, Interrupt, InterruptData};
use crate::status::{FRONTEND, LLM_CALL, MACHINE, SYSTEM};
use crate::stored::{self, StoredTrigger};
use crate::{pause, tree};

impl Machine<'_, '_> {
    /// Raises an interrupt that somebody outside asks for.
    pub(crate) fn interrupt(&mut self, interrupt: Interrupt) -> Result<(), CallError> {
        let Interrupt { by, id, reason, payload } = interrupt;
        self.require_owner(&by)?;
        if self.data.cancelled {
            return Err(Refusal::Cancelled.into());
        }
        let payload: Value = serde_json::from_str(&payload)
            .map_err(|error| CallError::invalid("payload", error.to_string()))?;
        let origin = if by.class == FRONTEND { FRONTEND } else { MACHINE };
        let id = self.raise_interrupt(id, origin, reason, payload)?;
        self.report.interrupt = Some(id);
        Ok(())
    }

    /// Pauses the conversation at its head, and returns the interrupt's id. Raising one again that
    /// is open does nothing.
    ///
    /// Model calls under way lose their sense and are voided; tools and sub-agents go on.
    pub(crate) fn raise_interrupt(
        &mut self,
        id: Option<String>,
        origin: &str,
        reason: String,
        payload: Value,
    ) -> Result<String, CallError> {
        let id = id.unwrap_or_else(|| self.mint(Minted::Interrupt));
        if self.live.interrupts.iter().any(|open| open.id == id) {
            self.report.applied = false;
            return Ok(id);
        }
        self.void_calls(Void::Interrupt, |call| call.kind == LLM_CALL)?;
        let mut interrupt = InterruptData {
            id: id.clone(),
            origin: origin.to_owned(),
            reason,
            payload: stored::json_text(&payload)?,
            anchor: self.data.head.clone(),
            pauses: true,
            turn: self.data.turn.as_ref().map(|turn| turn.id.clone()),
            raised: 0,
            question: String::new(),
            order: self.order(),
        };
        interrupt.raised = self.log_interrupted(&interrupt)?;
        self.ask_interrupt(&mut interrupt)?;
        self.live.interrupts.push(interrupt);
        Ok(id)
    }

    /// Clears an interrupt. If nothing else pauses the conversation, the worker is told at once.
    ///
    /// An interrupt that is not open (any longer) is no error: whoever resumes may ask twice.
    pub(crate) fn resume(
        &mut self,
        by: &Authority,
        id: &str,
        payload: Value,
    ) -> Result<(), CallError> {
        let Some(place) = self.live.interrupts.iter().position(|open| open.id == id) else {
            self.report.applied = false;
            return Ok(());
        };
        let interrupt = self.live.interrupts.get(place).cloned();
        let Some(interrupt) = interrupt else { return Ok(()) };
        if rank(&by.class) < rank(&interrupt.origin) {
            return Err(Refusal::NotPrivileged.into());
        }
        self.live.interrupts.remove(place);
        self.close_question(&interrupt.question, Some(&stored::json_text(&payload)?))?;
        self.log_interrupt_resumed(&interrupt, &payload)?;
        let turn = self.data.turn.as_ref().map(|turn| turn.id.clone());
        if let (Some(turn), true, false) = (turn, interrupt.pauses, self.is_paused()) {
            let interrupt_id = interrupt.id;
            self.raise_first(
                &StoredTrigger::InterruptResumed { interrupt_id, payload },
                None,
                Some(turn),
            )?;
        }
        Ok(())
    }

    /// Says whether the conversation is paused at its head.
    pub(crate) fn is_paused(&self) -> bool {
        pause::is_paused(&self.live.interrupts)
    }

    /// Looks up again what pauses the conversation, after the head has gone elsewhere.
    pub(super) fn resolve_pauses(&mut self) -> Result<(), CallError> {
        let head = self.data.head.as_deref();
        for interrupt in &mut self.live.interrupts {
            interrupt.pauses = tree::is_on_path(self.cx, head, interrupt.anchor.as_deref())?;
        }
        Ok(())
    }

    /// Says whether the path to a message is paused.
    pub(crate) fn is_paused_at(&self, node: Option<&str>) -> Result<bool, CallError> {
        let head = self.data.head.as_deref();
        pause::is_paused_at(self.cx, &self.live.interrupts, head, node)
    }
}

/// Returns how much a class of callers may.
pub(super) fn rank(class: &str) -> u8 {
    match class {
        SYSTEM => 2,
        MACHINE => 1,
        _ => 0,
    }
}
