//! `request_publishCompletion`

use quixos_package::agent_runtime::{AgentCompletion, EventStream};

use crate::support::{Desk, Request};

async fn told(desk: &Desk) -> Vec<AgentCompletion> {
    let stream = desk.agent().completions().await.unwrap();
    EventStream::on(&desk.world.session, stream).events(0, 100).await.unwrap()
}

fn event(desk: &Desk, request: Request, status: &str) -> AgentCompletion {
    AgentCompletion { request, thread: desk.thread, status: status.to_owned() }
}

#[tokio::test]
async fn publish_completion_tells_each_end_once_in_order() {
    let desk = Desk::new().await;
    let (first, second) = (desk.finished("completed").await, desk.finished("failed").await);
    for request in [second, first] {
        assert!(desk.request(request).publish_completion().await.unwrap());
        assert!(!desk.progress(request).await.notification_pending);
        assert!(!desk.world.keeps(desk.request(request).publish_completion()).await);
    }
    let expected = [event(&desk, second, "failed"), event(&desk, first, "completed")];
    assert_eq!(told(&desk).await, expected);
    assert_eq!(desk.directory_data().await.notification_pending, 0);
    desk.world.verify().await;
}

#[tokio::test]
async fn publish_completion_of_what_has_not_ended_answers_false() {
    let desk = Desk::new().await;
    for request in [desk.running().await, desk.queued().await] {
        assert!(!desk.world.keeps(desk.request(request).publish_completion()).await);
    }
    assert!(told(&desk).await.is_empty());
}

#[tokio::test]
async fn publish_completion_of_what_is_not_to_be_told_answers_false() {
    let desk = Desk::with(r#"{"notifyCompletions":false}"#).await;
    let request = desk.finished("completed").await;
    assert!(!desk.world.keeps(desk.request(request).publish_completion()).await);
    assert!(told(&desk).await.is_empty());
}

#[tokio::test]
async fn publish_completion_tells_a_request_that_was_called_off_in_the_queue() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    assert!(desk.request(request).cancel().await.unwrap());
    assert!(desk.request(request).publish_completion().await.unwrap());
    assert_eq!(told(&desk).await, [event(&desk, request, "cancelled")]);
}
