//! `request_claim`

use quixos_package::agent_runtime::{
    RequestState, directory_reconcile_repair, request_claim, request_finish,
};

use crate::support::{
    Desk, Request, WORKER, claim, finish, invalid_at, minute, repair, takeover, transition,
};

async fn claimed(desk: &Desk, request: Request, input: &request_claim::Input) -> u32 {
    let output = desk.request(request).claim(input).await.unwrap();
    assert!(output.claimed);
    output.generation
}

async fn refused(desk: &Desk, request: Request, input: &request_claim::Input) -> u32 {
    let output = desk.world.keeps(desk.request(request).claim(input)).await;
    assert!(!output.claimed);
    output.generation
}

#[tokio::test]
async fn claim_takes_a_queued_request() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    let before = desk.progress(request).await;
    assert_eq!(claimed(&desk, request, &claim(WORKER, 0)).await, 1);
    let running = RequestState {
        status: "running".to_owned(),
        attempt: WORKER.to_owned(),
        generation: 1,
        started_at: Some(minute(1)),
        ..before
    };
    assert_eq!(desk.progress(request).await, running);
    assert_eq!(desk.thread().active().await.unwrap(), Some(request));
    desk.world.verify().await;
}

#[tokio::test]
async fn claim_whose_answer_was_lost_can_be_asked_for_again() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    for again in [claim(WORKER, 0), takeover(WORKER, 0)] {
        let output = desk.world.keeps(desk.request(request).claim(&again)).await;
        assert_eq!((output.claimed, output.generation), (true, 1));
    }
    // Also while it waits, which it goes on doing.
    assert!(desk.request(request).transition(&transition("waiting", "for lunch")).await.unwrap());
    let output = desk.world.keeps(desk.request(request).claim(&claim(WORKER, 0))).await;
    assert_eq!((output.claimed, output.generation), (true, 1));
}

#[tokio::test]
async fn claim_of_a_request_that_another_holds_is_refused() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    assert_eq!(refused(&desk, request, &claim("worker-2", 0)).await, 1);
    assert_eq!(refused(&desk, request, &claim("worker-2", 1)).await, 1);
    // The same worker at the generation that it has did not lose an answer.
    assert_eq!(refused(&desk, request, &claim(WORKER, 1)).await, 1);
}

#[tokio::test]
async fn claim_to_recover_takes_over_what_runs_or_waits() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let input = request_claim::Input { started_at: minute(3), ..takeover("worker-2", 1) };
    assert_eq!(claimed(&desk, request, &input).await, 2);
    let taken = desk.progress(request).await;
    assert_eq!((taken.attempt.as_str(), taken.generation, taken.retry_count), ("worker-2", 2, 1));
    assert_eq!(taken.started_at, Some(minute(3)));
    // What the first worker says no longer counts.
    assert!(!desk.world.keeps(desk.request(request).finish(&finish("completed"))).await);

    let waiting = quixos_package::agent_runtime::request_transition::Input {
        attempt: "worker-2".to_owned(),
        generation: 2,
        ..transition("waiting", "for lunch")
    };
    assert!(desk.request(request).transition(&waiting).await.unwrap());
    // The same worker takes over from itself, as after a restart.
    assert_eq!(claimed(&desk, request, &takeover("worker-2", 2)).await, 3);
    let taken = desk.progress(request).await;
    assert_eq!((taken.status.as_str(), taken.reason.as_str()), ("running", ""));
    assert_eq!(taken.retry_count, 2);
    desk.world.verify().await;
}

#[tokio::test]
async fn claim_keeps_the_wish_to_cancel() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    assert!(desk.request(request).cancel().await.unwrap());
    claimed(&desk, request, &takeover("worker-2", 1)).await;
    assert!(desk.progress(request).await.cancel_requested);
}

#[tokio::test]
async fn claim_to_recover_a_queued_request_is_no_retry() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    claimed(&desk, request, &takeover(WORKER, 0)).await;
    assert_eq!(desk.progress(request).await.retry_count, 0);
}

#[tokio::test]
async fn claim_at_another_generation_is_refused() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    assert_eq!(refused(&desk, request, &claim(WORKER, 1)).await, 0);
    let request = desk.running().await;
    for expected in [0, 2, u32::MAX] {
        assert_eq!(refused(&desk, request, &takeover("worker-2", expected)).await, 1);
    }
}

#[tokio::test]
async fn claim_of_what_has_ended_is_refused() {
    let desk = Desk::new().await;
    let request = desk.finished("completed").await;
    // Not even its last holder, whose answer may have been lost.
    for input in [claim(WORKER, 0), claim(WORKER, 1), takeover("worker-2", 1)] {
        assert_eq!(refused(&desk, request, &input).await, 1);
    }
}

#[tokio::test]
async fn claim_waits_for_the_thread() {
    let desk = Desk::new().await;
    let first = desk.running().await;
    let second = desk.queued().await;
    assert_eq!(refused(&desk, second, &claim("worker-2", 0)).await, 0);
    assert!(desk.request(first).finish(&finish("failed")).await.unwrap());
    assert_eq!(claimed(&desk, second, &claim("worker-2", 0)).await, 1);
}

#[tokio::test]
async fn claim_at_the_last_generation_reaches_a_limit() {
    let desk = Desk::new().await;
    let generation = u32::MAX;
    let last = directory_reconcile_repair::Input { generation, ..repair("r1") };
    let request = desk.directory().reconcile_repair(&last).await.unwrap();
    let call = desk.request(request);
    // A lost reply and a stale expectation are answered before that.
    let again = desk.world.keeps(call.claim(&claim(WORKER, u32::MAX - 1))).await;
    assert!(again.claimed);
    assert_eq!(refused(&desk, request, &takeover("worker-2", 0)).await, generation);
    let error = desk.world.fails(call.claim(&takeover("worker-2", u32::MAX))).await;
    assert_eq!(error.code(), "limit");
    let end = request_finish::Input { generation, ..finish("failed") };
    assert!(call.finish(&end).await.unwrap());
}

#[tokio::test]
async fn claim_without_an_attempt_is_invalid_before_all_else() {
    let desk = Desk::new().await;
    let request = desk.finished("completed").await;
    let error = desk.world.fails(desk.request(request).claim(&claim("", 0))).await;
    assert_eq!(invalid_at(error), "attempt");
    let input = request_claim::Input { started_at: "soon".to_owned(), ..claim(WORKER, 0) };
    let error = desk.world.fails(desk.request(request).claim(&input)).await;
    assert_eq!(invalid_at(error), "startedAt");
}
