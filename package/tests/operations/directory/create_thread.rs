//! `directory_createThread`

use quixos_package::agent_runtime::{ThreadData, directory_create_thread};

use crate::support::{Desk, invalid_at, minute, new_thread};

#[tokio::test]
async fn create_thread_begins_with_the_next_sequence_of_the_directory() {
    let desk = Desk::new().await;
    let before = desk.directory_data().await.sequence;
    let input = directory_create_thread::Input { created_at: minute(7), ..new_thread(desk.agent) };
    let thread = desk.directory().create_thread(&input).await.unwrap();
    let data = ThreadData {
        title: "Talk".to_owned(),
        kind: "chat".to_owned(),
        archived: false,
        sequence: before + 1,
        pending: 0,
        next_item: 1,
        updated_at: minute(7),
    };
    assert_eq!(desk.thread_at(thread).data().await.unwrap(), data);
    assert_eq!(desk.directory_data().await.sequence, before + 1);
    assert_eq!(desk.thread_at(thread).agent().await.unwrap(), desk.agent);
    assert_eq!(desk.directory().threads().await.unwrap(), [desk.thread, thread]);
    assert_eq!(desk.agent().threads().await.unwrap(), [desk.thread, thread]);
    desk.world.verify().await;
}

#[tokio::test]
async fn create_thread_keeps_each_subject_once_under_its_reference() {
    let desk = Desk::new().await;
    let (plan, draft) = (desk.new_document(true).await, desk.new_document(true).await);
    let contexts = vec![draft.into(), plan.into(), draft.into()];
    let input = directory_create_thread::Input { contexts, ..new_thread(desk.agent) };
    let thread = desk.directory().create_thread(&input).await.unwrap();
    let expected = [(desk.world.text(plan), plan.into()), (desk.world.text(draft), draft.into())];
    assert_eq!(desk.thread_at(thread).contexts().await.unwrap(), expected);
}

#[tokio::test]
async fn create_thread_refuses_an_agent_of_another_directory() {
    let desk = Desk::new().await;
    let (_, stranger) = desk.second_directory().await;
    let error = desk.world.fails(desk.directory().create_thread(&new_thread(stranger))).await;
    assert_eq!(invalid_at(error), "agent");
}

#[tokio::test]
async fn create_thread_refuses_a_time_that_is_none_before_all_else() {
    let desk = Desk::new().await;
    let (_, stranger) = desk.second_directory().await;
    for created_at in ["", "yesterday", "2026-01-31T12:00:00+01:00"] {
        let created_at = created_at.to_owned();
        let input = directory_create_thread::Input { created_at, ..new_thread(stranger) };
        let error = desk.world.fails(desk.directory().create_thread(&input)).await;
        assert_eq!(invalid_at(error), "createdAt");
    }
}
