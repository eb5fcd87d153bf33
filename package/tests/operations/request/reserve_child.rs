//! `request_reserveChild`: a part of admission, and no door of its own.

use serde_json::Value;

use crate::support::Desk;

#[tokio::test]
async fn reserve_child_is_no_door() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    let call = desk.world.outside(request, "reserveChild", Value::Null);
    assert_eq!(desk.world.fails(call).await.code(), "capability");
}

#[tokio::test]
async fn reserve_child_says_yes_sixty_four_times() {
    let desk = Desk::new().await;
    let request = desk.queued().await;
    for _ in 0..64 {
        let reserved = desk.world.internal(request, "reserveChild", Value::Null).await.unwrap();
        assert_eq!(reserved, true);
    }
    let reserve = desk.world.internal(request, "reserveChild", Value::Null);
    assert_eq!(desk.world.keeps(reserve).await, false);
    assert_eq!(desk.request(request).spawned().await.unwrap(), 64);
}
