//! A directory's numbers are those of its requests.
//!
//! `pending` is the number of requests that have not ended, and those are the targets of the edge
//! `pending`; `ordinaryPending` the number of those that are not interactive; and
//! `notificationPending` the number of requests that have ended and whose end is still to be told,
//! which are the targets of `notifications`. The sequences of requests are unique: they grow in
//! the order of creation, and none is above the directory's.

use quixos_runtime::verify::Finding;
use quixos_runtime::{CallError, ObjectRef, Ref, Snapshot};

use super::reading::{Walk, each, place, state};
use crate::agent_runtime::{AgentDirectoryObject, DirectoryData, RequestData, RequestState};
use crate::status::Status;

/// Checks each directory.
pub(super) fn check(
    snapshot: &Snapshot<'_>,
    found: &mut dyn FnMut(Finding),
) -> Result<(), CallError> {
    each(snapshot, |directory| check_one(snapshot, directory, found))
}

fn check_one(
    snapshot: &Snapshot<'_>,
    directory: Ref<AgentDirectoryObject>,
    found: &mut dyn FnMut(Finding),
) -> Result<(), CallError> {
    let data: DirectoryData = state(snapshot, directory, "data")?;
    let mut pending = Beside::new(Walk::new(snapshot, directory, "pending"))?;
    let mut notifications = Beside::new(Walk::new(snapshot, directory, "notifications"))?;
    let mut counted = Counted::default();
    let mut sequence = 0;
    let mut requests = Walk::new(snapshot, directory, "requests");
    while let Some(request) = requests.next()? {
        let admission: RequestData = state(snapshot, request, "admission")?;
        let progress: RequestState = state(snapshot, request, "progress")?;
        let mut breach =
            |message: String| found(Finding::breach(place(snapshot, request), message));
        if admission.sequence <= sequence || admission.sequence > data.sequence {
            breach(format!(
                "its sequence {} does not lie between {sequence}, that of the request before it, \
                 and {}, its directory's",
                admission.sequence, data.sequence,
            ));
        }
        sequence = admission.sequence;
        let has_ended = Status::of(&progress)?.is_terminal();
        if !has_ended {
            counted.pending += 1;
            counted.ordinary += u64::from(!admission.interactive);
        }
        if progress.notification_pending && !has_ended {
            breach(format!("is `{}`, and its end is to be told", progress.status));
        }
        let is_untold = has_ended && progress.notification_pending;
        counted.notifications += u64::from(is_untold);
        for (edge, name, should) in [
            (&mut pending, "pending", !has_ended),
            (&mut notifications, "notifications", is_untold),
        ] {
            if edge.reaches(request)? != should {
                let is = if should { "is not" } else { "is" };
                breach(format!("is `{}`, and {is} in its directory's `{name}`", progress.status));
            }
        }
    }
    let mut breach = |name: &str, said: u32, counted: u64, edge: Option<u64>| {
        if u64::from(said) != counted || edge.is_some_and(|edge| edge != counted) {
            let edge = edge.map(|edge| format!(", its edge leads to {edge}")).unwrap_or_default();
            let message = format!("`{name}` is {said}, its requests make {counted}{edge}");
            found(Finding::breach(place(snapshot, directory), message));
        }
    };
    breach("pending", data.pending, counted.pending, Some(pending.end()?));
    breach("ordinaryPending", data.ordinary_pending, counted.ordinary, None);
    let told = notifications.end()?;
    breach("notificationPending", data.notification_pending, counted.notifications, Some(told));
    Ok(())
}

/// What the requests of a directory come to.
#[derive(Default)]
struct Counted {
    pending: u64,
    ordinary: u64,
    notifications: u64,
}

/// An edge that is walked beside another, in the same order.
struct Beside<'a> {
    walk: Walk<'a>,
    next: Option<ObjectRef>,
    passed: u64,
}

impl<'a> Beside<'a> {
    fn new(mut walk: Walk<'a>) -> Result<Self, CallError> {
        let next = walk.next()?;
        Ok(Self { walk, next, passed: 0 })
    }

    /// Goes past all that come before an object and the object itself, and tells whether that was
    /// there.
    fn reaches(&mut self, object: ObjectRef) -> Result<bool, CallError> {
        while let Some(next) = self.next.filter(|next| next.id <= object.id) {
            self.step()?;
            if next == object {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes to the end, and returns how many there were.
    fn end(mut self) -> Result<u64, CallError> {
        while self.next.is_some() {
            self.step()?;
        }
        Ok(self.passed)
    }

    fn step(&mut self) -> Result<(), CallError> {
        self.passed += 1;
        self.next = self.walk.next()?;
        Ok(())
    }
}
