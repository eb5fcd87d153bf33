//! `directory_settle`: takes a request that has ended out of the queue, and notes that its end is
//! to be told.
//!
//! Both halves ask the edge first, so that twice is the same as once. The input says no time: the
//! thread moves to the transaction's instant.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::directory_settle::{Context, Handler, Input, Output};
use crate::agent_runtime::thread_adjust_pending;
use crate::{counter, queue, timestamp};

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, input: Input) -> Result<Output, CallError> {
        if cx.pending().disconnect(input.request)? {
            leave(cx, &input)?;
        }
        if input.notify && cx.notifications().connect(input.request)? {
            let mut data = cx.data().read()?;
            let notifications = &mut data.notification_pending;
            *notifications = counter::up("directory.notificationPending", *notifications)?;
            cx.data().write(&data)?;
        }
        Ok(())
    }
}

fn leave(cx: &Context<'_>, input: &Input) -> Result<(), CallError> {
    let mut data = cx.data().read()?;
    queue::leave(&mut data, input.interactive)?;
    cx.data().write(&data)?;
    let thread = cx.thread(input.thread);
    let updated_at = timestamp::print(cx.instant());
    thread.adjust_pending(&thread_adjust_pending::Input { delta: -1, updated_at })?;
    thread.release(input.request)
}
