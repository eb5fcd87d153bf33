//! `request_publishCompletion`: tells the end of the request on its agent's stream, once.
//!
//! The event, the directory's count and the flag move in one transaction. So whoever is cut off
//! tries again, and finds either all of it to do or nothing.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::request_publish_completion::{Context, Handler, Input, Output};
use crate::agent_runtime::{AgentCompletion, RequestState};
use crate::status::Status;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, (): Input) -> Result<Output, CallError> {
        let progress = cx.progress().read()?;
        if !Status::of(&progress)?.is_terminal() || !progress.notification_pending {
            return Ok(false);
        }
        let request = cx.request(cx.receiver());
        let thread = request.thread()?;
        let agent = cx.thread(thread).agent()?;
        let completions = cx.agent(agent).completions()?;
        let status = progress.status.clone();
        cx.stream(completions).publish(&AgentCompletion {
            request: cx.receiver(),
            thread,
            status,
        })?;
        cx.directory(request.directory()?).notification_sent(cx.receiver())?;
        cx.progress().write(&RequestState { notification_pending: false, ..progress })?;
        Ok(true)
    }
}
