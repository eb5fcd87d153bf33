//! `agent_request`: admission into the directory, in a thread of its own.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::agent_request::{Context, Handler, Input, Output};
use crate::agent_runtime::directory_admit;
use crate::submission;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, submission: Input) -> Result<Output, CallError> {
        submission::check("", &submission)?;
        let agent = cx.receiver();
        let directory = cx.agent(agent).directory()?;
        let optional_work = false;
        cx.directory(directory).admit(&directory_admit::Input {
            agent,
            thread: None,
            submission,
            optional_work,
        })
    }
}
