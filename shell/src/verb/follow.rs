//! `follow`, and moving a cursor: what waits for events, and what keeps how far a reader has come.

use quixos_runtime::{CallError, Event, Follow, blocking};
use serde_json::json;

use super::stream::{cursor as stands, event_json, event_row, event_type};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::language::{Flags, Path};
use crate::output::{Answer, Output, counted};
use crate::scope::span_of;
use crate::shell::Shell;
use crate::stop::Stop;

/// Prints events as they become durable, until there were enough, or ctrl-c.
///
/// # Errors
/// That the store cannot be read; [`Exit::Interrupted`].
pub(crate) fn follow(
    shell: &Shell,
    path: &Path,
    from: Option<u64>,
    limit: Option<usize>,
    output: &mut Output,
) -> Result<Answer, Stop> {
    let (object, name, ty) = shell.read(|scope| {
        let (object, name) = scope.stream(path)?;
        let ty = event_type(scope, object, &name)?;
        Ok((object, name, ty))
    })?;
    let stream = shell.runtime.stream(object, &name)?;
    let from = match from {
        Some(from) => from,
        None => blocking(stream.len())?,
    };
    let mut interrupt = shell.interrupt()?;
    let mut events = stream.follow(from);
    let mut next = from;
    let mut seen = 0;
    while limit.is_none_or(|limit| seen < limit) {
        let Some(event) = blocking(next_event(&mut events, &mut interrupt))? else { break };
        let definitions = shell.runtime.definitions();
        let layout = quixos_runtime::Layout::of(definitions, &ty);
        let value = quixos_runtime::Value::decode(&event.bytes, &layout)
            .map_err(|error| error.corrupt(format_args!("event {} of `{name}`", event.offset)))?
            .to_json(&layout, definitions);
        let line = event_row(&event, &value).join("  ");
        output.print(&Answer::new(event_json(&event, &value)).line(line))?;
        next = event.offset + 1;
        seen += 1;
    }
    Ok(Answer::new(json!({ "next": next }))
        .line(format!("{}; the next is {next}", counted(seen as u64, "event"))))
}

/// Waits for an event and for ctrl-c at once.
pub(super) async fn next_event(
    events: &mut Follow,
    interrupt: &mut Interrupt,
) -> Result<Option<Event>, Stop> {
    tokio::select! {
        biased;
        () = interrupt.pressed() => Err(Failure::said(Exit::Interrupted).into()),
        event = events.next() => Ok(event?),
    }
}

/// Shows a cursor, or moves it first.
///
/// # Errors
/// `invalid` behind the end of the stream; that the store cannot be read or written.
pub(crate) fn cursor(
    shell: &mut Shell,
    path: &Path,
    name: &str,
    advance: Option<u64>,
    flags: Flags,
) -> Result<Answer, Stop> {
    let (object, stream) = shell.read(|scope| scope.stream(path))?;
    if let Some(offset) = advance {
        shell.confirm(
            &format!("move `{name}` to {offset}? Its reader skips what is before"),
            flags,
        )?;
        let handle = shell.runtime.stream(object, &stream)?;
        let moved = blocking(handle.advance(shell.session.caller(), name, offset));
        moved.map_err(|error: CallError| Stop::Call(error, Some((span_of(path), None))))?;
    }
    shell.read(|scope| Ok(stands(scope, object, &stream, name)?))
}
