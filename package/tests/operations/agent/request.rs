//! `agent_request`

use quixos_package::agent_runtime::AgentSubmission;

use crate::support::{Desk, invalid_at, submission};

#[tokio::test]
async fn request_is_admitted_into_a_thread_of_its_own() {
    let desk = Desk::new().await;
    let admission = desk.agent().request(&submission("Write it down")).await.unwrap();
    assert!(admission.accepted);
    let thread = admission.thread.unwrap();
    assert_ne!(thread, desk.thread);
    assert_eq!(desk.thread_at(thread).agent().await.unwrap(), desk.agent);
    assert_eq!(desk.status(admission.request.unwrap()).await, "queued");
}

#[tokio::test]
async fn request_is_not_optional_work() {
    let desk = Desk::new().await; // Offline.
    assert!(desk.agent().request(&submission("Write it down")).await.unwrap().accepted);
}

#[tokio::test]
async fn request_answers_a_refusal_with_its_reason() {
    let desk = Desk::new().await;
    desk.enable(false).await;
    let admission = desk.world.keeps(desk.agent().request(&submission("Hello"))).await;
    assert_eq!((admission.accepted, admission.reason.as_deref()), (false, Some("agent-disabled")));
}

#[tokio::test]
async fn request_names_its_own_field() {
    let desk = Desk::new().await;
    let asked = AgentSubmission { created_at: "soon".to_owned(), ..submission("Hello") };
    let error = desk.world.fails(desk.agent().request(&asked)).await;
    assert_eq!(invalid_at(error), "createdAt");
}
