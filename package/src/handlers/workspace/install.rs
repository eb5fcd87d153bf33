//! `workspace_install`: makes a workspace a place that agents live in, once.
//!
//! A workspace that has a directory answers it and looks at nothing else, so that a host may
//! install whenever it starts. The settings are checked by `directory_initialize`, under the same
//! path, before anything of it is done; what was created here goes with its error.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::workspace_install::{Context, CreateDirectory, Handler, Input, Output};
use crate::agent_runtime::{DirectoryData, directory_initialize};
use crate::profiles;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        if let Some(directory) = cx.agents().resolve()? {
            return Ok(directory);
        }
        let directory = cx.create_directory(&CreateDirectory { data: empty() })?;
        cx.agents().connect(directory)?;
        let Input { instructions, settings } = input;
        cx.directory(directory)
            .initialize(&directory_initialize::Input { instructions, settings })?;
        Ok(directory)
    }
}

fn empty() -> DirectoryData {
    DirectoryData {
        sequence: 0,
        pending: 0,
        ordinary_pending: 0,
        notification_pending: 0,
        profiles: profiles::NONE.to_owned(),
        availability: profiles::OFFLINE.to_owned(),
    }
}
