//! `directory_initialize`: gives a new directory its default agent and that agent's first thread.
//!
//! The settings are checked also where nothing is left to do. The input says no time, so the
//! thread begins at the transaction's instant; nor a description, so the agent has an empty one.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::directory_initialize::{Context, Handler, Input, Output};
use crate::agent_runtime::{directory_create_agent, directory_create_thread};
use crate::settings::Settings;
use crate::timestamp;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        Settings::parse(&input.settings)?;
        if cx.default_agent().resolve()?.is_some() {
            return Ok(());
        }
        let directory = cx.directory(cx.receiver());
        let agent = directory.create_agent(&directory_create_agent::Input {
            name: "default".to_owned(),
            description: String::new(),
            instructions: input.instructions,
            settings: input.settings,
        })?;
        cx.default_agent().connect(agent)?;
        let thread = directory.create_thread(&directory_create_thread::Input {
            agent,
            title: String::new(),
            kind: "main".to_owned(),
            created_at: timestamp::print(cx.instant()),
            contexts: Vec::new(),
        })?;
        cx.initial_thread().connect(thread)?;
        Ok(())
    }
}
