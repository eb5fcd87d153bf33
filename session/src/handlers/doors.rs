//! The doors of a session: each is a step, and leads to `session_apply` with what it was given.

use quixos_runtime::CallError;

use crate::Sessions;
use crate::sessions::{
    Command, session_answer, session_cancel, session_child_ended, session_child_waits,
    session_extend, session_fail, session_follow, session_interrupt, session_progress,
    session_receive, session_redeliver, session_respond, session_sent, session_settle,
    session_spawned, session_submit, session_take, session_wake,
};

macro_rules! doors {
    ($($operation:ident => $field:ident),* $(,)?) => {$(
        impl $operation::Handler for Sessions {
            fn handle(
                cx: &$operation::Context<'_>,
                input: $operation::Input,
            ) -> Result<$operation::Output, CallError> {
                let command = Command { $field: Some(input), ..nothing() };
                cx.session(cx.receiver()).apply(&command)
            }
        }
    )*};
}

doors! {
    session_submit => submit,
    session_respond => respond,
    session_follow => follow,
    session_receive => receive,
    session_answer => answer,
    session_fail => fail,
    session_redeliver => redeliver,
    session_extend => extend,
    session_settle => settle,
    session_progress => progress,
    session_interrupt => interrupt,
    session_cancel => cancel,
    session_take => take,
    session_sent => sent,
    session_spawned => spawned,
    session_child_ended => child_ended,
    session_child_waits => child_waits,
}

impl session_wake::Handler for Sessions {
    fn handle(
        cx: &session_wake::Context<'_>,
        (): session_wake::Input,
    ) -> Result<session_wake::Output, CallError> {
        cx.session(cx.receiver()).apply(&nothing())
    }
}

/// A step that does what time makes due, and nothing else.
fn nothing() -> Command {
    Command {
        submit: None,
        respond: None,
        follow: None,
        receive: None,
        answer: None,
        fail: None,
        redeliver: None,
        extend: None,
        settle: None,
        progress: None,
        interrupt: None,
        cancel: None,
        take: None,
        sent: None,
        spawned: None,
        child_ended: None,
        child_waits: None,
    }
}
