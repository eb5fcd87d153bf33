//! `directory_notificationSent`: the end of a request has been told, so nobody needs to any more.

use quixos_runtime::CallError;

use crate::AgentRuntime;
use crate::agent_runtime::directory_notification_sent::{Context, Handler, Input, Output};
use crate::counter;

impl Handler for AgentRuntime {
    fn handle(cx: &Context<'_>, request: Input) -> Result<Output, CallError> {
        if !cx.notifications().disconnect(request)? {
            return Ok(());
        }
        let mut data = cx.data().read()?;
        let notifications = &mut data.notification_pending;
        *notifications = counter::down("directory.notificationPending", *notifications)?;
        cx.data().write(&data)
    }
}
