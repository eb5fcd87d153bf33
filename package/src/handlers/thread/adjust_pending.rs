//! `thread_adjustPending`: counts requests that come and go, and answers the thread's next
//! sequence.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::thread_adjust_pending::{Context, Handler, Input, Output};
use crate::{counter, timestamp};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        timestamp::parse("updatedAt", &input.updated_at)?;
        let mut data = cx.data().read()?;
        data.pending = adjusted(data.pending, input.delta)?;
        data.sequence = counter::next("thread.sequence", data.sequence)?;
        timestamp::move_forward(&mut data.updated_at, &input.updated_at)?;
        cx.data().write(&data)?;
        Ok(data.sequence)
    }
}

fn adjusted(pending: u32, delta: i32) -> Result<u32, CallError> {
    pending.checked_add_signed(delta).ok_or_else(|| {
        if delta.is_negative() {
            CallError::invalid("delta", format!("only {pending} are pending"))
        } else {
            counter::limit("thread.pending", "above", u32::MAX.into())
        }
    })
}
