//! `directory_reconcileRepair`

use quixos_package::agent_runtime::{
    AgentDirectory, RequestData, RequestState, directory_reconcile_repair, item_checkpoint,
    request_finish,
};
use quixos_runtime::CallError;

use crate::support::{
    Desk, WORKER, bare_directory, claim, finish, invalid_at, item, minute, repair, takeover,
};

type Repair = directory_reconcile_repair::Input;

#[tokio::test]
async fn reconcile_repair_records_a_request_that_runs() {
    let desk = Desk::with(r#"{"limits":{"maxPending":0}}"#).await; // No check of capacity.
    let before = (desk.directory_data().await, desk.thread_data().await);
    let request = desk.directory().reconcile_repair(&repair("r1")).await.unwrap();

    let sequence = before.0.sequence + 1;
    let configuration = r#"{ "profile": "fast" }"#.to_owned();
    let admission = RequestData {
        text: "Mend the page".to_owned(),
        data: None,
        configuration_digest: blake3::hash(configuration.as_bytes()).to_hex().to_string(),
        configuration,
        response_kind: "text".to_owned(),
        sequence,
        created_at: minute(1),
        source_kind: "repair".to_owned(),
        source_label: "r1".to_owned(),
        publication: Some("page-1".to_owned()),
        causal_depth: 0,
        interactive: false,
    };
    assert_eq!(desk.admission(request).await, admission);
    let progress = RequestState {
        status: "running".to_owned(),
        attempt: WORKER.to_owned(),
        generation: 4,
        reason: String::new(),
        result: None,
        raw_output: None,
        usage: None,
        started_at: Some(minute(2)),
        ended_at: None,
        cancel_requested: false,
        retry_count: 0,
        notification_pending: false,
    };
    assert_eq!(desk.progress(request).await, progress);

    let directory = desk.directory_data().await;
    assert_eq!(
        (directory.sequence, directory.pending, directory.ordinary_pending),
        (sequence, 1, 1)
    );
    assert_eq!(desk.directory().repairs().await.unwrap(), [("r1".to_owned(), request)]);
    assert_eq!(desk.directory().pending().await.unwrap(), [request]);
    let thread = desk.thread_data().await;
    assert_eq!((thread.pending, thread.sequence), (1, before.1.sequence + 1));
    assert_eq!(thread.updated_at, minute(3));
    assert_eq!(desk.thread().active().await.unwrap(), Some(request));

    let items = desk.request(request).items().await.unwrap();
    let [(key, prompt)] = items.as_slice() else { panic!("{items:?}") };
    let prompt = desk.item_data(*prompt).await;
    assert_eq!((key.as_str(), prompt.kind.as_str(), prompt.sequence), ("prompt", "input", 1));
    assert_eq!((prompt.created_at, prompt.version), (minute(1), 1));
    assert!(desk.request(request).contexts().await.unwrap().is_empty());
    assert_eq!(desk.request(request).root().await.unwrap(), None);
    desk.world.verify().await;
}

#[tokio::test]
async fn reconcile_repair_again_answers_the_same_request() {
    let desk = Desk::new().await;
    let request = desk.directory().reconcile_repair(&repair("r1")).await.unwrap();
    // The attempt is not part of what makes it the same, nor is it checked again.
    for again in [
        repair("r1"),
        Repair {
            attempt: "other".to_owned(),
            generation: 9,
            created_at: minute(9),
            ..repair("r1")
        },
        Repair { attempt: String::new(), generation: 0, ..repair("r1") },
    ] {
        assert_eq!(desk.world.keeps(desk.directory().reconcile_repair(&again)).await, request);
    }
    // Nor does it matter what has become of it, or of the thread.
    let end = request_finish::Input { generation: 4, ..finish("completed") };
    assert!(desk.request(request).finish(&end).await.unwrap());
    desk.thread().archive(true).await.unwrap();
    assert_eq!(desk.world.keeps(desk.directory().reconcile_repair(&repair("r1"))).await, request);
}

#[tokio::test]
async fn reconcile_repair_of_a_known_key_with_other_content_is_a_conflict() {
    let desk = Desk::new().await;
    desk.directory().reconcile_repair(&repair("r1")).await.unwrap();
    let other = || "other".to_owned();
    for again in [
        Repair { text: other(), ..repair("r1") },
        Repair { configuration: r#"{"profile":"fast"}"#.to_owned(), ..repair("r1") },
        Repair { publication: other(), ..repair("r1") },
        Repair { text: other(), attempt: String::new(), ..repair("r1") },
    ] {
        let error = desk.world.fails(desk.directory().reconcile_repair(&again)).await;
        assert_eq!(error.code(), "conflict");
    }
}

#[tokio::test]
async fn reconcile_repair_refuses_an_empty_attempt_and_generation_zero() {
    let desk = Desk::new().await;
    // Both come before an archived thread.
    desk.thread().archive(true).await.unwrap();
    let nameless = Repair { attempt: String::new(), generation: 0, ..repair("r1") };
    let error = desk.world.fails(desk.directory().reconcile_repair(&nameless)).await;
    assert_eq!(invalid_at(error), "attempt");
    let zeroth = Repair { generation: 0, ..repair("r1") };
    let error = desk.world.fails(desk.directory().reconcile_repair(&zeroth)).await;
    assert_eq!(invalid_at(error), "generation");
}

#[tokio::test]
async fn reconcile_repair_is_unavailable_before_the_directory_is_initialized() {
    let (world, directory) = bare_directory().await;
    let client = AgentDirectory::on(&world.session, directory);
    let error = world.fails(client.reconcile_repair(&repair("r1"))).await;
    assert_eq!(error.code(), "unavailable");
    assert!(error.to_string().contains("default agent"), "the first that is missing: {error}");
    // What the attempt is comes before.
    let zeroth = Repair { generation: 0, ..repair("r1") };
    let error = world.fails(client.reconcile_repair(&zeroth)).await;
    assert_eq!(invalid_at(error), "generation");
}

#[tokio::test]
async fn reconcile_repair_refuses_an_archived_thread_before_a_busy_one() {
    let desk = Desk::new().await;
    desk.running().await;
    desk.thread().archive(true).await.unwrap();
    let error = desk.world.fails(desk.directory().reconcile_repair(&repair("r1"))).await;
    assert_eq!(error, CallError::refused("thread-archived"));
}

#[tokio::test]
async fn reconcile_repair_of_a_busy_thread_is_busy_and_leaves_nothing() {
    let desk = Desk::new().await;
    let running = desk.running().await;
    let error = desk.world.fails(desk.directory().reconcile_repair(&repair("r1"))).await;
    assert_eq!(error.code(), "busy");
    assert!(desk.request(running).finish(&finish("completed")).await.unwrap());
    desk.directory().reconcile_repair(&repair("r1")).await.unwrap();
}

#[tokio::test]
async fn reconcile_repair_may_wait_behind_what_is_queued() {
    let desk = Desk::new().await;
    let queued = desk.queued().await;
    desk.directory().reconcile_repair(&repair("r1")).await.unwrap();
    assert!(!desk.request(queued).claim(&claim("other", 0)).await.unwrap().claimed);
    desk.world.verify().await;
}

#[tokio::test]
async fn reconcile_repair_checks_each_time_before_the_key() {
    let desk = Desk::new().await;
    desk.directory().reconcile_repair(&repair("r1")).await.unwrap();
    let bad = || "then".to_owned();
    for (input, path) in [
        (Repair { created_at: bad(), ..repair("r1") }, "createdAt"),
        (Repair { confirmed_at: bad(), ..repair("r1") }, "confirmedAt"),
        (Repair { started_at: bad(), ..repair("r1") }, "startedAt"),
    ] {
        let error = desk.world.fails(desk.directory().reconcile_repair(&input)).await;
        assert_eq!(invalid_at(error), path);
    }
}

#[tokio::test]
async fn a_repair_goes_on_like_any_request_that_is_held() {
    let desk = Desk::new().await;
    let request = desk.directory().reconcile_repair(&repair("r1")).await.unwrap();
    // Its item has version 1, and its fence is the one that it was recorded under.
    let prompt = desk.request(request).items().await.unwrap()[0].1;
    let checkpoint =
        item_checkpoint::Input { attempt: WORKER.to_owned(), generation: 4, data: item("x", 2) };
    desk.item(prompt).checkpoint(&checkpoint).await.unwrap();
    let taken = desk.request(request).claim(&takeover("worker-2", 4)).await.unwrap();
    assert_eq!((taken.claimed, taken.generation), (true, 5));
    desk.world.verify().await;
}
