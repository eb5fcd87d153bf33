//! `agent_update`: changes the fields that are given, and no others.
//!
//! What is queued already keeps the configuration with which it was admitted.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::AgentData;
use crate::agent_runtime::agent_update::{Context, Handler, Input, Output};
use crate::settings::Settings;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        if let Some(settings) = &input.settings {
            Settings::parse(settings)?;
        }
        let data = cx.data().read()?;
        cx.data().write(&AgentData {
            name: input.name.unwrap_or(data.name),
            description: input.description.unwrap_or(data.description),
            enabled: input.enabled.unwrap_or(data.enabled),
            settings: input.settings.unwrap_or(data.settings),
        })
    }
}
