//! `request_finish`: the request ends, for good.
//!
//! Whoever holds it may end it in any way. While it is queued nobody does, and its fence is the
//! empty attempt: with that it can be called off or given up, not completed. A fence that fits
//! neither way answers `false`, before it matters how the request was to end. Whether the end is
//! told is decided by the settings that the agent has now.

use quixos_runtime::{CallError, Fence};

use crate::AgentRuntime;
use crate::agent_runtime::request_finish::{Context, Handler, Input, Output};
use crate::agent_runtime::{RequestState, directory_settle};
use crate::settings::Settings;
use crate::status::Status;
use crate::{fence, json, timestamp};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let end = Status::terminal(&input.status)?;
        if let Some(usage) = &input.usage {
            json::check("usage", usage)?;
        }
        timestamp::parse("endedAt", &input.ended_at)?;
        let progress = cx.progress().read()?;
        let fence = Fence { attempt: input.attempt.clone(), generation: input.generation };
        if !may_end(&progress, &fence, end)? {
            return Ok(false);
        }
        let notify = notifies(cx)?;
        cx.progress().write(&RequestState {
            status: end.word().to_owned(),
            reason: input.reason,
            result: input.result,
            raw_output: input.raw_output,
            usage: input.usage,
            ended_at: Some(input.ended_at),
            notification_pending: notify,
            ..progress
        })?;
        settle(cx, notify)?;
        Ok(true)
    }
}

fn may_end(progress: &RequestState, fence: &Fence, end: Status) -> Result<bool, CallError> {
    let is_queued = Status::of(progress)? == Status::Queued && fence::stored(progress) == *fence;
    if is_queued && end == Status::Completed {
        return Err(CallError::invalid("status", "a queued request cannot be `completed`"));
    }
    Ok(is_queued || fence::holds(progress, fence)?)
}

fn notifies(cx: &Context<'_>) -> Result<bool, CallError> {
    let thread = cx.request(cx.receiver()).thread()?;
    let agent = cx.thread(thread).agent()?;
    Ok(Settings::stored(&cx.agent(agent).data()?.settings)?.notify_completions)
}

fn settle(cx: &Context<'_>, notify: bool) -> Result<(), CallError> {
    let request = cx.request(cx.receiver());
    cx.directory(request.directory()?).settle(&directory_settle::Input {
        request: cx.receiver(),
        thread: request.thread()?,
        interactive: cx.admission().read()?.interactive,
        notify,
    })
}
