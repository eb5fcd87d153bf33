//! `thread_send`

use quixos_package::agent_runtime::AgentSubmission;
use quixos_runtime::CallError;

use crate::support::{Desk, invalid_at, submission};

#[tokio::test]
async fn send_admits_into_the_thread_and_answers_the_request() {
    let desk = Desk::new().await; // Offline, so it would be refused if it were optional.
    let request = desk.thread().send(&submission("Write it down")).await.unwrap();
    assert_eq!(desk.request(request).thread().await.unwrap(), desk.thread);
    assert_eq!(desk.directory().pending().await.unwrap(), [request]);
}

#[tokio::test]
async fn send_makes_an_error_of_a_refusal() {
    let desk = Desk::new().await;
    let error = desk.world.fails(desk.thread().send(&submission(" "))).await;
    assert_eq!(error, CallError::refused("empty"));
    desk.thread().archive(true).await.unwrap();
    let error = desk.world.fails(desk.thread().send(&submission("Hello"))).await;
    assert_eq!(error, CallError::refused("thread-archived"));
}

#[tokio::test]
async fn send_names_its_own_field() {
    let desk = Desk::new().await;
    let asked = AgentSubmission { created_at: "soon".to_owned(), ..submission("Hello") };
    let error = desk.world.fails(desk.thread().send(&asked)).await;
    assert_eq!(invalid_at(error), "createdAt");
}
