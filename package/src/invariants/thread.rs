//! A thread counts its requests that have not ended, is at no more than one of them, and gives each
//! place for an item once.
//!
//! The request that it is at is running or waiting, and every one that is, is it. The places of its
//! items grow in the order of creation, and all lie before the next that it will give.

use quixos_runtime::verify::Finding;
use quixos_runtime::{CallError, Ref, Snapshot};

use super::reading::{Walk, each, place, state, target};
use crate::agent_runtime::{AgentThreadObject, ItemData, RequestState, ThreadData};
use crate::status::Status;

/// Checks each thread.
pub(super) fn check(
    snapshot: &Snapshot<'_>,
    found: &mut dyn FnMut(Finding),
) -> Result<(), CallError> {
    each(snapshot, |thread| {
        let data: ThreadData = state(snapshot, thread, "data")?;
        check_requests(snapshot, thread, &data, found)?;
        check_items(snapshot, thread, &data, found)
    })
}

fn check_requests(
    snapshot: &Snapshot<'_>,
    thread: Ref<AgentThreadObject>,
    data: &ThreadData,
    found: &mut dyn FnMut(Finding),
) -> Result<(), CallError> {
    let active = target(snapshot, thread, "active")?;
    let mut pending: u64 = 0;
    let mut active_is_held = false;
    let mut requests = Walk::new(snapshot, thread, "requests");
    while let Some(request) = requests.next()? {
        let progress: RequestState = state(snapshot, request, "progress")?;
        let status = Status::of(&progress)?;
        pending += u64::from(!status.is_terminal());
        if status.is_held() && active == Some(request) {
            active_is_held = true;
        } else if status.is_held() {
            let message = format!("is `{}`, and its thread is not at it", progress.status);
            found(Finding::breach(place(snapshot, request), message));
        }
    }
    let mut breach = |message| found(Finding::breach(place(snapshot, thread), message));
    if let Some(active) = active.filter(|_| !active_is_held) {
        let active = place(snapshot, active);
        breach(format!("is at {active}, which is no request of it that runs or waits"));
    }
    if u64::from(data.pending) != pending {
        breach(format!("`pending` is {}, its requests make {pending}", data.pending));
    }
    Ok(())
}

fn check_items(
    snapshot: &Snapshot<'_>,
    thread: Ref<AgentThreadObject>,
    data: &ThreadData,
    found: &mut dyn FnMut(Finding),
) -> Result<(), CallError> {
    let mut before = 0;
    let mut items = Walk::new(snapshot, thread, "items");
    while let Some(item) = items.next()? {
        let sequence = state::<ItemData>(snapshot, item, "data")?.sequence;
        if sequence <= before || sequence >= data.next_item {
            let message = format!(
                "its sequence {sequence} does not lie between {before}, that of the item before \
                 it, and {}, the next of its thread",
                data.next_item,
            );
            found(Finding::breach(place(snapshot, item), message));
        }
        before = sequence;
    }
    Ok(())
}
