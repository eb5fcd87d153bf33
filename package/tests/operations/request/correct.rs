//! `request_correct`

use quixos_package::agent_runtime::{
    AgentSubmission, RequestData, directory_reconcile_repair, request_correct, request_finish,
};
use quixos_runtime::CallError;

use crate::support::{
    Desk, Request, claim, correct, finish, invalid_at, minute, ordinary, repair, submission,
};

/// Runs a request to its end.
async fn end(desk: &Desk, request: Request) {
    assert!(desk.request(request).claim(&claim("w", 0)).await.unwrap().claimed);
    let input = request_finish::Input { attempt: "w".to_owned(), ..finish("completed") };
    assert!(desk.request(request).finish(&input).await.unwrap());
}

async fn corrected(desk: &Desk, request: Request, most: u32) -> Option<Request> {
    desk.request(request).correct(&correct(&["too long"], most)).await.unwrap()
}

#[tokio::test]
async fn correct_sends_the_errors_and_asks_for_the_same_again() {
    let desk = Desk::new().await;
    let document = desk.new_document(true).await;
    let asked = AgentSubmission {
        data: Some(r#"{"rows":3}"#.to_owned()),
        profile: Some("deep".to_owned()),
        response: Some("json".to_owned()),
        publication: Some("page".to_owned()),
        contexts: vec![document.into()],
        causal_depth: 3,
        ..submission("List them")
    };
    let request = desk.admitted(asked).await;
    end(&desk, request).await;
    let before = desk.admission(request).await;
    let input = correct(&["a row is missing", "the title is too long"], 1);
    let correction = desk.request(request).correct(&input).await.unwrap().unwrap();

    let stored = desk.admission(correction).await;
    let expected = RequestData {
        text: "a row is missing\nthe title is too long".to_owned(),
        sequence: stored.sequence,
        created_at: minute(20),
        source_kind: "correction".to_owned(),
        source_label: String::new(),
        interactive: false,
        ..before
    };
    assert_eq!(stored, expected, "data, response, publication, depth and configuration stay");
    let client = desk.request(correction);
    assert_eq!(client.thread().await.unwrap(), desk.thread);
    assert_eq!(client.related().await.unwrap(), Some(request));
    assert_eq!(client.retry_of().await.unwrap(), Some(request));
    assert_eq!(client.root().await.unwrap(), Some(request));
    let contexts = desk.request(request).contexts().await.unwrap();
    assert_eq!(client.contexts().await.unwrap(), contexts);
    assert_eq!(desk.request(request).correction().await.unwrap(), Some(correction));
    assert_eq!(desk.request(request).spawned().await.unwrap(), 1);
    desk.world.verify().await;
}

#[tokio::test]
async fn correct_keeps_the_root() {
    let desk = Desk::new().await;
    let root = desk.queued().await;
    let child = desk.admitted(AgentSubmission { root: Some(root), ..submission("Help") }).await;
    end(&desk, child).await;
    let correction = corrected(&desk, child, 1).await.unwrap();
    assert_eq!(desk.request(correction).root().await.unwrap(), Some(root));
    assert_eq!(desk.request(root).spawned().await.unwrap(), 2);
}

#[tokio::test]
async fn correct_again_answers_the_same_correction() {
    let desk = Desk::new().await;
    let request = desk.finished("completed").await;
    let correction = corrected(&desk, request, 1).await;
    // Before the count is looked at, so also at none.
    for input in [correct(&["other"], 1), correct(&[], 0)] {
        let again = desk.world.keeps(desk.request(request).correct(&input)).await;
        assert_eq!(again, correction);
    }
}

#[tokio::test]
async fn correct_of_what_has_not_ended_is_a_conflict() {
    let desk = Desk::new().await;
    for request in [desk.running().await, desk.queued().await] {
        let call = desk.request(request);
        let error = desk.world.fails(call.correct(&correct(&["bad"], 0))).await;
        assert_eq!(error.code(), "conflict");
    }
}

#[tokio::test]
async fn correct_stops_at_so_many_in_a_row() {
    let desk = Desk::new().await;
    let mut request = desk.finished("completed").await;
    for _ in 0..2 {
        let correction = corrected(&desk, request, 2).await.unwrap();
        end(&desk, correction).await;
        request = correction;
    }
    let third = desk.world.keeps(desk.request(request).correct(&correct(&["bad"], 2))).await;
    assert_eq!(third, None);
    assert!(corrected(&desk, request, 3).await.is_some());
}

#[tokio::test]
async fn correct_never_with_none_allowed() {
    let desk = Desk::new().await;
    let request = desk.finished("completed").await;
    let none = desk.world.keeps(desk.request(request).correct(&correct(&["bad"], 0))).await;
    assert_eq!(none, None);
}

#[tokio::test]
async fn correct_counts_corrections_and_no_other_retries() {
    let desk = Desk::new().await;
    let first = desk.finished("completed").await;
    // A retry that is no correction begins a row of its own …
    let retry = AgentSubmission { retry_of: Some(first), ..submission("Again") };
    let retry = desk.admitted(retry).await;
    end(&desk, retry).await;
    let correction = corrected(&desk, retry, 1).await.unwrap();
    end(&desk, correction).await;
    assert_eq!(corrected(&desk, correction, 1).await, None);
    // … and so does a correction that retries none.
    let alone = AgentSubmission { source_kind: "correction".to_owned(), ..ordinary("Odd") };
    let alone = desk.admitted(alone).await;
    end(&desk, alone).await;
    assert!(corrected(&desk, alone, 1).await.is_some());
}

#[tokio::test]
async fn correct_makes_an_error_of_a_refusal() {
    let desk = Desk::new().await;
    let request = desk.finished("completed").await;
    let error = desk.world.fails(desk.request(request).correct(&correct(&[], 1))).await;
    assert_eq!(error, CallError::refused("empty"));
    desk.thread().archive(true).await.unwrap();
    let error = desk.world.fails(desk.request(request).correct(&correct(&["bad"], 1))).await;
    assert_eq!(error, CallError::refused("thread-archived"));
}

#[tokio::test]
async fn correct_of_a_repair_takes_the_profile_if_there_is_one() {
    let desk = Desk::new().await;
    for (key, configuration, profile) in [
        ("r1", r#"{ "profile": "fast" }"#, r#""profile":"fast""#),
        ("r2", r#"{"profile": 7}"#, r#""profile":null"#),
        ("r3", "made by hand", r#""profile":null"#),
    ] {
        let configuration = configuration.to_owned();
        let input = directory_reconcile_repair::Input { configuration, ..repair(key) };
        let request = desk.directory().reconcile_repair(&input).await.unwrap();
        let end = request_finish::Input { generation: 4, ..finish("failed") };
        assert!(desk.request(request).finish(&end).await.unwrap());
        let correction = corrected(&desk, request, 1).await.unwrap();
        let configuration = desk.admission(correction).await.configuration;
        assert!(configuration.contains(profile), "{configuration}");
    }
}

#[tokio::test]
async fn correct_checks_its_form_before_all_else() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    let input = request_correct::Input { created_at: "soon".to_owned(), ..correct(&["bad"], 1) };
    let error = desk.world.fails(desk.request(request).correct(&input)).await;
    assert_eq!(invalid_at(error), "createdAt");
}
