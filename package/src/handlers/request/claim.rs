//! `request_claim`: takes the request for an attempt, from the queue or from an attempt that was
//! lost.
//!
//! The generation is the fence against two that believe they have it: it goes up with every claim,
//! so whoever held it before finds its fence stale. A claimer whose answer got lost asks again in
//! the same words and is told that it has it.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::RequestState;
use crate::agent_runtime::request_claim::{Context, Handler, Input, Output};
use crate::status::Status;
use crate::{counter, fence, timestamp};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        fence::check_attempt(&input.attempt)?;
        timestamp::parse("startedAt", &input.started_at)?;
        let progress = cx.progress().read()?;
        let status = Status::of(&progress)?;
        let generation = progress.generation;
        if status.is_held() && is_repeated(&progress, &input) {
            return Ok(Output { claimed: true, generation });
        }
        let is_open = !status.is_terminal()
            && generation == input.expected_generation
            && (input.recover || !status.is_held());
        if !is_open || !activate(cx)? {
            return Ok(Output { claimed: false, generation });
        }
        let taken = taken(progress, status, input)?;
        cx.progress().write(&taken)?;
        Ok(Output { claimed: true, generation: taken.generation })
    }
}

/// Says whether this attempt asked before, in the same words, and got it.
fn is_repeated(progress: &RequestState, input: &Input) -> bool {
    progress.attempt == input.attempt
        && input.expected_generation.checked_add(1) == Some(progress.generation)
}

fn activate(cx: &Context<'_>) -> Result<bool, CallError> {
    let thread = cx.request(cx.receiver()).thread()?;
    cx.thread(thread).activate(cx.receiver())
}

fn taken(progress: RequestState, status: Status, input: Input) -> Result<RequestState, CallError> {
    let generation = counter::up("request.generation", progress.generation)?;
    let retry_count = if status.is_held() {
        counter::up("request.retryCount", progress.retry_count)?
    } else {
        progress.retry_count
    };
    Ok(RequestState {
        status: Status::Running.word().to_owned(),
        attempt: input.attempt,
        generation,
        reason: String::new(),
        started_at: Some(input.started_at),
        retry_count,
        ..progress
    })
}
