//! `thread_activate`: a thread runs one request at a time, and the first to ask is it.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::thread_activate::{Context, Handler, Input, Output};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, request: Input) -> Result<Output, CallError> {
        match cx.active().resolve()? {
            Some(active) => Ok(active == request),
            None => cx.active().connect(request),
        }
    }
}
