//! `thread_rename`: sets the title, also to an empty one.
//!
//! The thread's time stays: it tells when work was last done in it.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::ThreadData;
use crate::agent_runtime::thread_rename::{Context, Handler, Input, Output};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, title: Input) -> Result<Output, CallError> {
        let data = cx.data().read()?;
        cx.data().write(&ThreadData { title, ..data })
    }
}
