//! `request_reserveChild`: one more request may stem from this one, up to a fixed number.
//!
//! The operation sees nothing but the counter, so the number is the same for every agent.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::request_reserve_child::{Context, Handler, Input, Output};
use crate::request::MAX_CHILDREN;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, (): Input) -> Result<Output, CallError> {
        let spawned = cx.spawned().read()?;
        let has_room = spawned < MAX_CHILDREN;
        if has_room {
            cx.spawned().write(spawned + 1)?;
        }
        Ok(has_room)
    }
}
