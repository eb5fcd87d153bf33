//! `agent_tryRequest`

use quixos_package::agent_runtime::AgentSubmission;

use crate::support::{Desk, invalid_at, submission};

#[tokio::test]
async fn try_request_is_optional_work() {
    let desk = Desk::new().await;
    let refused = desk.world.keeps(desk.agent().try_request(&submission("Sweep"))).await;
    assert_eq!((refused.accepted, refused.reason.as_deref()), (false, Some("unavailable")));
    desk.advertise("[]", "online").await;
    let admission = desk.agent().try_request(&submission("Sweep")).await.unwrap();
    assert!(admission.accepted);
    assert_ne!(admission.thread, Some(desk.thread));
}

#[tokio::test]
async fn try_request_names_its_own_field() {
    let desk = Desk::new().await;
    let asked = AgentSubmission { created_at: "soon".to_owned(), ..submission("Sweep") };
    let error = desk.world.fails(desk.agent().try_request(&asked)).await;
    assert_eq!(invalid_at(error), "createdAt");
}
