//! Faults of restarts: what waits for somebody who is gone.

use serde_json::json;

use crate::scenes::{speak, tool, trigger};
use crate::support::{World, config, retry};

#[tokio::test]
async fn f71_a_model_call_of_a_dead_engine_is_run_again() {
    let mut world = World::new().await;
    let mut config = config();
    // Not even a policy of no retries lets it be lost.
    config["retry"] = retry(None, 0, 1, 1);
    let talk = world.talk(&config).await;
    talk.echo("client.messages").await;
    let (lost, prompt) = talk.prompt().await;
    world.reopen();
    let talk = world.session("s1").await.unwrap();
    talk.take(true).await;
    let (again, same) = talk.prompt().await;
    assert_eq!((again.attempt, &again.id), (2, &lost.id));
    assert_eq!(same, prompt);
    speak(&talk, "Hi!").await;
    assert_eq!(talk.transcript().await, ["Hello", "Hi!"]);
    world.verify().await;
}

#[tokio::test]
async fn f75_a_timeout_is_kept_with_what_waits() {
    let mut world = World::new().await;
    let talk = world.talk(&config()).await;
    let answer = json!({"actions": [tool("c1", &retry(Some(60), 0, 1, 1))]});
    talk.answer_next("client.messages", &answer).await;
    let outcome = talk.answer(&talk.next("tool.execute").await, &json!({})).await;
    let until = Some("2026-01-31T12:01:00Z");
    assert_eq!(outcome.wake_at.as_deref(), until);
    // It dies before it could set a timer. The store knows.
    world.reopen();
    let talk = world.session("s1").await.unwrap();
    assert_eq!(talk.agenda().await.wake_at.as_deref(), until);
    assert_eq!(talk.take(true).await.wake_at.as_deref(), until);
    talk.wait(59).await;
    assert_eq!(talk.asked().await, None);
    talk.wait(1).await;
    assert_eq!(trigger(&talk.next("tool.finished").await)["ok"], json!(false));
}
