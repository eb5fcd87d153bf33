//! `directory_createAgent`: an agent of this directory, enabled, with a completion stream of its
//! own.
//!
//! Names are not unique; the settings are checked and stored as they were written.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::AgentData;
use crate::agent_runtime::directory_create_agent::{Context, CreateAgent, Handler, Input, Output};
use crate::settings::Settings;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        Settings::parse(&input.settings)?;
        let Input { name, description, instructions, settings } = input;
        let completions = cx.create_stream()?.into();
        cx.create_agent(&CreateAgent {
            data: AgentData { name, description, enabled: true, settings },
            instructions,
            directory: cx.receiver(),
            completions,
        })
    }
}
