//! `thread_rename`

use quixos_package::agent_runtime::ThreadData;

use crate::support::Desk;

#[tokio::test]
async fn rename_sets_the_title_and_nothing_else() {
    let desk = Desk::new().await;
    let before = desk.thread_data().await;
    for title in ["Plans", ""] {
        desk.thread().rename(title).await.unwrap();
        let expected = ThreadData { title: title.to_owned(), ..before.clone() };
        assert_eq!(desk.thread_data().await, expected);
    }
}
