//! `session follow`: what happens in a session, as it becomes durable.

use quixos_runtime::{Event, Follow, blocking};
use quixos_session::Logged;
use quixos_session::replay::Happened;
use serde_json::json;

use super::super::follow::next_event;
use super::{find, line};
use crate::language::Named;
use crate::output::{Answer, Output, counted};
use crate::shell::Shell;
use crate::stop::Stop;

/// Prints events, until there were enough, or ctrl-c.
///
/// # Errors
/// That the store cannot be read; `interrupted`.
pub(super) fn follow(
    shell: &Shell,
    session: &Named,
    from: Option<u64>,
    limit: Option<usize>,
    output: &mut Output,
) -> Result<Answer, Stop> {
    let (object, length) = shell.read(|scope| {
        let reader = find(scope, session)?;
        Ok((reader.session().object(), reader.log_len()?))
    })?;
    let mut interrupt = shell.interrupt()?;
    let from = from.unwrap_or(length);
    let mut events: Follow = shell.runtime.stream(object, "events")?.follow(from);
    let mut next = from;
    let mut seen = 0;
    while limit.is_none_or(|limit| seen < limit) {
        let Some(event) = blocking(next_event(&mut events, &mut interrupt))? else { break };
        let logged = logged(&event)?;
        output.print(&Answer::new(line::json(&logged)).pieces(line::pieces(&logged)))?;
        next = event.offset + 1;
        seen += 1;
    }
    Ok(Answer::new(json!({ "next": next }))
        .line(format!("{}; the next is {next}", counted(seen as u64, "event"))))
}

fn logged(event: &Event) -> Result<Logged, Stop> {
    Ok(Logged {
        offset: event.offset,
        instant: event.instant,
        commit: event.commit,
        event: Happened::read(&event.decode()?)?,
    })
}
