//! Each request is on its agent's stream at most once, as it ended, and not while its end is still
//! to be told.
//!
//! A stream can be longer than memory, so that none is told twice is checked a window at a time:
//! the events of a window are compared with each other and with all that follow.

use std::collections::BTreeSet;

use quixos_runtime::verify::Finding;
use quixos_runtime::{Atom, CallError, ObjectRef, Ref, Snapshot};

use super::reading::{each, place, state, target};
use crate::agent_runtime::{
    AgentCompletion, AgentCompletionStreamObject, AgentObject, AgentRequestObject, RequestState,
};
use crate::status::Status;

/// How many events are read at a time.
const PAGE: usize = 256;

/// How many events are compared with those that follow at a time: some megabytes of references.
const WINDOW: u64 = 1 << 16;

/// The stream slot of a completion stream.
const EVENTS: &str = "events";

/// Checks the stream of each agent.
pub(super) fn check(
    snapshot: &Snapshot<'_>,
    found: &mut dyn FnMut(Finding),
) -> Result<(), CallError> {
    each(snapshot, |agent: Ref<AgentObject>| {
        // Any atom may implement the stream; what is in others than ours, we cannot say.
        let Some(stream) = target(snapshot, agent, "completions")? else { return Ok(()) };
        if stream.atom != AgentCompletionStreamObject::TAG {
            return Ok(());
        }
        check_events(snapshot, agent, stream, found)?;
        check_repetitions(snapshot, stream, found)
    })
}

fn check_events(
    snapshot: &Snapshot<'_>,
    agent: Ref<AgentObject>,
    stream: ObjectRef,
    found: &mut dyn FnMut(Finding),
) -> Result<(), CallError> {
    read(snapshot, stream, 0, |offset, event| {
        if let Some(message) = fault(snapshot, agent, &event)? {
            let place = format!("event {offset} of {}", place(snapshot, stream));
            found(Finding::breach(place, message));
        }
        Ok(())
    })
}

/// Says what is wrong with an event.
fn fault(
    snapshot: &Snapshot<'_>,
    agent: Ref<AgentObject>,
    event: &AgentCompletion,
) -> Result<Option<String>, CallError> {
    let progress: RequestState = state(snapshot, event.request, "progress")?;
    let thread = target(snapshot, event.request, "thread")?;
    let of = target(snapshot, event.thread, "agent")?;
    Ok(if thread != Some(event.thread.into()) || of != Some(agent.into()) {
        Some("is of a thread that is not its request's, or not its agent's".to_owned())
    } else if progress.status != event.status || !Status::of(&progress)?.is_terminal() {
        Some(format!("says `{}`, and its request is `{}`", event.status, progress.status))
    } else if progress.notification_pending {
        Some("is there, and its request says that it is still to be told".to_owned())
    } else {
        None
    })
}

fn check_repetitions(
    snapshot: &Snapshot<'_>,
    stream: ObjectRef,
    found: &mut dyn FnMut(Finding),
) -> Result<(), CallError> {
    let length = snapshot.stream_len(stream, EVENTS)?;
    for start in (0..length).step_by(WINDOW as usize) {
        let mut window: BTreeSet<Ref<AgentRequestObject>> = BTreeSet::new();
        read(snapshot, stream, start, |offset, event| {
            let is_repeated = if offset < start + WINDOW {
                !window.insert(event.request)
            } else {
                window.contains(&event.request)
            };
            if is_repeated {
                let place = format!("event {offset} of {}", place(snapshot, stream));
                let message = format!("tells the end of {} again", event.request);
                found(Finding::breach(place, message));
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Does something with each event from an offset on.
fn read(
    snapshot: &Snapshot<'_>,
    stream: ObjectRef,
    mut from: u64,
    mut visit: impl FnMut(u64, AgentCompletion) -> Result<(), CallError>,
) -> Result<(), CallError> {
    loop {
        let page = snapshot.events(stream, EVENTS, from, PAGE)?;
        let Some(last) = page.last() else { return Ok(()) };
        from = last.offset + 1;
        for event in page {
            visit(event.offset, event.decode()?)?;
        }
    }
}
