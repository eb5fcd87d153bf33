//! Blocks of a reply that is streamed: what the log has of them while the attempt runs.
//!
//! An engine says nothing of a block before its begin is in the log. What it reports of blocks is
//! noted before anything else in the step: it was said, whatever time or a cancel makes of the
//! attempt. All that is open when an attempt ends is stopped in the log first; of what nobody
//! reports any more, the last checkpoint tells.

use quixos_runtime::CallError;
use serde_json::Value;

use super::{Machine, Minted};
use crate::past::Past as _;
use crate::sessions::{BlockBegin, BlockChange, BlockData, CallData, Command, NamedCall};
use crate::status::{LLM_CALL, PENDING};
use crate::stored;

/// A block of text.
pub(super) const TEXT: &str = "text";
/// A block of reasoning.
pub(super) const REASONING: &str = "reasoning";
/// A block that is a call of a tool.
pub(super) const TOOL_CALL: &str = "tool_call";

impl Machine<'_, '_> {
    /// Notes what a command of the engine that drives the session tells of blocks.
    pub(super) fn note_blocks(&mut self, command: &Command) -> Result<(), CallError> {
        let (fence, blocks) = match command {
            Command { progress: Some(progress), .. } => (Some(&progress.fence), &progress.blocks),
            Command { settle: Some(settle), .. } => (settle.fence.as_ref(), &settle.blocks),
            Command { answer: Some(answer), .. } => (answer.fence.as_ref(), &answer.blocks),
            Command { fail: Some(failure), .. } => (Some(&failure.fence), &failure.blocks),
            Command { fail: None, .. } => return Ok(()),
        };
        // What comes without a fence is not the engine's that ran the attempt.
        let (Some(fence), false) = (fence, blocks.is_empty()) else { return Ok(()) };
        self.require_fence(fence)?;
        let speaker = match command {
            Command { progress: Some(progress), .. } => {
                Some((progress.call.clone(), progress.attempt))
            }
            Command { settle: Some(settle), .. } => {
                settle.attempt.map(|attempt| (settle.call.clone(), attempt))
            }
            Command { answer: Some(answer), .. } => self.run_by(&answer.decision, None),
            Command { fail: Some(failure), .. } => {
                self.run_by(&failure.decision, Some(failure.attempts))
            }
            Command { fail: None, .. } => None,
        };
        match speaker {
            Some((call, attempt)) => self.change_blocks(&call, attempt, blocks),
            None => Ok(()),
        }
    }

    /// Returns the attempt of a call that a decision which is handed out runs.
    fn run_by(&self, decision: &str, attempts: Option<u32>) -> Option<(String, u32)> {
        let decision = self.pending_decision(decision)?;
        let is_that = attempts.is_none_or(|attempts| attempts == decision.attempts);
        let call = decision.call.clone().filter(|_| is_that)?;
        Some((call, decision.attempt))
    }

    fn change_blocks(
        &mut self,
        id: &str,
        attempt: u32,
        changes: &[BlockChange],
    ) -> Result<(), CallError> {
        let running = self.call(id).filter(|call| {
            call.kind == LLM_CALL && call.status == PENDING && call.attempt == attempt
        });
        let Some(mut call) = running.cloned() else { return Ok(()) };
        for change in changes {
            match (&change.begins, &change.ends) {
                (Some(begin), None) => self.begin_block(&mut call, change.index, begin)?,
                (None, Some(said)) => self.end_block(&mut call, change.index, said)?,
                (Some(_), Some(_)) | (None, None) => {
                    let message = "a block either begins or ends";
                    return Err(CallError::invalid("blocks", message));
                }
            }
        }
        if let Some(stored) = self.live.calls.iter_mut().find(|call| call.id == id) {
            *stored = call;
        }
        Ok(())
    }

    /// Notes that a block begins, once: an engine may report it twice.
    fn begin_block(
        &mut self,
        call: &mut CallData,
        index: u32,
        begin: &BlockBegin,
    ) -> Result<(), CallError> {
        if index < call.blocks {
            return Ok(());
        }
        let is_call = begin.kind == TOOL_CALL;
        let is_known = is_call || begin.kind == TEXT || begin.kind == REASONING;
        if index != call.blocks || !is_known || is_call != begin.tool_call.is_some() {
            return Err(CallError::invalid("blocks", "a block that cannot begin here"));
        }
        let mut named = None;
        if let Some(tool) = &begin.tool_call {
            let id = self.name_tool_call(call, &tool.id)?;
            call.named.push(NamedCall { given: tool.id.clone(), id: id.clone() });
            named = Some((id, tool.name.clone()));
        }
        let block = BlockData { index, kind: begin.kind.clone(), at: begin.at };
        self.log_block_started(call, &block, named)?;
        call.blocks += 1;
        call.open.push(block);
        Ok(())
    }

    fn end_block(&self, call: &mut CallData, index: u32, said: &str) -> Result<(), CallError> {
        let Some(place) = call.open.iter().position(|block| block.index == index) else {
            return Ok(());
        };
        let block = call.open.remove(place);
        self.log_block_stopped(call, &block, Some(said)).map(drop)
    }

    /// Stops what is open of an attempt that ends, with what was checkpointed of it.
    pub(super) fn stop_blocks(&self, call: &CallData) -> Result<(), CallError> {
        for block in &call.open {
            let said = self.checkpointed(call, block)?;
            self.log_block_stopped(call, block, said.as_deref())?;
        }
        Ok(())
    }

    /// Returns what the item of a reply has of a block, if it is of this attempt.
    fn checkpointed(
        &self,
        call: &CallData,
        block: &BlockData,
    ) -> Result<Option<String>, CallError> {
        if block.kind == TOOL_CALL {
            return Ok(None);
        }
        let Some(item) = self.reply_item(call, &block.kind)? else { return Ok(None) };
        let activity: Value = match &item.activity {
            Some(activity) => stored::read_text(activity, "what an item says")?,
            None => Value::Null,
        };
        let at = usize::try_from(block.at).unwrap_or(usize::MAX);
        let is_its_own = activity["attempt"] == call.attempt;
        Ok(item.text.get(at..).filter(|_| is_its_own).map(str::to_owned))
    }

    /// Returns the id that a tool call of a reply has in the session: its own, unless that was
    /// there before. Providers repeat ids between replies.
    pub(super) fn name_tool_call(
        &mut self,
        reply: &CallData,
        given: &str,
    ) -> Result<String, CallError> {
        let is_its_own = reply.named.iter().any(|named| named.id == given);
        let is_taken = given.is_empty() || is_its_own || self.is_taken(reply, given)?;
        Ok(if is_taken { self.mint(Minted::Call) } else { given.to_owned() })
    }

    /// Says whether an id belongs to something else than the reply: a call that was made, or one
    /// that another reply has begun.
    pub(super) fn is_taken(&self, reply: &CallData, id: &str) -> Result<bool, CallError> {
        let mut others = self.live.calls.iter().filter(|call| call.id != reply.id);
        let is_begun = others.any(|call| call.named.iter().any(|named| named.id == id));
        Ok(is_begun || self.is_call(id)? || self.cx.result(id)?.is_some())
    }
}
