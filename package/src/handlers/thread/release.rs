//! `thread_release`: the thread is free again, if it was this request that it ran.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::thread_release::{Context, Handler, Input, Output};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, request: Input) -> Result<Output, CallError> {
        // Of another request there is nothing to disconnect.
        cx.active().disconnect(request)?;
        Ok(())
    }
}
