//! `directory_advertise`: a host says which profiles it can run, and whether it is there.
//!
//! Both are stored as they were written. What is in the queue stays there, whatever is said.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::DirectoryData;
use crate::agent_runtime::directory_advertise::{Context, Handler, Input, Output};
use crate::profiles;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        profiles::check(&input.profiles, &input.availability)?;
        let Input { profiles, availability } = input;
        let data = cx.data().read()?;
        cx.data().write(&DirectoryData { profiles, availability, ..data })
    }
}
