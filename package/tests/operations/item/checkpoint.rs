//! `item_checkpoint`

use quixos_package::agent_runtime::{AgentItemObject, ItemData, ItemDataControl, item_checkpoint};
use quixos_runtime::{CallError, Ref};

use crate::support::{Desk, WORKER, finish, invalid_at, item, minute, takeover, upsert};

fn input(data: ItemData) -> item_checkpoint::Input {
    item_checkpoint::Input { attempt: WORKER.to_owned(), generation: 1, data }
}

/// Returns a desk with an item of version 3.
async fn written() -> (Desk, Ref<AgentItemObject>) {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let written = desk.request(request).upsert_item(&upsert("m1", 3)).await.unwrap();
    (desk, written)
}

#[tokio::test]
async fn checkpoint_replaces_all_but_where_the_item_stands() {
    let (desk, written) = written().await;
    let control = ItemDataControl {
        attempt: WORKER.to_owned(),
        generation: 1,
        status: "open".to_owned(),
        reason: String::new(),
    };
    let data = ItemData {
        key: "other".to_owned(),
        kind: "tool".to_owned(),
        text: "new".to_owned(),
        phase: "final".to_owned(),
        activity: Some("a".to_owned()),
        presentation: Some("p".to_owned()),
        sequence: 77,
        version: 9,
        created_at: minute(50),
        updated_at: minute(6),
        control: Some(control),
    };
    desk.item(written).checkpoint(&input(data.clone())).await.unwrap();
    let expected = ItemData { key: "m1".to_owned(), sequence: 2, created_at: minute(2), ..data };
    assert_eq!(desk.item_data(written).await, expected);
    desk.world.verify().await;
}

#[tokio::test]
async fn checkpoint_of_the_same_version_and_data_is_a_no_op() {
    let (desk, written) = written().await;
    let elsewhere =
        ItemData { key: "other".to_owned(), sequence: 77, created_at: minute(50), ..item("m1", 3) };
    for same in [item("m1", 3), elsewhere] {
        desk.world.keeps(desk.item(written).checkpoint(&input(same))).await;
    }
}

#[tokio::test]
async fn checkpoint_of_the_same_version_with_other_data_is_stale() {
    let (desk, written) = written().await;
    for other in [
        ItemData { text: "other".to_owned(), ..item("m1", 3) },
        ItemData { updated_at: minute(3), ..item("m1", 3) },
        ItemData { kind: "tool".to_owned(), ..item("m1", 3) },
    ] {
        let error = desk.world.fails(desk.item(written).checkpoint(&input(other))).await;
        assert_eq!(error, CallError::StaleVersion { given: 3, stored: 3 });
    }
}

#[tokio::test]
async fn checkpoint_of_a_lower_version_is_stale() {
    let (desk, written) = written().await;
    let error = desk.world.fails(desk.item(written).checkpoint(&input(item("m1", 2)))).await;
    assert_eq!(error, CallError::StaleVersion { given: 2, stored: 3 });
}

#[tokio::test]
async fn checkpoint_under_a_stale_fence_is_an_error() {
    let (desk, written) = written().await;
    let newer = || input(item("m1", 4));
    for stale in [
        item_checkpoint::Input { generation: 2, ..newer() },
        item_checkpoint::Input { attempt: "worker-2".to_owned(), ..newer() },
        // Before the version is looked at.
        item_checkpoint::Input { generation: 2, ..input(item("m1", 1)) },
    ] {
        let error = desk.world.fails(desk.item(written).checkpoint(&stale)).await;
        assert_eq!(error.code(), "stale-fence");
    }
    let request = desk.item(written).request().await.unwrap();
    desk.request(request).claim(&takeover("worker-2", 1)).await.unwrap();
    assert_eq!(
        desk.world.fails(desk.item(written).checkpoint(&newer())).await.code(),
        "stale-fence"
    );
}

#[tokio::test]
async fn checkpoint_after_the_end_is_stale() {
    let (desk, written) = written().await;
    let request = desk.item(written).request().await.unwrap();
    assert!(desk.request(request).finish(&finish("completed")).await.unwrap());
    for data in [item("m1", 4), item("m1", 3)] {
        let error = desk.world.fails(desk.item(written).checkpoint(&input(data))).await;
        assert_eq!(error.code(), "stale-fence");
    }
}

#[tokio::test]
async fn checkpoint_whose_control_bears_another_fence_is_stale() {
    let (desk, written) = written().await;
    for (attempt, generation, version) in [("worker-2", 1, 4), (WORKER, 2, 4), (WORKER, 2, 1)] {
        let control = ItemDataControl {
            attempt: attempt.to_owned(),
            generation,
            status: String::new(),
            reason: String::new(),
        };
        let data = ItemData { control: Some(control), ..item("m1", version) };
        let error = desk.world.fails(desk.item(written).checkpoint(&input(data))).await;
        assert_eq!(error.code(), "stale-fence");
    }
}

#[tokio::test]
async fn checkpoint_checks_its_form_before_the_fence() {
    let (desk, written) = written().await;
    for (data, path) in [
        (ItemData { created_at: "soon".to_owned(), ..item("m1", 4) }, "data.createdAt"),
        (ItemData { updated_at: "soon".to_owned(), ..item("m1", 4) }, "data.updatedAt"),
    ] {
        let stale = item_checkpoint::Input { generation: 9, ..input(data) };
        let error = desk.world.fails(desk.item(written).checkpoint(&stale)).await;
        assert_eq!(invalid_at(error), path);
    }
}
