//! `agent_createThread`

use quixos_package::agent_runtime::agent_create_thread;

use crate::support::{Desk, invalid_at, minute};

fn input(created_at: &str) -> agent_create_thread::Input {
    agent_create_thread::Input {
        title: "Talk".to_owned(),
        kind: "chat".to_owned(),
        created_at: created_at.to_owned(),
        contexts: Vec::new(),
    }
}

#[tokio::test]
async fn create_thread_of_an_agent_is_that_of_its_directory() {
    let desk = Desk::new().await;
    let thread = desk.agent().create_thread(&input(&minute(2))).await.unwrap();
    let client = desk.thread_at(thread);
    assert_eq!(client.agent().await.unwrap(), desk.agent);
    assert_eq!(client.directory().await.unwrap(), desk.directory);
    let data = client.data().await.unwrap();
    assert_eq!((data.title.as_str(), data.kind.as_str()), ("Talk", "chat"));
    assert_eq!(desk.directory_data().await.sequence, data.sequence);
}

#[tokio::test]
async fn create_thread_of_an_agent_names_its_own_field() {
    let desk = Desk::new().await;
    let error = desk.world.fails(desk.agent().create_thread(&input("soon"))).await;
    assert_eq!(invalid_at(error), "createdAt");
}
