//! `verify` finds each breach of what always holds.
//!
//! What a caller could break, a caller breaks: an operator with the override, or a host that writes
//! on a completion stream. The rest is written into the store behind the runtime's back.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use quixos_package::agent_runtime::{
    AgentCompletion, AgentData, DirectoryData, EventStream, ItemData, QuestionData, RequestData,
    RequestState, ThreadData,
};
use serde_json::json;

use crate::support::{Desk, Request, World, ask, minute, ordinary, upsert};

/// Returns the one thing that is wrong.
async fn finding(world: &World) -> String {
    let mut findings = world.findings().await;
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}

/// Makes a desk with two requests: one that ended and was told, one that is queued.
async fn desk() -> (Desk, Request, Request) {
    let desk = Desk::new().await;
    let ended = desk.finished("completed").await;
    assert!(desk.request(ended).publish_completion().await.unwrap());
    let queued = desk.admitted(ordinary("Sweep")).await;
    desk.world.verify().await;
    (desk, ended, queued)
}

#[tokio::test]
async fn a_directory_that_counts_wrong_is_found() {
    let (mut desk, ..) = desk().await;
    let right = desk.directory_data().await;
    for (wrong, said) in [
        (DirectoryData { pending: 7, ..right.clone() }, "`pending` is 7, its requests make 1"),
        (DirectoryData { ordinary_pending: 0, ..right.clone() }, "`ordinaryPending` is 0"),
        (DirectoryData { notification_pending: 2, ..right.clone() }, "`notificationPending` is 2"),
        (DirectoryData { sequence: 2, ..right.clone() }, "its sequence 3 does not lie between 2"),
    ] {
        desk.world.rewrite(desk.directory, "data", &wrong);
        let found = finding(&desk.world).await;
        assert!(found.contains("a directory counts its queue"), "{found}");
        assert!(found.contains(said), "{found}");
    }
}

#[tokio::test]
async fn a_request_that_its_directory_lost_is_found() {
    let (desk, _, queued) = desk().await;
    let settle = json!({
        "request": desk.world.text(queued),
        "thread": desk.world.text(desk.thread),
        "interactive": false,
        "notify": true,
    });
    desk.world.internal(desk.directory, "settle", settle).await.unwrap();
    let findings = desk.world.findings().await;
    for said in [
        "is `queued`, and is not in its directory's `pending`",
        "is `queued`, and is in its directory's `notifications`",
        "`pending` is 0, its requests make 1, its edge leads to 0",
        "`ordinaryPending` is 0, its requests make 1",
        "`notificationPending` is 1, its requests make 0, its edge leads to 1",
    ] {
        assert!(findings.iter().any(|found| found.contains(said)), "{said}: {findings:#?}");
    }
}

#[tokio::test]
async fn an_end_that_nobody_will_tell_is_found() {
    let desk = Desk::new().await;
    let ended = desk.world.text(desk.finished("failed").await);
    desk.world.internal(desk.directory, "notificationSent", ended.into()).await.unwrap();
    let findings = desk.world.findings().await.join("\n");
    assert!(findings.contains("and is not in its directory's `notifications`"), "{findings}");
}

#[tokio::test]
async fn a_thread_that_counts_wrong_is_found() {
    let (desk, ..) = desk().await;
    let adjust = json!({ "delta": 1, "updatedAt": minute(1) });
    desk.world.internal(desk.thread, "adjustPending", adjust).await.unwrap();
    let found = finding(&desk.world).await;
    assert!(found.contains("`pending` is 2, its requests make 1"), "{found}");
}

#[tokio::test]
async fn a_thread_that_is_at_a_request_which_nobody_holds_is_found() {
    let (desk, _, queued) = desk().await;
    let request = desk.world.text(queued);
    desk.world.internal(desk.thread, "activate", request.clone().into()).await.unwrap();
    let found = finding(&desk.world).await;
    assert!(found.contains(&format!("is at {request}, which is no request")), "{found}");
}

#[tokio::test]
async fn a_request_that_runs_beside_its_thread_is_found() {
    let desk = Desk::new().await;
    let running = desk.world.text(desk.running().await);
    desk.world.internal(desk.thread, "release", running.into()).await.unwrap();
    let found = finding(&desk.world).await;
    assert!(found.contains("is `running`, and its thread is not at it"), "{found}");
}

#[tokio::test]
async fn a_place_for_an_item_that_was_given_twice_is_found() {
    let (mut desk, _, queued) = desk().await;
    let item = desk.request(queued).items().await.unwrap()[0].1;
    let data = ItemData { sequence: 1, ..desk.item_data(item).await };
    let thread = desk.thread_data().await;
    desk.world.rewrite(item, "data", &data);
    let found = finding(&desk.world).await;
    assert!(found.contains("its sequence 1 does not lie between 1"), "{found}");

    let data = ItemData { sequence: 2, ..data };
    desk.world.rewrite(item, "data", &data);
    desk.world.verify().await;
    let thread_at_two = ThreadData { next_item: 2, ..thread };
    desk.world.rewrite(desk.thread, "data", &thread_at_two);
    let found = finding(&desk.world).await;
    assert!(found.contains("and 2, the next of its thread"), "{found}");
}

#[tokio::test]
async fn a_sequence_that_was_given_to_two_requests_is_found() {
    let (mut desk, ended, queued) = desk().await;
    let sequence = desk.admission(ended).await.sequence;
    let data = RequestData { sequence, ..desk.admission(queued).await };
    desk.world.rewrite(queued, "admission", &data);
    let found = finding(&desk.world).await;
    assert!(found.contains("that of the request before it"), "{found}");
}

#[tokio::test]
async fn a_generation_of_two_attempts_is_found() {
    let mut desk = Desk::new().await;
    let request = desk.running().await;
    desk.request(request).ask(&ask("q1")).await.unwrap();
    let right = desk.progress(request).await;
    let foreign = RequestState { attempt: "worker-2".to_owned(), ..right.clone() };
    desk.world.rewrite(request, "progress", &foreign);
    let found = finding(&desk.world).await;
    assert!(found.contains(r#"bears the fence ("worker-1", 1), and its request"#), "{found}");

    let nobodys = RequestState { attempt: String::new(), generation: 0, ..right };
    desk.world.rewrite(request, "progress", &nobodys);
    let findings = desk.world.findings().await.join("\n");
    assert!(findings.contains(r#"is `waiting` under the fence ("", 0)"#), "{findings}");
}

#[tokio::test]
async fn control_of_a_generation_that_never_was_is_found() {
    let mut desk = Desk::new().await;
    let request = desk.running().await;
    let item = desk.request(request).upsert_item(&upsert("m1", 1)).await.unwrap();
    let control = quixos_package::agent_runtime::ItemDataControl {
        attempt: "worker-1".to_owned(),
        generation: 2,
        status: String::new(),
        reason: String::new(),
    };
    let data = ItemData { control: Some(control), ..desk.item_data(item).await };
    desk.world.rewrite(item, "data", &data);
    let found = finding(&desk.world).await;
    assert!(found.contains("a generation is one attempt's"), "{found}");
}

#[tokio::test]
async fn a_text_that_no_operation_could_read_again_is_found() {
    async fn once(world: &World, said: &str) {
        let found = finding(world).await;
        assert!(found.contains("a text that is read again can be"), "{found}");
        assert!(found.contains(said), "{found}");
    }
    let mut desk = Desk::new().await;
    let request = desk.running().await;
    let question = desk.request(request).ask(&ask("q1")).await.unwrap();
    desk.world.verify().await;
    let none = || "2026-01-31T1 00:00Z".to_owned();

    let right = desk.directory_data().await;
    let wrong = DirectoryData { profiles: "{}".to_owned(), ..right.clone() };
    desk.world.rewrite(desk.directory, "data", &wrong);
    once(&desk.world, "stored profiles").await;
    desk.world.rewrite(desk.directory, "data", &right);

    let right = desk.agent_data().await;
    let wrong = AgentData { settings: r#"{"limit":1}"#.to_owned(), ..right.clone() };
    desk.world.rewrite(desk.agent, "data", &wrong);
    once(&desk.world, "stored settings").await;
    desk.world.rewrite(desk.agent, "data", &right);

    let right = desk.thread_data().await;
    desk.world.rewrite(desk.thread, "data", &ThreadData { updated_at: none(), ..right.clone() });
    once(&desk.world, "is stored as a time").await;
    desk.world.rewrite(desk.thread, "data", &right);

    let right = desk.question_data(question).await;
    let wrong = QuestionData { options: "[1]".to_owned(), ..right.clone() };
    desk.world.rewrite(question, "data", &wrong);
    once(&desk.world, "stored options").await;
    desk.world.rewrite(question, "data", &QuestionData { expires_at: none(), ..right });
    once(&desk.world, "is stored as a time").await;
}

#[tokio::test]
async fn an_end_that_was_told_twice_is_found() {
    let (desk, ended, _) = desk().await;
    let stream = desk.agent().completions().await.unwrap();
    let stream = EventStream::on(&desk.world.session, stream);
    let again = stream.events(0, 1).await.unwrap().remove(0);
    stream.publish(&again).await.unwrap();
    let found = finding(&desk.world).await;
    assert!(found.contains(&format!("tells the end of {ended} again")), "{found}");
}

#[tokio::test]
async fn an_end_that_was_told_and_is_not_one_is_found() {
    let (desk, ended, queued) = desk().await;
    let (_, stranger) = desk.second_directory().await;
    let untold = desk.finished("failed").await;
    let stream = desk.agent().completions().await.unwrap();
    let stream = EventStream::on(&desk.world.session, stream);
    let event = |request, thread, status: &str| AgentCompletion {
        request,
        thread,
        status: status.to_owned(),
    };
    let elsewhere = quixos_package::agent_runtime::Agent::on(&desk.world.session, stranger);
    let elsewhere = elsewhere.threads().await.unwrap()[0];
    for (event, said) in [
        (event(queued, desk.thread, "queued"), "says `queued`, and its request is `queued`"),
        (event(queued, desk.thread, "failed"), "says `failed`, and its request is `queued`"),
        (event(untold, desk.thread, "failed"), "its request says that it is still to be told"),
        (event(ended, elsewhere, "completed"), "is of a thread that is not its request's"),
    ] {
        stream.publish(&event).await.unwrap();
        let findings = desk.world.findings().await.join("\n");
        assert!(findings.contains(said), "{said}: {findings}");
    }
}
