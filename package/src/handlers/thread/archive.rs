//! `thread_archive`: closes the thread to new requests, or opens it again.
//!
//! What is queued or running goes on. The thread's time stays, as with `thread_rename`.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::ThreadData;
use crate::agent_runtime::thread_archive::{Context, Handler, Input, Output};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, archived: Input) -> Result<Output, CallError> {
        let data = cx.data().read()?;
        cx.data().write(&ThreadData { archived, ..data })
    }
}
