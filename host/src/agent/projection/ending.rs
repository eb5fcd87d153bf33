//! How a stream ends: the turn is over, waits for its client, failed, or was aborted.

use quixos_protocol::agent::{
    AbortedEvent, AgentEvent, AssistantContentBlock, DoneEvent, ErrorCode, ErrorEvent,
    FinishReason, TokenUsage,
};
use serde_json::Value;

use super::{Asking, Projection, Telling};

/// Why a turn failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    code: ErrorCode,
    retryable: bool,
}

/// What the models of a segment used, as far as they say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    prompt: Option<u64>,
    completion: Option<u64>,
}

/// How counts of tokens are called: what was read, and what was written.
const PROMPT: [&str; 2] = ["prompt_tokens", "input_tokens"];
const COMPLETION: [&str; 2] = ["completion_tokens", "output_tokens"];

impl Used {
    /// Adds what a reply used.
    pub(super) fn add(&mut self, usage: Option<&Value>) {
        let count = |names: [&str; 2]| {
            let mut found = names.iter().filter_map(|name| usage?.get(name)?.as_u64());
            found.next()
        };
        let sum = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
            (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
            (sum, more) => sum.or(more),
        };
        self.prompt = sum(self.prompt, count(PROMPT));
        self.completion = sum(self.completion, count(COMPLETION));
    }

    fn told(self) -> Option<TokenUsage> {
        let (prompt_tokens, completion_tokens) = (self.prompt?, self.completion?);
        Some(TokenUsage { prompt_tokens, completion_tokens })
    }
}

/// What the end of a turn says that was cancelled.
const CANCELLED: &str = "cancelled";

impl Projection {
    /// Returns what the failure of a decision means for its turn; nothing, if it is the failure of
    /// a call alone.
    pub(super) fn failure_of(&self, asked: &Asking, retryable: bool) -> Option<Failure> {
        let code = match asked.trigger.as_str() {
            "session.start" | "tool.execute" | "llm.execute" => return self.failure,
            "tool.finished" | "sub_agent.finished"
                if asked.call.as_ref().is_some_and(|call| self.failed.contains(call)) =>
            {
                ErrorCode::ToolError
            }
            _ => ErrorCode::AgentError,
        };
        Some(Failure { code, retryable })
    }

    /// Tells the end of the turn.
    pub(super) fn on_completed(&mut self, tell: &mut Telling<'_>, error: Option<&str>) {
        for talk in 0..self.talks.len() {
            // Calls that go on without the turn, of which nobody is told any more.
            let open = self.places(talk, |block| block.is_open);
            for place in &open {
                self.end(tell, *place, None);
            }
            self.leave_out(&open);
        }
        match (error, self.failure) {
            (None, _) => {
                let reason = if self.truncated { FinishReason::Length } else { FinishReason::Stop };
                self.tell_done(tell, reason);
            }
            (Some(CANCELLED), None) => tell.event(AgentEvent::Aborted(AbortedEvent {
                request_id: self.turn.request_id.clone(),
                message_id: self.cut_off.take(),
                timestamp: tell.entry.instant.clone(),
            })),
            (Some(_), failure) => {
                let unknown = Failure { code: ErrorCode::AgentError, retryable: false };
                let Failure { code, retryable } = failure.unwrap_or(unknown);
                let message = if code == ErrorCode::ToolError {
                    "a tool failed, and the turn could not go on"
                } else {
                    "the agent failed"
                };
                tell.event(AgentEvent::Error(ErrorEvent {
                    request_id: self.turn.request_id.clone(),
                    message: message.to_owned(),
                    code: Some(code),
                    retryable: Some(retryable),
                    timestamp: tell.entry.instant.clone(),
                }));
            }
        }
    }

    /// Tells the end of a segment, behind which the client has to act.
    pub(super) fn tell_action_required(&mut self, tell: &mut Telling<'_>) {
        self.tell_done(tell, FinishReason::ActionRequired);
        self.segment.clear();
        self.used = Used::default();
    }

    fn tell_done(&mut self, tell: &mut Telling<'_>, finish_reason: FinishReason) {
        let (content, last) = self.content();
        tell.event(AgentEvent::Done(DoneEvent {
            request_id: self.turn.request_id.clone(),
            message_id: last.unwrap_or_else(|| self.turn.request_id.clone()),
            thread_id: self.turn.thread_id.clone(),
            content,
            usage: self.used.told(),
            finish_reason,
            trace_id: Some(self.trace.clone()),
            timestamp: tell.entry.instant.clone(),
        }));
    }

    /// Returns the blocks of the segment that count, and the message of the last of them.
    pub(crate) fn content(&self) -> (Vec<AssistantContentBlock>, Option<String>) {
        let blocks = self.segment.iter().filter_map(|place| self.block(*place));
        let kept =
            blocks.filter(|(talk, block)| block.counts && !block.is_open && !talk.is_dropped());
        let mut last = None;
        let content = kept
            .map(|(talk, block)| {
                last = Some(talk.id.clone());
                block.content()
            })
            .collect();
        (content, last)
    }
}
