//! `thread_archive`

use quixos_package::agent_runtime::ThreadData;

use crate::support::{Desk, claim, finish, submission};

#[tokio::test]
async fn archive_sets_the_flag_and_nothing_else() {
    let desk = Desk::new().await;
    let before = desk.thread_data().await;
    for archived in [true, false] {
        desk.thread().archive(archived).await.unwrap();
        assert_eq!(desk.thread_data().await, ThreadData { archived, ..before.clone() });
    }
}

#[tokio::test]
async fn archive_admits_nothing_new_and_lets_the_rest_go_on() {
    let desk = Desk::new().await;
    let running = desk.running().await;
    let queued = desk.queued().await;
    desk.thread().archive(true).await.unwrap();
    assert_eq!(desk.refusal(&desk.door(submission("New"))).await, "thread-archived");
    assert!(desk.request(running).finish(&finish("completed")).await.unwrap());
    assert!(desk.request(queued).claim(&claim("worker-2", 0)).await.unwrap().claimed);
}
