//! `agent_createThread`: a thread for this agent, made by its directory.
//!
//! The form of the input is checked there, where the fields have the same names.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::agent_create_thread::{Context, Handler, Input, Output};
use crate::agent_runtime::directory_create_thread;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        let Input { title, kind, created_at, contexts } = input;
        let agent = cx.receiver();
        let directory = cx.agent(agent).directory()?;
        cx.directory(directory).create_thread(&directory_create_thread::Input {
            agent,
            title,
            kind,
            created_at,
            contexts,
        })
    }
}
