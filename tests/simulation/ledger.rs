//! What really happened, in the order in which it did: each call that reaches the store is held to
//! what was done before it.

use std::collections::{BTreeMap, BTreeSet};

use quixos_package::agent_runtime::{AgentQuestionObject, RequestState};
use quixos_runtime::{Fence, ObjectRef, Ref};

use super::Totals;
use super::call::{Call, Reply};
use crate::support::{Desk, Request};

/// Kinds of keys that hold objects, their state and edges, and streams.
const OBJECTS: std::ops::RangeInclusive<u8> = 0x10..=0x2F;

#[derive(Default)]
pub(super) struct Ledger {
    /// What was admitted.
    pub(super) requests: Vec<Request>,
    /// What was asked, of which request and under which fence.
    pub(super) questions: Vec<(Request, Ref<AgentQuestionObject>, Fence)>,
    /// The fence of the newest claim of each request.
    newest: BTreeMap<ObjectRef, Fence>,
    pub(super) ended: BTreeSet<ObjectRef>,
    told: BTreeSet<ObjectRef>,
}

pub(super) fn is_terminal(status: &str) -> bool {
    ["completed", "failed", "cancelled"].contains(&status)
}

impl Ledger {
    /// Does a call and holds it to what was done before.
    pub(super) async fn execute(&mut self, desk: &Desk, call: &Call, totals: &mut Totals) -> Reply {
        let Some((request, fence)) = call.about() else { return call.perform(desk).await };
        let newest = self.newest.get(&request.object());
        let is_stale = fence.is_some_and(|fence| newest.is_some_and(|newest| newest != fence));
        let kept = if is_stale { Some(objects(desk).await) } else { None };
        let before = desk.progress(request).await;
        let reply = call.perform(desk).await;
        let after = desk.progress(request).await;
        if let Some(kept) = kept {
            totals.stale += 1;
            let is_refused = matches!(&reply, Reply::Done(false))
                || matches!(&reply, Reply::Failed(error) if error.code() == "stale-fence");
            assert!(is_refused, "{call:?} after {newest:?}: {reply:?}");
            assert!(kept == objects(desk).await, "{call:?} after {newest:?} left a trace");
        }
        self.follow(call, &reply, &before, &after, totals);
        reply
    }

    fn follow(
        &mut self,
        call: &Call,
        reply: &Reply,
        before: &RequestState,
        after: &RequestState,
        totals: &mut Totals,
    ) {
        assert!(after.generation >= before.generation, "{call:?}: {before:?}, {after:?}");
        if is_terminal(&before.status) {
            let told = RequestState { notification_pending: false, ..before.clone() };
            assert!(after == before || *after == told, "{call:?}: {before:?}, {after:?}");
        }
        if after.generation == before.generation {
            assert_eq!(after.attempt, before.attempt, "a generation is one attempt's: {call:?}");
        }
        match (call, reply) {
            (Call::Claim { request, attempt, expected, recover, .. }, Reply::Claim(output)) => {
                assert_eq!(output.generation, after.generation);
                let fence = Fence { attempt: attempt.clone(), generation: output.generation };
                if output.claimed && before.generation == after.generation {
                    assert_eq!(self.newest[&request.object()], fence, "claimed without a claim");
                } else if output.claimed {
                    assert_eq!(after.generation, before.generation + 1);
                    assert_eq!(before.generation, *expected, "claimed by who had not seen it");
                    totals.claims += 1;
                    totals.takeovers += u64::from(*recover);
                    self.newest.insert(request.object(), fence);
                } else {
                    assert_eq!(before, after, "not claimed, and changed");
                }
            }
            (Call::Ask { request, fence, .. }, Reply::Asked(question)) => {
                self.questions.push((*request, *question, fence.clone()));
            }
            (Call::Publish { request }, Reply::Done(true)) => {
                assert!(self.told.insert(request.object()), "told twice: {request:?}");
            }
            _ => {}
        }
        if let Some((request, _)) = call.about()
            && is_terminal(&after.status)
            && !is_terminal(&before.status)
        {
            assert!(self.ended.insert(request.object()), "ended twice: {request:?}");
        }
    }
}

/// Reads all that is stored of objects.
async fn objects(desk: &Desk) -> Vec<(Vec<u8>, Vec<u8>)> {
    let entries = desk.world.runtime.read(|snapshot| snapshot.entries(None, usize::MAX));
    let entries = entries.await.unwrap().into_iter();
    let of_objects = entries.filter(|(key, _)| OBJECTS.contains(&key[0]));
    of_objects.map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
}
