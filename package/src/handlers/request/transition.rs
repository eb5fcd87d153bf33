//! `request_transition`: whoever holds the request says that it runs, or what it waits for.

use quixos_runtime::{CallError, Fence};

use crate::AgentRuntime;
use crate::agent_runtime::RequestState;
use crate::agent_runtime::request_transition::{Context, Handler, Input, Output};
use crate::fence;
use crate::status::Status;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let status = Status::held(&input.status)?;
        let Input { attempt, generation, reason, .. } = input;
        let progress = cx.progress().read()?;
        if !fence::holds(&progress, &Fence { attempt, generation })? {
            return Ok(false);
        }
        let status = status.word().to_owned();
        cx.progress().write(&RequestState { status, reason, ..progress })?;
        Ok(true)
    }
}
