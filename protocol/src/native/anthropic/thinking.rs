//! How long a reply of Messages may be, and how much of it may be thought.
//!
//! The form counts thoughts as part of the reply and gives them a budget of their own, which has a
//! least size and leaves room for what is said. A model that has called a tool does not begin to
//! think before it goes on: the form would want the thoughts from before the call back, and they
//! are not kept.

use crate::llm::{Effort, LlmRequest, ReasoningConfig};
use crate::message::{DraftMessage, Role};

/// How long a reply may be if nobody says; every model in use can be that long.
const MAX_TOKENS: u64 = 8192;
/// The least that a budget may be.
const LEAST_BUDGET: u64 = 1024;

/// The room for a reply.
pub(super) struct Room {
    /// Thoughts and words together.
    pub(super) max_tokens: u64,
    /// Thoughts alone; none if the model is not to think.
    pub(super) budget: Option<u64>,
}

/// Returns the room that a request leaves.
pub(super) fn room(request: &LlmRequest) -> Room {
    let wanted = request.reasoning.as_ref().and_then(wanted);
    let wanted = wanted.filter(|_| !is_amid_calls(&request.messages));
    match (wanted, request.max_completion_tokens) {
        (None, asked) => Room { max_tokens: asked.unwrap_or(MAX_TOKENS), budget: None },
        (Some(budget), None) => {
            Room { max_tokens: budget.saturating_add(MAX_TOKENS), budget: Some(budget) }
        }
        (Some(budget), Some(max_tokens)) => {
            let budget = budget.min(max_tokens.saturating_sub(1));
            Room { max_tokens, budget: (budget >= LEAST_BUDGET).then_some(budget) }
        }
    }
}

/// Returns how many tokens the model is to think, if it is to think.
fn wanted(reasoning: &ReasoningConfig) -> Option<u64> {
    let effort = match (reasoning.enabled, reasoning.effort) {
        (Some(false), _) | (_, Some(Effort::None)) => return None,
        (Some(true), None) => Some(Effort::Medium),
        (_, effort) => effort,
    };
    let tokens = reasoning.max_tokens.or(effort.map(budget))?;
    Some(tokens.max(LEAST_BUDGET))
}

/// Returns how many tokens an effort is worth.
fn budget(effort: Effort) -> u64 {
    match effort {
        Effort::None => 0,
        Effort::Minimal => 1024,
        Effort::Low => 2048,
        Effort::Medium => 8192,
        Effort::High => 16_384,
        Effort::Xhigh => 32_768,
    }
}

/// Says whether the reply goes on where the model has called tools.
fn is_amid_calls(messages: &[DraftMessage]) -> bool {
    let last = messages.iter().rev().find(|message| message.role == Role::Assistant);
    last.is_some_and(|message| !message.tool_calls.is_empty())
}
