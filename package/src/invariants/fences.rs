//! A generation belongs to one attempt, and none is above that of the request.
//!
//! A queued request has no attempt and generation 0, and one that runs or waits has both. What an
//! attempt left behind, a question or the control of an item, bears its fence: of a generation
//! that is not above the request's, and of the request's own attempt where it is the same.

use quixos_runtime::verify::Finding;
use quixos_runtime::{CallError, Fence, ObjectRef, Ref, Snapshot};

use super::reading::{Walk, each, place, state};
use crate::agent_runtime::{AgentRequestObject, ItemData, QuestionData, RequestState};
use crate::status::Status;
use crate::{fence, item, question};

/// Checks each request.
pub(super) fn check(
    snapshot: &Snapshot<'_>,
    found: &mut dyn FnMut(Finding),
) -> Result<(), CallError> {
    each(snapshot, |request| check_one(snapshot, request, found))
}

fn check_one(
    snapshot: &Snapshot<'_>,
    request: Ref<AgentRequestObject>,
    found: &mut dyn FnMut(Finding),
) -> Result<(), CallError> {
    let progress: RequestState = state(snapshot, request, "progress")?;
    let status = Status::of(&progress)?;
    let own = fence::stored(&progress);
    let is_nobodys = own.attempt.is_empty() && own.generation == 0;
    let is_somebodys = !own.attempt.is_empty() && own.generation > 0;
    if (status == Status::Queued && !is_nobodys) || (status.is_held() && !is_somebodys) {
        let message = format!("is `{}` under the fence {own}", progress.status);
        found(Finding::breach(place(snapshot, request), message));
    }
    let mut check_left = |object: ObjectRef, left: &Fence| {
        let is_foreign = left.generation == own.generation && left.attempt != own.attempt;
        if left.generation > own.generation || is_foreign {
            let message = format!("bears the fence {left}, and its request {own}");
            found(Finding::breach(place(snapshot, object), message));
        }
    };
    let mut questions = Walk::new(snapshot, request, "questions");
    while let Some(object) = questions.next()? {
        let data: QuestionData = state(snapshot, object, "data")?;
        check_left(object, &question::fence(&data));
    }
    let mut items = Walk::new(snapshot, request, "items");
    while let Some(object) = items.next()? {
        let data: ItemData = state(snapshot, object, "data")?;
        if let Some(left) = item::control_fence(&data) {
            check_left(object, &left);
        }
    }
    Ok(())
}
