//! `request_upsertItem`

use quixos_package::agent_runtime::{
    ItemData, ItemDataControl, request_claim, request_upsert_item,
};

use crate::support::{
    Desk, Request, WORKER, claim, finish, invalid_at, item, minute, steer, takeover, upsert,
};

type Upsert = request_upsert_item::Input;

fn with(data: ItemData) -> Upsert {
    Upsert { data, ..upsert("", 1) }
}

fn control(attempt: &str, generation: u32) -> Option<ItemDataControl> {
    let (attempt, status) = (attempt.to_owned(), "open".to_owned());
    Some(ItemDataControl { attempt, generation, status, reason: "because".to_owned() })
}

async fn stale(desk: &Desk, request: Request, input: &Upsert) {
    let error = desk.world.fails(desk.request(request).upsert_item(input)).await;
    assert_eq!(error.code(), "stale-fence");
}

#[tokio::test]
async fn upsert_item_creates_what_is_not_there() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let data = ItemData {
        activity: Some("{}".to_owned()),
        presentation: Some("card".to_owned()),
        sequence: 99,
        updated_at: minute(4),
        control: control(WORKER, 1),
        ..item("m1", 7)
    };
    let created = desk.request(request).upsert_item(&with(data.clone())).await.unwrap();
    // Its place is the thread's next, and all else is as it was given.
    assert_eq!(desk.item_data(created).await, ItemData { sequence: 2, ..data });
    let thread = desk.thread_data().await;
    assert_eq!((thread.next_item, thread.updated_at), (3, minute(4)));
    let client = desk.item(created);
    assert_eq!(client.request().await.unwrap(), request);
    assert_eq!(client.thread().await.unwrap(), desk.thread);
    assert_eq!(client.subject().await.unwrap(), None);
    assert_eq!(client.presentation_mount().await.unwrap(), None);
    assert_eq!(desk.request(request).items_at("m1").await.unwrap(), [created]);
    desk.world.verify().await;
}

#[tokio::test]
async fn upsert_item_checkpoints_what_is_there() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let created = desk.request(request).upsert_item(&upsert("m1", 1)).await.unwrap();
    let next_item = desk.thread_data().await.next_item;
    let grown = ItemData { phase: "final".to_owned(), updated_at: minute(5), ..item("m1", 2) };
    let updated = desk.request(request).upsert_item(&with(grown.clone())).await.unwrap();
    assert_eq!(updated, created);
    assert_eq!(desk.item_data(created).await, ItemData { sequence: 2, ..grown });
    assert_eq!(desk.thread_data().await.next_item, next_item);
}

#[tokio::test]
async fn upsert_item_again_is_a_no_op() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let created = desk.request(request).upsert_item(&upsert("m1", 1)).await.unwrap();
    let again = desk.world.keeps(desk.request(request).upsert_item(&upsert("m1", 1))).await;
    assert_eq!(again, created);
}

#[tokio::test]
async fn upsert_item_of_an_older_version_is_stale() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    desk.request(request).upsert_item(&upsert("m1", 2)).await.unwrap();
    let other = ItemData { text: "other".to_owned(), ..item("m1", 2) };
    for input in [upsert("m1", 1), with(other)] {
        let error = desk.world.fails(desk.request(request).upsert_item(&input)).await;
        assert_eq!(error.code(), "stale-version");
    }
}

#[tokio::test]
async fn upsert_item_keeps_requests_apart() {
    let desk = Desk::new().await;
    let first = desk.running().await;
    let one = desk.request(first).upsert_item(&upsert("m1", 1)).await.unwrap();
    assert!(desk.request(first).finish(&finish("completed")).await.unwrap());
    let second = desk.running().await;
    let two = desk.request(second).upsert_item(&upsert("m1", 1)).await.unwrap();
    assert_ne!(one, two);
    assert_eq!(desk.item_data(two).await.sequence, 4);
}

#[tokio::test]
async fn upsert_item_under_a_stale_fence_is_an_error() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    desk.request(request).upsert_item(&upsert("m1", 1)).await.unwrap();
    for key in ["m1", "new"] {
        stale(&desk, request, &Upsert { generation: 2, ..upsert(key, 2) }).await;
        stale(&desk, request, &Upsert { attempt: "worker-2".to_owned(), ..upsert(key, 2) }).await;
    }
    desk.request(request).claim(&takeover("worker-2", 1)).await.unwrap();
    stale(&desk, request, &upsert("m1", 2)).await;

    let ended = desk.queued().await;
    assert!(desk.request(ended).cancel().await.unwrap());
    let nobody = Upsert { attempt: String::new(), generation: 0, ..upsert("m1", 1) };
    stale(&desk, ended, &nobody).await;
}

#[tokio::test]
async fn upsert_item_whose_control_bears_another_fence_is_stale() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    for foreign in [control("worker-2", 1), control(WORKER, 2)] {
        let data = ItemData { control: foreign, ..item("m1", 1) };
        stale(&desk, request, &with(data)).await;
    }
    desk.request(request).upsert_item(&upsert("m1", 1)).await.unwrap();
    let data = ItemData { control: control("worker-2", 1), ..item("m1", 2) };
    stale(&desk, request, &with(data)).await;
}

#[tokio::test]
async fn upsert_item_of_kind_steer_only_creates() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let steered = desk.request(request).steer(&steer("s1")).await.unwrap();
    let kind = || "steer".to_owned();
    let document = desk.new_document(true).await;
    let again = ItemData { kind: kind(), control: control("worker-2", 9), ..item("s1", 8) };
    let again = Upsert { subject: Some(document.into()), ..with(again) };
    assert_eq!(desk.world.keeps(desk.request(request).upsert_item(&again)).await, steered);

    desk.request(request).upsert_item(&upsert("m1", 1)).await.unwrap();
    let other = with(ItemData { kind: kind(), ..item("m1", 2) });
    let error = desk.world.fails(desk.request(request).upsert_item(&other)).await;
    assert_eq!(error.code(), "conflict");

    let fresh = with(ItemData { kind: kind(), ..item("s2", 1) });
    desk.request(request).upsert_item(&fresh).await.unwrap();
}

#[tokio::test]
async fn upsert_item_mounts_a_subject_that_can_be_presented() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let document = desk.new_document(true).await;
    let input = Upsert { subject: Some(document.into()), ..upsert("m1", 1) };
    let created = desk.request(request).upsert_item(&input).await.unwrap();
    let client = desk.item(created);
    assert_eq!(client.subject().await.unwrap(), Some(document.into()));
    let mount = client.presentation_mount().await.unwrap();
    assert!(mount.is_some());

    // Without a subject, or with the same, what is there is kept; it is not asked again.
    let edit = quixos_package::workspace::DocumentEdit {
        title: None,
        body: None,
        presentable: Some(false),
    };
    desk.document(document).edit(&edit).await.unwrap();
    let same = Upsert { subject: Some(document.into()), ..upsert("m1", 2) };
    for input in [same, upsert("m1", 3)] {
        assert_eq!(desk.request(request).upsert_item(&input).await.unwrap(), created);
        assert_eq!(client.subject().await.unwrap(), Some(document.into()));
        assert_eq!(client.presentation_mount().await.unwrap(), mount);
    }
    desk.world.verify().await;
}

#[tokio::test]
async fn upsert_item_refuses_a_subject_that_cannot_be_presented() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let document = desk.new_document(false).await;
    let input = Upsert { subject: Some(document.into()), ..upsert("m1", 1) };
    let error = desk.world.fails(desk.request(request).upsert_item(&input)).await;
    assert_eq!(invalid_at(error), "subject");
}

#[tokio::test]
async fn upsert_item_with_another_subject_than_the_stored_one_is_a_conflict() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let (plan, draft) = (desk.new_document(true).await, desk.new_document(true).await);
    let about = |key, version, document: &quixos_runtime::Ref<_>| Upsert {
        subject: Some((*document).into()),
        ..upsert(key, version)
    };
    desk.request(request).upsert_item(&about("m1", 1, &plan)).await.unwrap();
    desk.request(request).upsert_item(&upsert("m2", 1)).await.unwrap();
    for input in [about("m1", 2, &draft), about("m2", 2, &plan)] {
        let error = desk.world.fails(desk.request(request).upsert_item(&input)).await;
        assert_eq!(error.code(), "conflict");
    }
}

#[tokio::test]
async fn upsert_item_checks_its_form_before_the_fence() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    let bad = || "soon".to_owned();
    for (data, path) in [
        (ItemData { created_at: bad(), ..item("m1", 1) }, "data.createdAt"),
        (ItemData { updated_at: bad(), ..item("m1", 1) }, "data.updatedAt"),
    ] {
        let error = desk.world.fails(desk.request(request).upsert_item(&with(data))).await;
        assert_eq!(invalid_at(error), path);
    }
}

#[tokio::test]
async fn a_later_attempt_goes_on_with_the_items_of_an_earlier_one() {
    let desk = Desk::new().await;
    let request = desk.running().await;
    let created = desk.request(request).upsert_item(&upsert("m1", 1)).await.unwrap();
    let input = request_claim::Input { recover: true, ..claim("worker-2", 1) };
    desk.request(request).claim(&input).await.unwrap();
    let input = Upsert { attempt: "worker-2".to_owned(), generation: 2, ..upsert("m1", 2) };
    assert_eq!(desk.request(request).upsert_item(&input).await.unwrap(), created);
    assert_eq!(desk.item_data(created).await.version, 2);
}
