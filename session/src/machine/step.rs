//! One step, from the command to what it came to.

use quixos_runtime::CallError;

use super::Machine;
use crate::Sessions;
use crate::sessions::Command;
use crate::sessions::session_apply::{Context, Handler, Input, Output};
use crate::status::SYSTEM;

impl Handler for Sessions {
    fn handle(cx: &Context<'_>, command: Input) -> Result<Output, CallError> {
        let mut machine = Machine::load(cx)?;
        if cx.events().is_empty()? {
            machine.log_session_created()?;
            machine.raise_start()?;
        }
        machine.reporting = command.child_ended.as_ref().map(|child| child.session.clone());
        // Whatever ends in this step, the parent brings it about, in the middle of its own.
        machine.silent = command
            .cancel
            .as_ref()
            .is_some_and(|cancel| cancel.turn.is_none() && cancel.by.class == SYSTEM);
        if let Some(child) = &command.child_waits {
            machine.child_waits(child)?;
            machine.tell_what_waits()?;
            return machine.store();
        }
        machine.note_blocks(&command)?;
        machine.look_for_cancel()?;
        machine.look_for_answers()?;
        machine.expire()?;
        machine.obey(command)?;
        machine.settle_down()?;
        machine.mirror_status()?;
        machine.tell_what_waits()?;
        machine.store()
    }
}

impl Machine<'_, '_> {
    /// Does what a command says; one without a field says nothing.
    fn obey(&mut self, command: Command) -> Result<(), CallError> {
        match command {
            Command { submit: Some(submit), .. } => self.submit(submit),
            Command { receive: Some(receive), .. } => self.receive(receive),
            Command { respond: Some(respond), .. } => self.respond(respond),
            Command { follow: Some(follow), .. } => self.follow(follow),
            Command { answer: Some(answer), .. } => self.answer(&answer),
            Command { fail: Some(failure), .. } => self.fail(&failure),
            Command { redeliver: Some(delivery), .. } => self.redeliver(&delivery),
            Command { extend: Some(delivery), .. } => self.extend(&delivery),
            Command { settle: Some(settle), .. } => self.settle_call(&settle),
            Command { progress: Some(progress), .. } => self.progress(&progress),
            Command { interrupt: Some(interrupt), .. } => self.interrupt(interrupt),
            Command { cancel: Some(cancel), .. } => self.cancel(cancel),
            Command { take: Some(take), .. } => self.take(&take),
            Command { sent: Some(sent), .. } => self.sent(&sent),
            Command { spawned: Some(spawned), .. } => self.spawned(&spawned),
            Command { child_ended: Some(child), .. } => self.child_ended(&child),
            Command { child_ended: None, .. } => Ok(()),
        }
    }
}
