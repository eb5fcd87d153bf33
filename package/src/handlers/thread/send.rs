//! `thread_send`: admission into this thread, for a sender who takes no for an error.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::directory_admit;
use crate::agent_runtime::thread_send::{Context, Handler, Input, Output};
use crate::submission;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, submission: Input) -> Result<Output, CallError> {
        submission::check("", &submission)?;
        let thread = cx.thread(cx.receiver());
        let admission = cx.directory(thread.directory()?).admit(&directory_admit::Input {
            agent: thread.agent()?,
            thread: Some(cx.receiver()),
            submission,
            optional_work: false,
        })?;
        admission.request.ok_or_else(|| CallError::refused(admission.reason.unwrap_or_default()))
    }
}
