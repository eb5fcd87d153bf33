//! Faults of the log: what is written twice, and what grows with the square.

use quixos_protocol::DraftMessage;
use serde_json::json;

use crate::scenes::{decisions_by, one_turn, speak, turn};
use crate::support::{Happened, Talk, World, config, message, retry, view};

/// Returns the bytes of all that a log says.
async fn bytes(talk: &Talk<'_>) -> usize {
    let events = talk.client().events(0, usize::MAX).await.unwrap();
    events.iter().map(|event| event.r#type.len() + event.payload.len()).sum()
}

#[tokio::test]
async fn f42_a_turn_adds_as_much_to_a_long_log_as_to_a_short_one() {
    let mut added = Vec::new();
    for count in [1, 498] {
        let world = World::new().await;
        let say = |place| DraftMessage::user(format!("message {place:03}"));
        let many: Vec<DraftMessage> = (0..count).map(say).collect();
        let talk = world.open("s1", &view("t1", &many)).await;
        talk.answer_next("session.start", &json!({ "agent": config() })).await;
        talk.echo("client.messages").await;
        speak(&talk, "Hi!").await;
        let before = bytes(&talk).await;
        turn(&talk, "t2", "More", "Yes.").await;
        turn(&talk, "t3", "More", "Yes.").await;
        added.push(bytes(&talk).await - before);
        assert_eq!(talk.path().await.len(), count + 5);
    }
    // Only numbers are longer.
    assert!(added[1] < added[0] + 100, "{added:?}");
}

#[tokio::test]
async fn f43_a_trigger_is_kept_once() {
    let world = World::with(&decisions_by(&retry(Some(60), 3, 1, 1))).await;
    let talk = one_turn(&world).await;
    let before = talk.events().await.len();
    talk.submit(&message("t2", "a needle in a haystack")).await.unwrap();
    let asked = talk.next("client.messages").await;
    for _ in 0..2 {
        talk.fail("client.messages", "HTTP 500", true).await;
        talk.wait(1).await;
    }
    let copies = |events: Vec<Happened>| {
        let texts = events.into_iter().skip(before).map(|event| event.payload.to_string());
        texts.filter(|text| text.contains("needle")).count()
    };
    assert_eq!(copies(talk.events().await), 1);
    let events = talk.events().await;
    let about = events.iter().filter(|it| it.payload["decision_id"] == json!(asked.decision_id));
    let (told, rest): (Vec<_>, Vec<_>) = about.partition(|it| it.payload.get("trigger").is_some());
    assert_eq!((told.len(), rest.len()), (1, 5));
    // The message itself is the second, and the last.
    talk.echo("client.messages").await;
    speak(&talk, "Found.").await;
    assert_eq!(copies(talk.events().await), 2);
}
