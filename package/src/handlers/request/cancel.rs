//! `request_cancel`: calls the request off.
//!
//! While it is queued that ends it. Once it is held, its attempt is asked to end it: it sees
//! `cancelRequested` and finishes as it can. To ask again changes nothing.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::request_cancel::{Context, Handler, Input, Output};
use crate::agent_runtime::{RequestState, request_finish};
use crate::status::Status;
use crate::timestamp;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, (): Input) -> Result<Output, CallError> {
        let progress = cx.progress().read()?;
        match Status::of(&progress)? {
            Status::Queued => finish(cx, progress),
            Status::Running | Status::Waiting => {
                cx.progress().write(&RequestState { cancel_requested: true, ..progress })?;
                Ok(true)
            }
            Status::Completed | Status::Failed | Status::Cancelled => Ok(false),
        }
    }
}

fn finish(cx: &Context<'_>, queued: RequestState) -> Result<bool, CallError> {
    let cancelled = Status::Cancelled.word();
    cx.request(cx.receiver()).finish(&request_finish::Input {
        attempt: queued.attempt,
        generation: queued.generation,
        status: cancelled.to_owned(),
        result: None,
        raw_output: None,
        usage: None,
        reason: cancelled.to_owned(),
        ended_at: timestamp::print(cx.instant()),
    })
}
