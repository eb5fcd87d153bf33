//! What an owner does with a session as with a thing on a shelf: names it, puts it away.
//!
//! Title and archive are the thread's, so that whoever knows AgentRuntime sees the same.

use quixos_runtime::CallError;

use crate::Sessions;
use crate::owner;
use crate::refusal::Refusal;
use crate::sessions::{session_archive, session_rename};

impl session_rename::Handler for Sessions {
    fn handle(
        cx: &session_rename::Context<'_>,
        input: session_rename::Input,
    ) -> Result<session_rename::Output, CallError> {
        owner::require(&cx.binding().read()?, &input.by)?;
        let thread = cx.thread().resolve()?;
        cx.conversation(thread).rename(&input.title)
    }
}

impl session_archive::Handler for Sessions {
    fn handle(
        cx: &session_archive::Context<'_>,
        input: session_archive::Input,
    ) -> Result<session_archive::Output, CallError> {
        owner::require(&cx.binding().read()?, &input.by)?;
        // A session that is cancelled stays put away.
        if cx.data().read()?.cancelled && !input.archived {
            return Err(Refusal::Cancelled.into());
        }
        let thread = cx.thread().resolve()?;
        cx.conversation(thread).archive(input.archived)
    }
}
