//! `thread_allocateItem`: gives out the thread's places for items, each once.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::thread_allocate_item::{Context, Handler, Input, Output};
use crate::{counter, timestamp};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, updated_at: Input) -> Result<Output, CallError> {
        timestamp::parse("$", &updated_at)?;
        let mut data = cx.data().read()?;
        let place = data.next_item;
        data.next_item = counter::next("thread.nextItem", place)?;
        timestamp::move_forward(&mut data.updated_at, &updated_at)?;
        cx.data().write(&data)?;
        Ok(place)
    }
}
